"""Limits on waiting, around any transport and with one timer for many waits."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from types import TracebackType
from typing import Self

from langfx_web.clock import Clock, Timer
from langfx_web.errors import InvalidArgumentError, TransportError
from langfx_web.transport.base import Request, Response, Send, origin

LONGEST_SLICE = 10.0
"""Seconds between two looks at the clock: in a browser a cancelled timer stays until it is due, so none is long."""

GRACE_TURNS = 3
"""Turns of the loop given to data that is already there, in a tab that was frozen, before a wait is ended."""


def seconds(value: float | None, option: str) -> float | None:
    """A duration as it is used: None for no limit; `invalid_argument` for what is no number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise InvalidArgumentError(f"{option} must be seconds or None, not {value!r}", details={"option": option})
    return None if value == math.inf else float(value)


class Watch:
    """Ends waits of one task that take too long; `with watch.limit(5, error): await …`, as often as wanted.

    The timer is set once and looks at the clock when it fires, so a wait costs no timer of its own. `spent` adds up how
    long the waits took. Not to be nested in itself.
    """

    def __init__(self, clock: Clock) -> None:
        self.spent = 0.0
        self._clock = clock
        self._timer: Timer | None = None
        self._timer_due = 0.0
        self._task: asyncio.Task[object] | None = None
        self._cancelling = 0
        self._started = 0.0
        self._deadline = math.inf
        self._wait = 0
        self._fired = False
        self._limit: float | None = None
        self._error: Callable[[], Exception] | None = None

    def limit(self, limit: float | None, error: Callable[[], Exception]) -> Self:
        """The next wait: at most so many seconds, else what `error` makes is raised."""
        self._limit = limit
        self._error = error
        return self

    def __enter__(self) -> None:
        self._started = self._clock.monotonic()
        if self._limit is None:
            return
        self._task = asyncio.current_task()
        self._cancelling = self._task.cancelling() if self._task else 0
        self._deadline = self._started + self._limit
        if self._timer is None or self._timer_due > self._deadline:
            self._arm(self._limit)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.spent += self._clock.monotonic() - self._started
        self._wait += 1
        task, self._task = self._task, None
        # Let go of, as it mostly belongs to who owns this watch: a circle would put off the end of a dropped stream.
        make_error, self._error = self._error, None
        if self._fired and task is not None and make_error is not None:
            self._fired = False
            # As in asyncio.timeout: if somebody else cancelled the task too, that is what counts.
            if task.uncancel() <= self._cancelling and kind is not None and issubclass(kind, asyncio.CancelledError):
                raise make_error() from None

    def close(self) -> None:
        """Let go of the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, left: float) -> None:
        self.close()
        slice_ = min(max(left, 0.0), LONGEST_SLICE)
        self._timer_due = self._clock.monotonic() + slice_
        self._timer = self._clock.call_later(slice_, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._task is None:
            return
        left = self._deadline - self._clock.monotonic()
        if left > 0:
            self._arm(left)
        else:
            self._judge(self._wait, GRACE_TURNS)

    def _judge(self, wait: int, turns: int) -> None:
        if self._task is None or wait != self._wait:
            return
        if turns:
            asyncio.get_running_loop().call_soon(self._judge, wait, turns - 1)
            return
        self._fired = True
        self._task.cancel()


async def send_timed(
    send: Send, request: Request, *, connect_timeout: float | None, idle_timeout: float | None, clock: Clock
) -> Response:
    """Send with limits: `connect_timeout` seconds to the headers, `idle_timeout` between bytes while we wait for them.

    None is no limit; 0 or less ends it before anything is sent.
    """
    place = origin(request.url)
    if (connect_timeout is not None and connect_timeout <= 0) or (idle_timeout is not None and idle_timeout <= 0):
        raise TransportError(f"no time was given for a request to {place}", code="connect_timeout")
    watch = Watch(clock)
    try:
        with watch.limit(connect_timeout, lambda: _late("connect_timeout", place, connect_timeout)):
            response = await _response(send(request))
    except BaseException:
        watch.close()
        raise
    body = _TimedBody(response, watch, idle_timeout, place)
    return Response(response.status, response.headers, response.url, body)


async def _response(answer: Awaitable[Response]) -> Response:
    """What an application's own transport gives, if it is what a transport has to give."""
    given = await answer if isawaitable(answer) else None
    if not isinstance(given, Response):
        raise InvalidArgumentError(
            f"a transport must give a Response, asynchronously, not a {type(given or answer).__name__}",
            details={"option": "transport"},
        )
    return given


class _TimedBody:
    def __init__(self, response: Response, watch: Watch, idle_timeout: float | None, place: str) -> None:
        self._response = response
        self._watch = watch
        self._idle_timeout = idle_timeout
        self._place = place

    async def next(self) -> bytes:
        try:
            with self._watch.limit(self._idle_timeout, self._late):
                return await self._response.__anext__()
        except StopAsyncIteration:
            self._watch.close()
            return b""

    def abort(self) -> None:
        self._watch.close()
        self._response.abort()

    def _late(self) -> TransportError:
        return _late("idle_timeout", self._place, self._idle_timeout)


def _late(code: str, place: str, limit: float | None) -> TransportError:
    what = "did not answer" if code == "connect_timeout" else "sent nothing more"
    return TransportError(f"{place} {what} within {limit:g} s", code=code, details={"seconds": limit})
