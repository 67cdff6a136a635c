"""The real clock: waits, and cancels."""

from __future__ import annotations

import asyncio
from datetime import UTC

from langfx_web import clock as clock_module
from langfx_web.clock import SYSTEM_CLOCK


async def test_it_waits_and_calls() -> None:
    """A timer fires after its time, a cancelled one never; zero and less are at once."""
    told: list[str] = []
    SYSTEM_CLOCK.call_later(0.01, lambda: told.append("late"))
    SYSTEM_CLOCK.call_later(0, lambda: told.append("now"))
    SYSTEM_CLOCK.call_later(0.001, lambda: told.append("never")).cancel()
    before = SYSTEM_CLOCK.monotonic()
    await SYSTEM_CLOCK.sleep(0.02)
    await SYSTEM_CLOCK.sleep(-1)
    assert told == ["now", "late"]
    assert SYSTEM_CLOCK.monotonic() - before >= 0.02
    assert SYSTEM_CLOCK.now().tzinfo is UTC


async def test_bug_101_no_timer_of_the_loop_is_longer_than_a_day() -> None:
    """Longer waits are chained, so that no browser fires them at once."""
    delays: list[float] = []
    loop = asyncio.get_running_loop()
    original = loop.call_later

    def noted(delay: float, *rest: object) -> object:
        delays.append(delay)
        return original(delay, *rest)

    loop.call_later = noted  # type: ignore[method-assign]  # the loop is what is watched here
    try:
        timer = SYSTEM_CLOCK.call_later(30 * 86400, lambda: None)
    finally:
        loop.call_later = original  # type: ignore[method-assign]  # as it was
    timer.cancel()
    assert delays == [clock_module.LONGEST_TIMER]
