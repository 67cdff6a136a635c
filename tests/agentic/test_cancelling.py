"""Cancelling a run, at any moment: nothing starts after it, everything that had started ends, nothing stays behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from langfx_web import Limits, Session, ToolContext
from langfx_web.agentic import OpenGates
from langfx_web.errors import DeadlineExceededError
from langfx_web.events import ToolEnd
from langfx_web.messages import AIMessage, ToolCall, ToolMessage
from langfx_web.testing import StaticSequence
from langfx_web.tools import tool
from tests.agentic.trial import HeardLoop, SteppedClock, agent, calls, loop_of, run


async def test_langfx_67_tools_that_cancel_themselves_or_take_too_long_have_failed() -> None:
    """The run goes on."""

    @tool(idempotent=True)
    async def self_cancelled() -> None:
        """Cancel itself."""
        raise asyncio.CancelledError

    @tool(idempotent=True)
    async def cancels_inner() -> None:
        """Cancel a task of its own, and wait for it."""
        inner = asyncio.ensure_future(asyncio.Event().wait())
        asyncio.get_running_loop().call_soon(inner.cancel)
        await inner

    @tool(idempotent=True, timeout=0.01)
    async def slow() -> None:
        """Take too long."""
        await asyncio.Event().wait()

    batch = calls(("self_cancelled", {}), ("cancels_inner", {}), ("slow", {}))
    loop = loop_of(agent([batch, "done"], self_cancelled, cancels_inner, slow))
    ends = {event.name: event.error_code for event in await run(loop) if isinstance(event, ToolEnd)}
    assert ends == {"self_cancelled": "tool_failed", "cancels_inner": "tool_failed", "slow": "tool_timeout"}
    assert loop.outcome.stop_reason == "end_turn"


async def test_langfx_67_a_stubborn_tool_does_not_hold_up_a_cancelled_run() -> None:
    """One that swallows the cancellation gets its value dropped; one that cleans up slowly has a second for it."""
    cleaned = []

    @tool(idempotent=True)
    async def stubborn() -> str:
        """Ignore being cancelled."""
        for _ in range(5):
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return "mine"

    @tool(idempotent=True)
    async def tidy() -> None:
        """Clean up slowly."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.1)
            cleaned.append(True)

    lm = StaticSequence([calls(("stubborn", {}), ("tidy", {})), "never"])
    loop = loop_of(agent(lm, stubborn, tidy))
    task = asyncio.ensure_future(run(loop))
    await asyncio.sleep(0.05)
    task.cancel()
    start = asyncio.get_running_loop().time()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.get_running_loop().time() - start < 1.5
    assert (cleaned, len(lm.requests), loop.outcome.stop_reason) == ([True], 1, "cancelled")
    assert "mine" not in [message.text for message in loop.transcript]


class Ledger:
    """What was begun and what has ended, by model and tools."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.is_over = False
        self.late: list[str] = []

    async def work(self, name: str, turns: int) -> str:
        """Something that takes so many turns of the loop, and one to clean up."""
        self.begun.append(name)
        if self.is_over:
            self.late.append(name)
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
        finally:
            self.ended.append(name)
        return name


def scene(ledger: Ledger, clock: SteppedClock) -> tuple[HeardLoop, OpenGates]:
    """A run of three steps with five calls: readers together, a writer alone, an approval, a query, hooks."""

    @tool(idempotent=True)
    async def read(n: int) -> str:
        """Read."""
        return await ledger.work(f"read {n}", 2)

    @tool(idempotent=False)
    async def write() -> str:
        """Write."""
        return await ledger.work("write", 2)

    @tool(idempotent=False, approval=True)
    async def pay(context: ToolContext) -> str:
        """Pay."""
        await context.session.query("May I?")
        return await ledger.work("pay", 1)

    async def reply(answer: AIMessage) -> AIMessage:
        await ledger.work("request", 1)
        return answer

    async def allow(call: ToolCall, step: Any) -> bool:
        return bool(await ledger.work(f"allow {call.name}", 1))

    async def around(*given: Any) -> None:
        await ledger.work("hook", 1)

    answers: list[Any] = [
        lambda request: reply(calls(("read", {"n": 1}), ("read", {"n": 2}), ("write", {}), text="One.")),
        lambda request: reply(calls(("read", {"n": 3}), ("pay", {}), text="Two.")),
        lambda request: reply(AIMessage("Yes.")),
        lambda request: reply(AIMessage("Three.")),
    ]
    lm = StaticSequence(answers, chunk_size=2, clock=clock)
    some = agent(lm, read, write, pay, allow_tool=allow, before_step=around, after_step=around)
    gates = OpenGates(clock)
    limits = Limits(max_steps=9, max_tool_calls=9, timeout=60)
    return loop_of(some, answers=gates, limits=limits, clock=clock, session=Session(timeout=90, clock=clock)), gates


async def attempt(moment: int, happens: Callable[[asyncio.Task[Any], SteppedClock], object]) -> Attempt:
    """Run the scene, in which something happens after so many turns of the event loop."""
    tried = Attempt()
    loop, gates = scene(tried.ledger, tried.clock)
    tried.loop = loop
    task = asyncio.ensure_future(loop.run())
    while not task.done():
        # What is to begin in this very turn of the event loop begins.
        tried.ledger.is_over = 0 <= moment < tried.turns
        if tried.turns == moment:
            happens(task, tried.clock)
        for gate in gates.gates():
            if tried.turns % 3 == 0:
                await gates.answer(gate.id, True)
        await asyncio.sleep(0)
        tried.turns += 1
    tried.was_cancelled = task.cancelled()
    return tried


class Attempt:
    """How it went."""

    loop: HeardLoop

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.clock = SteppedClock()
        self.turns = 0
        self.was_cancelled = False

    def left_nothing(self, whole: Ledger) -> bool:
        """Nothing began late or out of turn, all that began has ended, no timer is left, each call is answered."""
        transcript = self.loop.transcript
        asked = [call.id for message in transcript for call in message.tool_calls]
        told = [message.call_id for message in transcript if isinstance(message, ToolMessage)]
        gates = [event.type for event in self.loop.heard.events if event.type.startswith("gate")]
        return (
            self.ledger.late == []
            and self.ledger.begun == whole.begun[: len(self.ledger.begun)]
            and sorted(self.ledger.begun) == sorted(self.ledger.ended)
            and self.clock.open == 0
            and asked == told
            and gates in ([], ["gate_open", "gate_closed"])
        )


async def whole_run() -> Attempt:
    """The scene without anything happening to it."""
    tried = await attempt(-1, lambda task, clock: None)
    assert tried.loop.outcome.stop_reason == "end_turn"
    tools = [name for name in tried.ledger.begun if name.split()[0] in ("read", "write", "pay")]
    assert tools == ["read 1", "read 2", "write", "read 3", "pay"]
    assert tried.turns > 30
    assert tried.left_nothing(tried.ledger)
    return tried


async def test_a_run_can_be_cancelled_at_every_await() -> None:
    """At each turn of the event loop that it takes."""
    before = asyncio.all_tasks()
    whole = await whole_run()
    for moment in range(whole.turns - 1):
        tried = await attempt(moment, lambda task, clock: task.cancel())
        assert tried.was_cancelled, moment
        assert moment == 0 or tried.loop.outcome.stop_reason == "cancelled", moment
        assert tried.left_nothing(whole.ledger), moment
        assert asyncio.all_tasks() == before, moment


async def test_a_run_can_run_out_of_time_at_every_await() -> None:
    """It ends as `max_time`, and each call that a whole reply asked for has one end."""
    before = asyncio.all_tasks()
    whole = await whole_run()
    for moment in range(1, whole.turns - 1):
        tried = await attempt(moment, lambda task, clock: clock.jump(61))
        assert not tried.was_cancelled, moment
        assert tried.loop.outcome.stop_reason in ("max_time", "end_turn"), moment
        if tried.loop.outcome.stop_reason == "end_turn":
            continue
        assert tried.left_nothing(whole.ledger), moment
        asked = [call.id for message in tried.loop.transcript for call in message.tool_calls]
        ends = [event.id for event in tried.loop.heard.events if isinstance(event, ToolEnd)]
        assert sorted(ends) == sorted(asked), moment
        assert asyncio.all_tasks() == before, moment


@pytest.mark.parametrize("count", [1, 2])
async def test_tools_may_clean_up_after_a_deadline(count: int) -> None:
    """Those that run together as well as one alone: nothing cuts their cleanup short."""
    cleaned = []

    @tool(idempotent=True)
    async def wait() -> None:
        """Wait, and clean up."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            cleaned.append(True)

    some = agent([calls(*[("wait", {})] * count)], wait)
    with pytest.raises(DeadlineExceededError):
        await some.invoke(prompt="x", timeout=0.2)
    assert cleaned == [True] * count
