"""The time a run may take: a limit that stands still while a person is asked."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from langfx_web.clock import Clock, Timer
from langfx_web.deadline import LONGEST_WAIT
from langfx_web.errors import DeadlineExceededError


class TimeLimit:
    """`with limit:` cancels the block once it has run for so many seconds; `DeadlineExceededError` then comes out.

    None is no limit; 0 or less fails at once. One timer at a time serves the whole block. Cancelling by anybody else
    comes out as it is.
    """

    __slots__ = ("_before", "_clock", "_expired", "_left", "_since", "_standing", "_task", "_timer")

    def __init__(self, seconds: float | None, clock: Clock) -> None:
        self._clock = clock
        self._left = math.inf if seconds is None else seconds
        self._since = 0.0
        self._standing = 0
        self._timer: Timer | None = None
        self._task: asyncio.Task[object] | None = None
        self._before = 0
        self._expired = False

    def __enter__(self) -> None:
        if self._left <= 0:
            raise _passed()
        self._task = asyncio.current_task()
        self._before = 0 if self._task is None else self._task.cancelling()
        self._go_on()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        if not self._expired or self._task is None or self._task.uncancel() > self._before:
            return
        if kind is None or issubclass(kind, asyncio.CancelledError):
            raise _passed() from None

    def check(self) -> None:
        """Raise if the time is over, though no timer could say so yet."""
        if not self._standing and self._left - (self._clock.monotonic() - self._since) <= 0:
            raise _passed()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """A block whose time does not count; several may overlap."""
        self._standing += 1
        if self._standing == 1:
            self._left -= self._clock.monotonic() - self._since
            self._stop()
        try:
            yield
        finally:
            self._standing -= 1
            if not self._standing:
                self._go_on()

    def _go_on(self) -> None:
        self._since = self._clock.monotonic()
        if self._left < math.inf:
            self._timer = self._clock.call_later(min(max(self._left, 0.0), LONGEST_WAIT), self._look)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        left = self._left - (self._clock.monotonic() - self._since)
        if left > 0:
            self._timer = self._clock.call_later(min(left, LONGEST_WAIT), self._look)
            return
        self._expired = True
        if self._task is not None:
            self._task.cancel()


def _passed() -> DeadlineExceededError:
    return DeadlineExceededError("the run reached its time limit")
