"""A moment by which work must be done: the earliest of several, and cancelling what is still running then."""

from __future__ import annotations

import asyncio
import math
from types import TracebackType

from langfx_web.clock import Clock, Timer
from langfx_web.errors import DeadlineExceededError, InvalidArgumentError

LONGEST_WAIT = 10.0
"""Seconds between two looks at the clock: in a browser a cancelled timer stays until it is due, so none is long."""


def is_seconds(value: object) -> bool:
    """Whether it is a number of seconds; infinity is one, NaN is none, nor is an int that no float can be."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:
        return False


def deadline_after(timeout: float | None, clock: Clock, *, parent: float | None = None) -> float | None:
    """The moment on the monotonic clock that is `timeout` seconds away, or `parent` where that is earlier.

    None and infinity mean no limit of one's own; what is no number is `invalid_argument`.
    """
    if timeout is None:
        return parent
    if not is_seconds(timeout):
        raise InvalidArgumentError(
            f"timeout must be a number of seconds, not {timeout!r}", details={"option": "timeout"}
        )
    if timeout == math.inf:
        return parent
    own = clock.monotonic() + timeout
    return own if parent is None else min(own, parent)


class Bounded:
    """`with Bounded(deadline, clock):` cancels the block at the deadline; then `DeadlineExceededError` comes out of it.

    A deadline that has passed fails at once. Cancelling by anybody else comes out as it is. Work that ends after the
    deadline, having swallowed the cancellation, has failed too.
    """

    __slots__ = ("_before", "_clock", "_deadline", "_expired", "_task", "_timer")

    def __init__(self, deadline: float | None, clock: Clock) -> None:
        self._deadline = deadline
        self._clock = clock
        self._timer: Timer | None = None
        self._task: asyncio.Task[object] | None = None
        self._before = 0
        self._expired = False

    def __enter__(self) -> None:
        if self._deadline is None:
            return
        left = self._deadline - self._clock.monotonic()
        if left <= 0:
            raise _passed()
        self._task = asyncio.current_task()
        self._before = 0 if self._task is None else self._task.cancelling()
        self._wait(left)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        late = self.ended(error)
        if late is not None:
            raise late from late.__cause__

    def ended(self, error: BaseException | None) -> DeadlineExceededError | None:
        """The block is over, with an error or without: what comes out instead, where it was the deadline."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._expired or self._task is None or self._task.uncancel() > self._before:
            return None
        if error is not None and not isinstance(error, (Exception, asyncio.CancelledError)):
            return None
        late = _passed()
        late.__cause__ = error if isinstance(error, Exception) else None
        return late

    def _wait(self, left: float) -> None:
        self._timer = self._clock.call_later(min(left, LONGEST_WAIT), self._look)

    def _look(self) -> None:
        left = 0.0 if self._deadline is None else self._deadline - self._clock.monotonic()
        if left > 0:
            self._wait(left)
            return
        self._expired = True
        if self._task is not None:
            self._task.cancel()


def _passed() -> DeadlineExceededError:
    return DeadlineExceededError("the deadline has passed")
