"""Views of a turn."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest

from langfx_web.errors import RateLimitError, StoreError
from langfx_web.events import ErrorInfo, TextDelta, ToolEnd, ToolStart
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, UserMessage
from langfx_web.testing import StaticSequence
from tests.durable.faults import has, settle
from tests.durable.scene import Scene, SpokenModel, calls, said, spoken, types


async def test_iterating_shows_what_happened() -> None:
    """Deltas and tools, without the turn's own start and end; any number of times."""
    scene = Scene()
    turn = scene.session([calls(("find", "x"), text="Wait."), "Found."]).prompt("a")
    for _ in range(2):
        events = [event async for event in turn]
        assert [type(event) for event in events] == [TextDelta, ToolStart, ToolEnd, TextDelta]


async def test_the_lines_come_in_stored_batches() -> None:
    """What was stored together comes together, and the count of lines is known with the result."""
    scene = Scene()
    turn = scene.session(StaticSequence(["abcdef"], chunk_size=1)).prompt("a")
    batches = [[line.type for line in batch] async for batch in turn.lines.batches()]
    assert batches[0][0] == "turn_start"
    assert [type_ for batch in batches for type_ in batch] == ["turn_start", *["text_delta"] * 6, "turn_end"]
    assert await turn.line_count == 8


async def test_it_is_readable_as_ndjson() -> None:
    """All lines as bytes, one JSON object a line, the same as stored."""
    scene = Scene()
    turn = scene.session(["Hello"]).prompt("a")
    data = b"".join([piece async for piece in turn.readable])
    assert data.decode().splitlines() == await scene.texts()
    assert [json.loads(line)["type"] for line in data.splitlines()] == ["turn_start", "text_delta", "turn_end"]


async def test_breaking_out_does_not_cancel() -> None:
    """Row 44: a turn goes on when a reader leaves, and when nobody looks at it at all."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    turn = session.prompt("a")
    lm.say("one ")
    async for _ in turn:
        break
    lm.say("two")
    lm.finish()
    del turn, session
    gc.collect()
    await settle()
    assert (await scene.store.inner.load("s")).head.open is False  # type: ignore[union-attr]
    assert [message.text for message in await scene.session([]).messages()] == ["a", "one two"]


async def test_an_unread_turn_holds_nothing() -> None:
    """Row 108: a view that nobody reads reads nothing and watches nothing."""
    scene = Scene()
    turn = scene.session(["Hello"]).prompt("a")
    await settle()
    reads = {call for call in scene.store.calls if call in ("lines", "lookup")}
    assert (reads, turn.message_id) == (set(), "msg_2")
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_awaiting_may_be_given_up() -> None:
    """A timeout around `accepted` or `result` ends only that wait."""
    scene = Scene()
    lm = SpokenModel()
    turn = scene.session(lm).prompt("a")
    for _ in range(2):
        waiting = asyncio.ensure_future(turn.result)
        await settle()
        waiting.cancel()
        await asyncio.wait([waiting])
    lm.finish()
    lm.say("unused")
    assert (await turn.result).stop_reason in ("end_turn", "error")


async def test_a_failed_turn_is_a_value() -> None:
    """The error is in the result and in the last line, and nothing is raised; what had been said is kept."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    turn = session.prompt("a")
    lm.say("I thi")
    lm.fail(RateLimitError("too fast"))
    assert await spoken(turn) == "I thi"
    result = await turn.result
    assert (result.stop_reason, result.error) == (
        "error",
        ErrorInfo(name="RateLimitError", message="too fast", code="rate_limit", retryable=True),
    )
    end = json.loads((await scene.texts())[-1])
    assert (end["type"], end["error"]["code"]) == ("turn_end", "rate_limit")
    assert await session.messages() == [UserMessage("a"), AIMessage("I thi", metadata={"incomplete": True})]


async def test_a_failed_turn_is_not_told_again() -> None:
    """Row 107: the next prompt goes on from before it."""
    scene = Scene()
    lm = StaticSequence([RateLimitError("too fast"), "fine"], max_attempts=1)
    session = scene.session(lm)
    await session.prompt("a").result
    await session.prompt("b").result
    assert said(lm.requests[1]) == ["b"]
    assert [message.text for message in await session.messages()] == ["a", "b", "fine"]


async def test_a_prompt_that_was_not_stored(recwarn: pytest.WarningsRecorder) -> None:
    """`accepted`, `result` and the iteration raise the store's error, as often as asked; unawaited it is no noise."""
    scene = Scene()
    scene.store.fail(has("input"), StoreError("full", code="store_full"), times=2)
    scene.session([]).prompt("unawaited")
    turn = scene.session([], "t").prompt("a")
    for _ in range(2):
        with pytest.raises(StoreError):
            await turn.accepted
        with pytest.raises(StoreError):
            await turn.result
        with pytest.raises(StoreError):
            await types(turn)
    gc.collect()
    assert len(recwarn) == 0


async def test_a_mistake_in_a_model_is_told() -> None:
    """Row 88: an exception of no kind that we know ends the turn with its class and text."""
    scene = Scene()
    result = await scene.session([ZeroDivisionError("by zero")]).prompt("a").result
    assert result.stop_reason == "error"
    assert result.error is not None
    assert "by zero" in result.error.message


@pytest.mark.parametrize(("shown", "stop_reason", "text"), [(0, "end_turn", "fine"), (1, "error", "he")])
async def test_a_request_is_sent_once_more_only_if_nothing_was_shown(shown: int, stop_reason: str, text: str) -> None:
    """Row 105: one retry before the first event, none after; what was shown stays."""
    scene = Scene()
    broken = StaticSequence(["hello"], chunk_size=2, fail_after=(shown, RateLimitError("busy", retry_after=0)))
    fine = StaticSequence(["fine"])
    asked: list[Any] = []

    class Unsteady(LanguageModel):
        """Breaks the first time it is asked."""

        def _stream(self, request: Any) -> Any:
            asked.append(request)
            return (broken if len(asked) == 1 else fine)._stream(request)

    turn = scene.session(Unsteady("unsteady", retry_interval=0)).prompt("a")
    result = await turn.result
    assert result.stop_reason == stop_reason
    assert "".join([event.delta async for event in turn]) == text
    assert len(asked) == (2 if shown == 0 else 1)
