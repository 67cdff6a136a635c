"""A clock that a test turns by hand."""

from __future__ import annotations

import asyncio

from langfx_web.testing import ManualClock


async def test_time_moves_only_when_told() -> None:
    """Timers fire in order of their time, sleepers wake, cancelled ones do not."""
    clock, told = ManualClock(), []
    clock.call_later(2, lambda: told.append("two"))
    clock.call_later(1, lambda: told.append(("one", clock.monotonic())))
    clock.call_later(1.5, lambda: told.append("never")).cancel()

    async def sleeper() -> None:
        await clock.sleep(3)
        told.append("slept")

    task = asyncio.ensure_future(sleeper())
    await clock.advance(0.5)
    assert told == []
    await clock.advance(2)
    assert told == [("one", 1.0), "two"]
    await clock.advance(1)
    await task
    assert told[-1] == "slept"
    assert clock.now().isoformat() == "2026-01-01T00:00:03.500000+00:00"


async def test_what_a_timer_starts_is_due_in_the_same_turn() -> None:
    """A chain of short sleeps runs through within one advance."""
    clock, count = ManualClock(), 0

    async def ticks() -> None:
        nonlocal count
        while True:
            await clock.sleep(1)
            count += 1

    task = asyncio.ensure_future(ticks())
    await clock.advance(10)
    assert count == 10
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await clock.advance(5)
    assert count == 10
