"""Time as something that is handed in, so that a test can turn it by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

LONGEST_TIMER = 86_400.0
"""Seconds that one timer of the event loop gets at most; browsers fire timers beyond 2^31 ms at once."""


class Timer(Protocol):
    """A pending callback."""

    def cancel(self) -> None:
        """Make sure that the callback is not called."""


class Clock(Protocol):
    """The time of day, a clock that never jumps, and waiting."""

    def now(self) -> datetime:
        """The time of day in UTC; for display, never for order."""

    def monotonic(self) -> float:
        """Seconds since some moment; only differences mean anything."""

    async def sleep(self, seconds: float) -> None:
        """Wait so long."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` after so long, unless the timer is cancelled."""


class SystemClock:
    """The real time."""

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of the system's monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait so long, in slices that every event loop can time."""
        while seconds > LONGEST_TIMER:
            await asyncio.sleep(LONGEST_TIMER)
            seconds -= LONGEST_TIMER
        await asyncio.sleep(max(0.0, seconds))

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` from the running event loop after so long."""
        return _ChainedTimer(seconds, callback)


class _ChainedTimer:
    def __init__(self, seconds: float, callback: Callable[[], None]) -> None:
        self._left = max(0.0, seconds)
        self._callback = callback
        self._arm()

    def _arm(self) -> None:
        slice_ = min(self._left, LONGEST_TIMER)
        self._left -= slice_
        self._handle = asyncio.get_running_loop().call_later(slice_, self._fire)

    def _fire(self) -> None:
        if self._left > 0:
            self._arm()
        else:
            self._callback()

    def cancel(self) -> None:
        self._handle.cancel()


SYSTEM_CLOCK = SystemClock()
"""The clock that is used where none is handed in."""
