"""Timers of a browser's loop, made to behave as asyncio's do.

Pyodide's loop refuses a delay below zero, which libraries rely on, and keeps a cancelled timer, with a function that
JavaScript holds, until it would have been due: a minute for each tool call with a limit of one.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextvars import Context
from typing import Any

SLICE = 1.0
"""Seconds that a cancelled timer stays at most."""

CallLater = Callable[..., asyncio.Handle]


def mend_timers(loop: Any) -> None:
    """Let `loop` take negative delays, and wait in slices, at whose ends a cancelled timer goes."""
    schedule: CallLater = loop.call_later

    def call_later(delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> Any:
        if SLICE < delay < math.inf:
            return _Timer(loop, schedule, delay, callback, args, context)
        return schedule(max(0.0, delay), callback, *args, context=context)

    loop.call_later = call_later


class _Timer:
    """The handle of a timer that is longer than one slice."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        schedule: CallLater,
        delay: float,
        callback: Callable[..., Any],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> None:
        self._loop = loop
        self._schedule = schedule
        self._due = loop.time() + delay
        self._work: Callable[[float], asyncio.Handle] = lambda left: schedule(left, callback, *args, context=context)
        self._handle = schedule(SLICE, self._go_on)
        self._cancelled = False

    def when(self) -> float:
        """When it is due, by the loop's clock."""
        return self._due

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def cancel(self) -> None:
        """Never call."""
        self._cancelled = True
        self._handle.cancel()
        self._work = _nothing

    def _go_on(self) -> None:
        left = max(0.0, self._due - self._loop.time())
        self._handle = self._schedule(SLICE, self._go_on) if left > SLICE else self._work(left)


def _nothing(left: float) -> asyncio.Handle:
    raise asyncio.InvalidStateError("the timer was cancelled")
