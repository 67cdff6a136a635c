"""A run and its one reader: never ahead of it, and over when it leaves."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from langfx_web import Session
from langfx_web.errors import TemporaryLMError
from langfx_web.events import GateClosed, TextDelta, ToolEnd, ToolStart, TurnEnd
from langfx_web.testing import Echo, StaticSequence
from langfx_web.tools import tool
from langfx_web.usage import Usage
from tests.agentic.trial import agent, calls


async def test_the_events_of_a_stream_end_with_turn_end() -> None:
    """Which has the cost, or tells of the failure."""
    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    lm = StaticSequence([calls(("double", {"n": 4}), usage=usage), "8"])
    events = [event async for event in agent(lm).stream(prompt="x")]
    assert [event.type for event in events] == ["tool_start", "tool_end", "text_delta", "turn_end"]
    assert events[-1] == TurnEnd(stop_reason="end_turn", usage=usage.as_lower_bound())
    (end,) = [event async for event in agent([TemporaryLMError("busy")]).stream(prompt="x")]
    assert (end.stop_reason, end.error.code) == ("error", "temporary")


@pytest.mark.parametrize(("options", "reason"), [({"timeout": 0}, "max_time"), ({"timeout": 0.01}, "max_time")])
async def test_a_limit_around_the_run_is_in_its_end(options: dict[str, Any], reason: str) -> None:
    """It is not raised."""

    async def slow(request: Any) -> str:
        await asyncio.Event().wait()
        return "never"

    events = [event async for event in agent([slow]).stream(prompt="x", **options)]
    assert events == [TurnEnd(stop_reason=reason, usage=events[0].usage)]


async def test_a_run_is_never_ahead_of_its_reader() -> None:
    """A tool whose start was not read does not run."""
    ran = []

    @tool(idempotent=False)
    def pay() -> str:
        """Pay."""
        ran.append(True)
        return "paid"

    async with aclosing(agent([calls(("pay", {}), text="Now."), "done"], pay).stream(prompt="x")) as events:
        assert await anext(events) == TextDelta(delta="Now.")
        await asyncio.sleep(0.01)
        assert isinstance(await anext(events), ToolStart)
        await asyncio.sleep(0.01)
        assert ran == []
        assert isinstance(await anext(events), ToolEnd)
        assert ran == [True]


async def test_leaving_early_cancels_the_run() -> None:
    """The tool that runs is cancelled, and nothing more is asked."""
    cancelled = []

    @tool(idempotent=True)
    async def wait() -> None:
        """Wait."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    lm = StaticSequence([calls(("wait", {})), "never"])
    before = asyncio.all_tasks()
    async with aclosing(agent(lm, wait).stream(prompt="x")) as events:
        await anext(events)
        reading = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.01)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    assert (cancelled, len(lm.requests), asyncio.all_tasks() - before) == ([True], 1, set())


async def test_a_cancelled_session_ends_the_stream_as_an_event() -> None:
    """The reader's own task goes on."""
    async with Session() as session, aclosing(agent(Echo(chunk_size=1)).stream(session, prompt="long")) as events:
        await anext(events)
        session.cancel("enough")
        rest = [event async for event in events]
    assert rest[-1].stop_reason == "cancelled"
    assert rest[-1].error is None


@pytest.mark.parametrize("error", [KeyError("x"), asyncio.CancelledError()])
async def test_whatever_a_model_raises_is_in_the_end(error: BaseException) -> None:
    """Also what no model should raise; nobody who reads is cancelled by it."""

    class Odd(Echo):
        async def _stream(self, request: Any) -> Any:
            raise error
            yield

    (end,) = [event async for event in agent(Odd()).stream(prompt="x")]
    assert (end.stop_reason, end.error.name) == ("error", type(error).__name__.replace("Cancelled", "Langfx"))


@pytest.mark.parametrize("ends", ["timeout", "session timeout", "cancel", "dispose"])
async def test_every_call_of_a_cancelled_run_has_its_end(ends: str) -> None:
    """Also the one that had not begun; and whoever reads may wait for the session's end."""

    @tool
    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    async with Session(timeout=0.05 if ends == "session timeout" else None) as session:
        some = agent([calls(("wait", {}), ("wait", {}))], wait)
        events: list[Any] = []
        async for event in some.stream(session, prompt="x", timeout=0.05 if ends == "timeout" else None):
            events.append(event)
            if ends == "cancel":
                asyncio.get_running_loop().call_later(0.01, session.cancel)
            elif ends == "dispose" and len(events) == 1:
                await asyncio.wait_for(session.dispose(), 5)
    assert [event.type for event in events] == ["tool_start", "tool_end", "tool_end", "turn_end"]
    assert [event.id for event in events[:3]] == ["c1", "c1", "c2"]
    assert "interrupted" in events[1].content
    assert events[-1].stop_reason == ("max_time" if "timeout" in ends else "cancelled")


async def test_a_reader_that_leaves_an_open_gate_does_not_wait() -> None:
    """The gate is closed, unseen, and the run is over."""

    async def before(step: Any) -> None:
        await step.ask("Go on?")

    async def on_gate(gate: Any) -> None:
        await asyncio.Event().wait()

    async def read() -> None:
        async for _ in agent(["never"], before_step=before).stream(prompt="x", on_gate=on_gate):
            pass

    tasks = asyncio.all_tasks()
    reading = asyncio.ensure_future(read())
    await asyncio.sleep(0.01)
    reading.cancel()
    done, _ = await asyncio.wait([reading], timeout=5)
    assert done == {reading}
    assert asyncio.all_tasks() == tasks


async def test_a_stream_may_ask() -> None:
    """With `on_gate`, as `invoke` does; the gates are in its events."""

    async def before(step: Any) -> None:
        await step.ask("Go on?")

    async def on_gate(gate: Any) -> bool:
        return True

    events = [event async for event in agent(["ok"], before_step=before).stream(prompt="x", on_gate=on_gate)]
    assert [event.type for event in events] == ["gate_open", "gate_closed", "text_delta", "turn_end"]
    assert isinstance(events[1], GateClosed)


async def test_an_unread_stream_does_nothing() -> None:
    """Not before its first event is asked for."""
    lm = StaticSequence(["x"])
    stream = agent(lm).stream(prompt="x")
    await asyncio.sleep(0)
    assert lm.requests == []
    await stream.aclose()
