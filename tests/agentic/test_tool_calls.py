"""Tool calls in a turn: what is heard of each, and that none stops another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web.errors import ToolExecutionError
from langfx_web.events import ToolEnd, ToolStart
from langfx_web.messages import ToolMessage
from langfx_web.tools import Tool, tool
from tests.agentic.trial import Heard, agent, calls, double, loop_of


class Heed(Heard):
    """Keeps what tools do among the events."""

    def tool(self, error: BaseException | None = None, *, waits: float | None = None, **options: Any) -> Tool:
        """One that is heard, waits, and then gives its value or fails."""

        @tool(idempotent=False, **options)
        async def act(n: int) -> int:
            """Act."""
            self.events.append("act")
            if waits is not None:
                await asyncio.sleep(waits)
            if error is not None:
                raise error
            return n

        return act


def told(events: list[Any]) -> list[Any]:
    """Names of events, and what tools did."""
    return [event if isinstance(event, str) else event.type for event in events]


async def turn(heard: Heed, *tools: Tool, **args: Any) -> Any:
    """A turn that calls `act` once, and then says that it is done."""
    loop = loop_of(agent([calls(("act", args)), "done"], *tools), recorder=heard)
    await loop.run()
    return loop


@pytest.mark.parametrize("error", [None, ValueError("no such order")])
async def test_context_17_a_call_is_heard_of_before_and_after(error: Exception | None) -> None:
    """Start, function, end, with one checksum; the model is told of a failure, and the turn goes on."""
    heard = Heed()
    loop = await turn(heard, heard.tool(error), n=1)
    assert told(heard.events)[:3] == ["tool_start", "act", "tool_end"]
    start, _, end = heard.events[:3]
    assert start.checksum == end.checksum
    assert (end.is_error, end.content, end.error_code) == (
        (False, "1", None) if error is None else (True, "no such order", "tool_failed")
    )
    assert (loop.outcome.stop_reason, loop.outcome.message.text) == ("end_turn", "done")
    if error is not None:
        with pytest.raises(ToolExecutionError) as caught:
            await heard.tool(error).run({"n": 1})
        assert caught.value.__cause__ is error


async def test_context_18_a_run_that_is_cancelled_in_a_tool() -> None:
    """The cancellation passes, also where the tool swallows it; its late value is nobody's."""
    heard, started = Heed(), asyncio.Event()

    @tool(idempotent=False)
    async def act() -> str:
        """Act."""
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            heard.events.append("cleaned")
        return "late"

    task = asyncio.ensure_future(turn(heard, act))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told(heard.events)[:2] == ["tool_start", "cleaned"]
    assert "late" not in repr(heard.events)


async def test_context_18_a_tool_that_cancels_a_task_of_its_own() -> None:
    """A failed call, and the turn goes on."""
    heard = Heed()

    @tool
    async def act() -> None:
        """Act."""
        inner = asyncio.ensure_future(asyncio.sleep(60))
        inner.cancel()
        await inner

    loop = await turn(heard, act)
    assert (heard.events[1].error_code, loop.outcome.stop_reason) == ("tool_failed", "end_turn")


async def test_bug_065_context_18_a_tool_that_takes_too_long_is_called_once() -> None:
    """Not again, neither by us nor under another id; the model is told that it may have had its effect."""
    heard = Heed()
    loop = await turn(heard, heard.tool(waits=60, timeout=0.01), n=1)
    assert told(heard.events)[:3] == ["tool_start", "act", "tool_end"]
    assert heard.events.count("act") == 1
    end = heard.events[2]
    assert (end.is_error, end.error_code) == (True, "tool_timeout")
    assert "may have been done" in end.content
    assert loop.outcome.stop_reason == "end_turn"


async def test_context_19_a_good_call_beside_others() -> None:
    """An unknown name and bad arguments are answered, each once, without a start; the good call runs."""
    reply = calls(("double", {"n": 4}), ("triple", {"n": 1}), ("double", {}))
    loop = loop_of(agent([reply, "done"], double))
    await loop.run()
    ends = [event for event in loop.heard.events if isinstance(event, ToolEnd)]
    starts = [event.id for event in loop.heard.events if isinstance(event, ToolStart)]
    assert starts == ["c1"]
    assert sorted((end.id, end.error_code) for end in ends) == [
        ("c1", None),
        ("c2", "tool_not_found"),
        ("c3", "tool_arguments_invalid"),
    ]
    results = [message for message in loop.transcript if isinstance(message, ToolMessage)]
    assert [(result.call_id, result.text) for result in results] == [
        ("c1", "8"),
        ("c2", "Error: there is no tool 'triple'. Available: double."),
        ("c3", "n: the field is missing"),
    ]
    assert loop.outcome.stop_reason == "end_turn"
