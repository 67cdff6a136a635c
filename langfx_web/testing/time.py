"""A clock that a test turns by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class ManualClock:
    """Stands still until `await advance(seconds)`; then everything due by then happens, in order.

    It begins at 2026-01-01 00:00 UTC, its monotonic clock at 0.
    """

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._timers: list[tuple[float, int, ManualTimer]] = []
        self._numbers = itertools.count()

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been turned so far."""
        woken = asyncio.Event()
        timer = self.call_later(seconds, woken.set)
        try:
            await woken.wait()
        finally:
            timer.cancel()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> ManualTimer:
        """Call `callback` when the clock has been turned so far."""
        timer = ManualTimer(callback)
        heapq.heappush(self._timers, (self._elapsed + max(0.0, seconds), next(self._numbers), timer))
        return timer

    async def advance(self, seconds: float) -> None:
        """Turn the clock; tasks get turns of the loop before, between and after what is due."""
        until = self._elapsed + seconds
        await _settle()
        while self._timers and self._timers[0][0] <= until:
            due, _, timer = heapq.heappop(self._timers)
            self._elapsed = max(self._elapsed, due)
            timer.fire()
            await _settle()
        self._elapsed = until


class ManualTimer:
    """A pending callback of a `ManualClock`."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self._callback: Callable[[], object] | None = callback

    def cancel(self) -> None:
        """Make sure that the callback is not called."""
        self._callback = None

    def fire(self) -> None:
        """Call the callback, once."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()


async def _settle(turns: int = 20) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
