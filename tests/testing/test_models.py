"""The scripted models we ship: real models, nothing invented, everything they were asked on record."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.errors import (
    FakeExhaustedError,
    FakeMissError,
    IncompleteGenerationError,
    InvalidArgumentError,
    LMError,
    TemporaryLMError,
    UnsupportedCapabilityError,
)
from langfx_web.llms import ModelRequest
from langfx_web.messages import AIMessage, Image, SystemMessage, Text, Thought, ToolCall, UserMessage
from langfx_web.testing import Echo, ManualClock, ScriptedModel, StaticMapping, StaticResponse, StaticSequence
from langfx_web.usage import Usage

WHOLE = AIMessage(
    Thought("hm", payload={"s": 1}, replay_compatibility="tag"),
    "Grüße 👩‍👩‍👧‍👦 ",
    ToolCall("c1", "look", {"at": [1, None]}),
    ToolCall("c2", "look", {}),
    usage=Usage(input_tokens=1, output_tokens=2),
)


SAID = " Zo\u0065\u0301 👩‍👩‍👧‍👦\t\n🇫🇷  "

FAKES: dict[str, type[ScriptedModel]] = {
    "echo": Echo,
    "response": StaticResponse,
    "sequence": StaticSequence,
    "mapping": StaticMapping,
}


def fake(name: str, chunk_size: int | None) -> ScriptedModel:
    """One of the four, ready to be asked `SAID` twice."""
    script: Any = {"echo": "> ", "response": WHOLE, "sequence": [WHOLE, WHOLE], "mapping": {SAID: WHOLE}}[name]
    return FAKES[name](script, chunk_size=chunk_size)


@pytest.mark.parametrize("chunk_size", [1, 3, None])
@pytest.mark.parametrize("name", FAKES)
async def test_langfx_71_call_and_stream_agree(name: str, chunk_size: int | None) -> None:
    """Whatever the chunks, the message is the one scripted; deltas join to its parts, and usage is not invented."""
    lm = fake(name, chunk_size)
    expected = AIMessage("> " + SAID) if name == "echo" else WHOLE
    called = await lm(SAID)
    chunks = [chunk async for chunk in lm.stream(SAID)]
    assert called == chunks[-1].aggregated == expected
    assert called.usage == chunks[-1].usage == expected.usage
    assert "".join(chunk.delta.text for chunk in chunks) == expected.text
    assert "".join(chunk.delta.thought for chunk in chunks) == ("" if name == "echo" else "hm")
    assert [request.messages for request in lm.requests] == [(UserMessage(SAID),)] * 2


@pytest.mark.parametrize("size", [1, 3])
async def test_langfx_71_chunks_are_of_that_size(size: int) -> None:
    """White space and characters outside the basic plane come as they are, none of them halved."""
    texts = [chunk.delta.text async for chunk in StaticResponse(SAID, chunk_size=size).stream("x") if chunk.delta.text]
    assert texts == [SAID[start : start + size] for start in range(0, len(SAID), size)]
    for text in texts:
        text.encode()


@pytest.mark.parametrize("chunk_size", [1, 3, None])
async def test_halved_characters_are_joined(chunk_size: int | None) -> None:
    """A script that has a character as two surrogates shows the character, and a lone one as U+FFFD."""
    texts = [
        chunk.delta.text async for chunk in StaticResponse("a\ud83d\ude00\ud83d", chunk_size=chunk_size).stream("x")
    ]
    assert "".join(texts) == "a😀\ufffd"


async def test_a_call_comes_as_start_deltas_and_end() -> None:
    """As from a provider: the name first, arguments in pieces, the whole call last."""
    lm = StaticResponse(AIMessage(ToolCall("c1", "look", {"at": 7})), chunk_size=3)
    pieces = [chunk.delta.tool_call async for chunk in lm.stream("x") if chunk.delta.tool_call]
    assert [piece.type for piece in pieces] == ["tool_call_start", *["tool_call_delta"] * 3, "tool_call_end"]


async def test_a_message_is_answered_with_all_that_it_has() -> None:
    """Parts stay apart, and what the message says about itself is said."""
    picture = Image.from_bytes(b"\x89PNG\r\n\x1a\n")
    message = AIMessage(
        "a", "b", Thought("x"), Thought("y"), "c", picture, "d", metadata={"k": [1]}, model="m-1", response_id="r-1"
    )
    answer = await StaticResponse(message, chunk_size=1)("x")
    assert answer == message
    assert (answer.model, answer.response_id) == ("m-1", "r-1")


async def test_usage_is_what_the_test_says() -> None:
    """For every answer; a message's own counts first."""
    given = Usage(input_tokens=7)
    lm = StaticSequence(["a", WHOLE], usage=given)
    assert [(await lm("x")).usage, (await lm("x")).usage] == [given, WHOLE.usage]


async def test_a_mapping_answers_by_what_the_user_said_last() -> None:
    """Whoever spoke before; answers may be of any kind."""
    lm = StaticMapping({"a": "first", "b": lambda request: f"{len(request.messages)} messages", "c": LMError("no")})
    assert (await lm("a")).text == "first"
    assert (await lm([UserMessage("a"), AIMessage("c"), UserMessage("b")])).text == "3 messages"
    assert lm.left_over == ["c"]
    with pytest.raises(LMError, match="no"):
        await lm("c")
    assert lm.left_over == []


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("REQUEST:\n  Where is it?\n\nOUTPUT PYTHON OBJECT:", "Where is it?"),
        ("INPUT_OBJECT:\n  Where is it?\n\nJSON:", "Where is it?"),
        (
            "CONTEXT:\n  REQUEST:\n    no\n\nREQUEST:\n  One\n\n    two\n  three\n\nOUTPUT PYTHON OBJECT:",
            "One\n\n  two\nthree",
        ),
        ("REQUEST:\n\nOUTPUT PYTHON OBJECT:", ""),
        ("REQUEST:\n  Where is it?\n\nJSON:", None),
        ("REQUEST:\nWhere is it?\n\nOUTPUT PYTHON OBJECT:", None),
        ("REQUEST:\n  Where is it?", None),
    ],
)
async def test_a_mapping_sees_through_labels(text: str, prompt: str | None) -> None:
    """A labelled request is known by its body, without labels, context and indent; other texts as they are."""
    assert (await StaticMapping({text if prompt is None else prompt: "here"})(text)).text == "here"


@pytest.mark.parametrize("protocol", ["python", "json"])
@pytest.mark.parametrize("prompt", ["2 + {{b}}?", "One\n\n  two\n \n{{b}}", "REQUEST:\n  {{b}}\n\nJSON:"])
async def test_a_mapping_answers_typed_queries(protocol: Any, prompt: str) -> None:
    """By their prompt as it was rendered, in both protocols, whatever stands around it."""
    lm = StaticMapping({prompt.replace("{{b}}", str(b)): str(2 + b) for b in (2, 3)})
    options: dict[str, Any] = {"examples": [lf.MappingExample("1 + 1?", 2)], "context": "Sums.", "protocol": protocol}
    assert await lf.query(prompt, int, lm=lm, vars={"b": 3}, **options) == 5
    assert await lf.query(prompt, lm=lm, vars={"b": 2}) == "4"


async def test_langfx_72_a_miss_names_what_is_known() -> None:
    """A `KeyError` with the text that was looked for, both readable even if long."""
    with pytest.raises(FakeMissError) as caught:
        await StaticMapping({"a": "1", "b" * 200: "2"})("c")
    assert isinstance(caught.value, KeyError)
    assert (caught.value.code, caught.value.key, caught.value.known) == ("fake_miss", "c", ("a", "b" * 200))
    assert str(caught.value) == f"there is no answer to 'c'; known: 'a', '{'b' * 79}…'"
    with pytest.raises(FakeMissError, match="known: nothing"):
        await StaticMapping({})("c")


async def test_langfx_72_a_sequence_past_its_end_is_an_index_error() -> None:
    """Which names the request that was one too many."""
    with pytest.raises(FakeExhaustedError, match="request 1 came, and the script has 0 answers") as caught:
        await StaticSequence([], repeat=True)("x")
    assert isinstance(caught.value, IndexError)


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


async def test_functions_may_wait() -> None:
    """An async one is awaited, which holds an answer back until a test lets it go."""
    gate = asyncio.Event()

    async def held(request: ModelRequest) -> str:
        await gate.wait()
        return "now"

    task = asyncio.ensure_future(StaticResponse(held)("x"))
    await asyncio.sleep(0)
    gate.set()
    assert (await task).text == "now"


@pytest.mark.parametrize("bad", [None, 7, {"text": "x"}, ["x"], ValueError, UserMessage("x")])
async def test_what_is_no_answer_is_refused(bad: Any) -> None:
    """At once where it stands in a script; where a function returns it, when it is asked."""
    for script in (lambda: StaticResponse(bad), lambda: StaticSequence(["x", bad]), lambda: StaticMapping({"x": bad})):
        with pytest.raises(InvalidArgumentError, match="must be a str, an AIMessage or an error"):
            script()
    with pytest.raises(InvalidArgumentError, match="what a function returned must be"):
        await StaticResponse(lambda request: bad)("x")


def test_a_text_is_no_sequence() -> None:
    """It would answer letter by letter; and chunks have a size."""
    with pytest.raises(InvalidArgumentError, match="not one text"):
        StaticSequence("abc")
    with pytest.raises(InvalidArgumentError, match="chunk_size"):
        Echo(chunk_size=0)


async def test_capabilities_can_be_taken_away() -> None:
    """What a model without them refuses, nothing is asked of the script."""
    lm = StaticResponse("x", capabilities={"native_schema": False})
    with pytest.raises(UnsupportedCapabilityError):
        await lm("x", schema={"type": "object"})
    assert lm.requests == []
    assert (await StaticResponse("x")("x", schema={"type": "object"})).text == "x"


@pytest.mark.parametrize(("chunks", "partial"), [(0, None), (1, "ab"), (2, "abcd"), (9, "abcd")])
async def test_failing_after_so_many_chunks(chunks: int, partial: str | None) -> None:
    """Never later than at the end of the answer: a model that is to fail does not succeed."""
    lm = StaticResponse("abcd", chunk_size=2, fail_after=(chunks, TemporaryLMError("cut")))
    with pytest.raises(TemporaryLMError) as caught:
        await lm("x")
    assert (caught.value.partial and caught.value.partial.text) == partial


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
