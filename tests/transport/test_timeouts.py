"""Limits on waiting, with a clock that is turned by hand."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

import pytest

from langfx_web.errors import InvalidArgumentError, TransportError
from langfx_web.testing.time import ManualClock, ManualTimer
from langfx_web.transport import HANG, MockResponse, MockTransport, Request, Response
from langfx_web.transport.timeouts import GRACE_TURNS, LONGEST_SLICE, Watch, seconds, send_timed


def timed(
    clock: ManualClock, body: list[object], *, connect: float | None = 120, idle: float | None = 300
) -> tuple[MockTransport, asyncio.Task[Response]]:
    """A request under way, answered with this body."""
    script = [HANG] if body == [HANG] else [MockResponse(body=body)]  # type: ignore[arg-type]
    transport = MockTransport(script, clock=clock)
    request = Request(method="POST", url="https://api.test/v1")
    sending = send_timed(transport.send, request, connect_timeout=connect, idle_timeout=idle, clock=clock)
    return transport, asyncio.create_task(sending)


def clock_with(turns: int, action: Callable[[], object]) -> ManualClock:
    """A clock on which, so many turns of the loop after each timer, something else happens."""

    class Clock(ManualClock):
        def call_later(self, seconds: float, callback: Callable[[], object]) -> ManualTimer:
            def both() -> None:
                callback()
                after(turns)

            return super().call_later(seconds, both)

    def after(left: int) -> None:
        if left:
            asyncio.get_running_loop().call_soon(after, left - 1)
        else:
            action()

    return Clock()


async def failure(task: asyncio.Task[object]) -> TransportError:
    """What a task fails with."""
    with pytest.raises(TransportError) as raised:
        await task
    return raised.value


async def test_headers_that_never_come_time_out() -> None:
    """`connect_timeout` runs until the headers are there and ends the exchange."""
    clock = ManualClock()
    transport, sending = timed(clock, [HANG], connect=25)
    await clock.advance(24.9)
    assert not sending.done()
    await clock.advance(0.2)
    error = await failure(sending)
    assert (error.code, error.retryable, transport.aborted) == ("connect_timeout", True, 1)
    assert "https://api.test" in str(error)


async def test_a_body_that_stalls_times_out() -> None:
    """`idle_timeout` runs from the last byte, and the body is aborted."""
    clock = ManualClock()
    transport, sending = timed(clock, [b"a", 20, b"b", HANG], idle=30)
    await clock.advance(0)
    response = await sending
    assert await anext(response) == b"a"
    reading = asyncio.create_task(anext(response))
    await clock.advance(20)
    assert await reading == b"b"
    reading = asyncio.create_task(anext(response))
    await clock.advance(29)
    assert not reading.done()
    await clock.advance(1)
    error = await failure(reading)
    assert (error.code, error.retryable, transport.aborted) == ("idle_timeout", True, 1)


async def test_the_idle_clock_rests_while_nobody_waits() -> None:
    """A slow consumer is no stalled server."""
    clock = ManualClock()
    _, sending = timed(clock, [b"a", b"b", b"c"], idle=1)
    await clock.advance(0)
    response, seen = await sending, []
    async for chunk in response:
        seen.append(chunk)
        await clock.advance(50)
    assert seen == [b"a", b"b", b"c"]


async def test_data_of_a_frozen_tab_is_read_before_the_judgement() -> None:
    """If time jumps while data is already there, the data wins."""
    arrived: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    clock = clock_with(GRACE_TURNS - 2, lambda: arrived.done() or arrived.set_result(b"late"))

    class Frozen:
        async def next(self) -> bytes:
            return await arrived

        def abort(self) -> None:
            arrived.cancel()

    async def send(request: Request) -> Response:
        return Response(200, {}, request.url, Frozen())

    request = Request(method="POST", url="https://api.test/v1")
    response = await send_timed(send, request, connect_timeout=5, idle_timeout=5, clock=clock)
    reading = asyncio.create_task(anext(response))
    await asyncio.sleep(0)
    await clock.advance(100)
    assert await reading == b"late"
    response.abort()


async def test_cancelling_is_not_timing_out() -> None:
    """A cancelled task ends as cancelled, before headers and between chunks, with one abort."""
    clock = ManualClock()
    transport, sending = timed(clock, [HANG])
    await clock.advance(1)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert transport.aborted == 1
    transport, sending = timed(clock, [b"a", HANG])
    await clock.advance(1)
    response = await sending
    await anext(response)
    reading = asyncio.create_task(anext(response))
    await clock.advance(1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert transport.aborted == 1


async def test_a_cancel_that_meets_the_timeout_counts() -> None:
    """If somebody cancels the task in the moment its time is up, it is cancelled, not timed out."""
    clock = clock_with(GRACE_TURNS, lambda: task and task.cancel())
    watch = Watch(clock)

    async def wait() -> None:
        with watch.limit(5, lambda: TransportError("late", code="idle_timeout")):
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await clock.advance(6)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_many_waits_share_one_timer_of_bounded_length() -> None:
    """A thousand short waits set one timer, and no timer is longer than a slice."""
    clock = ManualClock()
    set_for: list[float] = []
    plain = clock.call_later
    clock.call_later = lambda delay, callback: set_for.append(delay) or plain(delay, callback)  # type: ignore[method-assign,func-returns-value]
    watch = Watch(clock)
    for _ in range(1000):
        with watch.limit(300, lambda: TransportError("late", code="idle_timeout")):
            await asyncio.sleep(0)
    watch.close()
    assert set_for == [LONGEST_SLICE]


@pytest.mark.parametrize("limit", [None, math.inf, 30 * 86400.0, 1e12])
async def test_bug_101_long_limits_do_not_fire_early(limit: float | None) -> None:
    """No limit, however long, ends a wait before its time."""
    clock = ManualClock()
    _, sending = timed(clock, [b"a", 1000, b"b"], connect=seconds(limit, "x"), idle=seconds(limit, "x"))
    await clock.advance(0)
    response = await sending
    assert await anext(response) == b"a"
    reading = asyncio.create_task(anext(response))
    await clock.advance(1000)
    assert await reading == b"b"
    response.abort()


@pytest.mark.parametrize("limit", [0.0, -1.0])
async def test_bug_101_no_time_at_all_sends_nothing(limit: float) -> None:
    """With a limit of 0 or less, no request is made."""
    for limits in ({"connect": limit}, {"idle": limit}):
        transport, sending = timed(ManualClock(), [b"a"], **limits)
        assert (await failure(sending)).code == "connect_timeout"
        assert transport.requests == []


@pytest.mark.parametrize("value", [math.nan, "5", True])
def test_bug_101_what_is_no_duration_is_refused(value: object) -> None:
    """NaN and other things that are no seconds are refused by the option's name."""
    with pytest.raises(InvalidArgumentError, match="idle_timeout"):
        seconds(value, "idle_timeout")  # type: ignore[arg-type]
