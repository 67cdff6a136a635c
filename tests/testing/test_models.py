"""The scripted models we ship: real models, nothing invented, everything they were asked on record."""

from __future__ import annotations

import asyncio

import pytest

import langfx_web as lf
from langfx_web.errors import FakeExhaustedError, IncompleteGenerationError, TemporaryLMError
from langfx_web.messages import AIMessage, SystemMessage, Text, Thought, ToolCall, UserMessage
from langfx_web.testing import Echo, ManualClock, StaticResponse, StaticSequence
from langfx_web.usage import Usage

WHOLE = AIMessage(
    Thought("hm", payload={"s": 1}, replay_compatibility="tag"),
    "Grüße 👩‍👩‍👧‍👦 ",
    ToolCall("c1", "look", {"at": [1, None]}),
    ToolCall("c2", "look", {}),
    usage=Usage(input_tokens=1, output_tokens=2),
)


@pytest.mark.parametrize("chunk_size", [1, 3, None])
async def test_call_and_stream_agree(chunk_size: int | None) -> None:
    """Whatever the chunks, the message is the same; deltas join to its parts."""
    lm = StaticResponse(WHOLE, chunk_size=chunk_size)
    assert await lm("x") == WHOLE
    chunks = [chunk async for chunk in lm.stream("x")]
    assert chunks[-1].aggregated == WHOLE
    assert "".join(chunk.delta.text for chunk in chunks) == WHOLE.text
    assert "".join(chunk.delta.thought for chunk in chunks) == "hm"
    assert chunks[-1].usage.output_tokens == 2


async def test_echo_says_what_the_user_said_last() -> None:
    """After its prefix; usage is unknown, not invented."""
    answer = await Echo("> ")([SystemMessage("s"), UserMessage("a"), AIMessage("b"), UserMessage("c")])
    assert (answer.text, answer.usage) == ("> c", None)


async def test_a_sequence_runs_out() -> None:
    """With an error that says how many answers there were; what was not asked for is left over."""
    lm = StaticSequence(["one", "two"])
    assert lm.left_over == ["one", "two"]
    assert [(await lm("a")).text, (await lm("b")).text] == ["one", "two"]
    assert lm.left_over == []
    assert [request.messages[0].text for request in lm.requests] == ["a", "b"]
    with pytest.raises(FakeExhaustedError, match="request 3 came, and the script has 2 answers"):
        await lm("c")


async def test_a_sequence_can_repeat() -> None:
    """From the start again."""
    lm = StaticSequence(["one", "two"], repeat=True)
    assert [(await lm("x")).text for _ in range(5)] == ["one", "two", "one", "two", "one"]


async def test_answers_may_be_errors_or_functions() -> None:
    """An error is raised, a function sees the request."""
    lm = StaticSequence([TemporaryLMError("busy"), lambda request: f"{len(request.messages)} messages"])
    with pytest.raises(TemporaryLMError):
        await lm("x")
    assert (await lm([UserMessage("a"), AIMessage("b"), UserMessage("c")])).text == "3 messages"


async def test_failing_in_the_middle_keeps_what_came() -> None:
    """As `.partial`."""
    lm = StaticResponse("abcdef", chunk_size=2, fail_after=(2, TemporaryLMError("cut")))
    with pytest.raises(TemporaryLMError) as caught:
        await lm("x")
    assert caught.value.partial.text == "abcd"


async def test_delays_follow_the_clock() -> None:
    """One before each chunk; no real waiting."""
    clock = ManualClock()
    lm = StaticResponse("abc", chunk_size=1, delay=1.0, clock=clock)
    task = asyncio.ensure_future(lm("x"))
    await clock.advance(2.5)
    assert not task.done()
    await clock.advance(0.6)
    assert (await task).text == "abc"


async def test_finish_reasons_decide_the_outcome() -> None:
    """As with any model: a length is an error with the partial answer."""
    with pytest.raises(IncompleteGenerationError) as caught:
        await StaticResponse(AIMessage("half", finish_reason="length"))("x")
    assert caught.value.partial.parts == (Text("half"),)


def test_fakes_are_models() -> None:
    """They go wherever a model goes."""
    assert isinstance(Echo(), lf.LanguageModel)
    assert Echo().with_options(temperature=0.5).options.temperature == 0.5
