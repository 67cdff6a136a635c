"""A model whose answers are data."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web.errors import FakeExhaustedError, IncompleteGenerationError, InvalidArgumentError, RateLimitError
from langfx_web.testing import ManualClock, Script
from langfx_web.usage import Usage


async def test_texts_thoughts_calls_and_usage() -> None:
    """In this order, as of any provider; missing call ids are made up, the same each time."""
    lm = Script(
        [
            {
                "thought": "Look it up.",
                "text": "One moment.",
                "toolCalls": [{"name": "look", "input": {"id": "7"}}, {"name": "look", "id": "own"}],
                "usage": {"inputTokens": 3},
            },
            "Shipped.",
        ]
    )
    message = await lm("x")
    assert [part.type for part in message.parts] == ["thought", "text", "tool_call", "tool_call"]
    assert [(call.id, call.args) for call in message.tool_calls] == [("call_1_1", {"id": "7"}), ("own", {})]
    assert message.usage == Usage(input_tokens=3)
    assert (await lm("y")).text == "Shipped."
    with pytest.raises(FakeExhaustedError):
        await lm("z")


async def test_pace_is_word_by_word() -> None:
    """With the given milliseconds before each."""
    clock = ManualClock()
    lm = Script([{"text": "a little story", "pace": 40}], clock=clock)
    pieces: list[str] = []

    async def read() -> None:
        async for chunk in lm.stream("x"):
            pieces.append(chunk.delta.text)  # noqa: PERF401  # each as it comes

    task = asyncio.ensure_future(read())
    await clock.advance(0.05)
    assert pieces == ["a "]
    await clock.advance(0.05)
    assert pieces == ["a ", "little "]
    await clock.advance(0.05)
    await task
    assert "".join(pieces) == "a little story"


async def test_errors_and_cuts_come_after_what_was_said() -> None:
    """Under the class of their code, with the partial answer."""
    lm = Script([{"text": "Half", "error": {"code": "rate_limit", "retryAfter": 3}}, {"text": "Half", "cut": True}])
    with pytest.raises(RateLimitError) as limited:
        await lm("x")
    assert (limited.value.retry_after, limited.value.partial.text) == (3, "Half")
    with pytest.raises(IncompleteGenerationError) as cut:
        await lm("x")
    assert cut.value.partial.text == "Half"


async def test_a_finish_decides_the_outcome() -> None:
    """An answer that reached its limit is no success."""
    with pytest.raises(IncompleteGenerationError):
        await Script([{"text": "x", "finish": "length"}])("x")


async def test_repeating() -> None:
    """From the start again; an empty script has nothing to repeat."""
    lm = Script(["a", "b"], repeat=True)
    assert [(await lm("x")).text for _ in range(3)] == ["a", "b", "a"]
    with pytest.raises(FakeExhaustedError):
        await Script([], repeat=True)("x")


@pytest.mark.parametrize(
    ("answer", "named"),
    [(1, "a text or an object"), ({"txt": "a"}, "txt"), ({"toolCalls": [{}]}, "name"), ({"finish": "soon"}, "finish")],
)
def test_a_script_is_checked_when_it_is_read(answer: Any, named: str) -> None:
    """With the place of what is wrong."""
    with pytest.raises(InvalidArgumentError, match=named) as caught:
        Script(["fine", answer])
    assert caught.value.details["place"] == 1
