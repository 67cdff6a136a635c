"""The scripted transport."""

from __future__ import annotations

import asyncio

import pytest

from langfx_web.errors import TransportError
from langfx_web.testing.time import ManualClock
from langfx_web.transport import (
    HANG,
    MockResponse,
    MockTransport,
    Request,
    Response,
    cut_at,
    cut_every,
    cut_random,
)


def request(path: str = "/x") -> Request:
    """A request to this path."""
    return Request(method="POST", url=f"https://api.test{path}")


async def chunks(response: Response) -> list[bytes]:
    """All chunks of a body."""
    return [chunk async for chunk in response]


async def test_answers_in_order_and_records() -> None:
    """Answers come in the order of the script; requests, and exchanges under way, can be looked at."""
    transport = MockTransport(
        [MockResponse(body=b"one"), MockResponse(status=404, headers={"X-A": "b"}, body=[b"t", b"wo"])]
    )
    first = await transport.send(request())
    assert transport.open == 1
    assert await chunks(first) == [b"one"]
    second = await transport.send(request("/y"))
    assert (second.status, second.headers, await chunks(second)) == (404, {"x-a": "b"}, [b"t", b"wo"])
    assert [sent.url for sent in transport.requests] == ["https://api.test/x", "https://api.test/y"]
    assert (transport.open, transport.aborted) == (0, 0)


async def test_an_exhausted_script_fails() -> None:
    """A request that nobody wrote an answer for is an `AssertionError`."""
    transport = MockTransport([])
    with pytest.raises(AssertionError, match="no answer left for POST /x"):
        await transport.send(request())
    assert transport.open == 0


async def test_a_script_by_path_takes_the_longest_prefix() -> None:
    """Each path has its own answers; the most specific one is meant."""
    transport = MockTransport({"/a": [MockResponse(body=b"a")], "/a/b": [MockResponse(body=b"b")]})
    assert await chunks(await transport.send(request("/a/b/c"))) == [b"b"]
    assert await chunks(await transport.send(request("/a/c"))) == [b"a"]
    with pytest.raises(AssertionError):
        await transport.send(request("/z"))


async def test_a_function_can_answer() -> None:
    """A script can be an async function of the request, and may raise."""

    async def answer(sent: Request) -> MockResponse:
        if sent.url.endswith("bad"):
            raise TransportError("down", code="unreachable")
        return MockResponse(body=sent.url.encode())

    transport = MockTransport(answer)
    assert await chunks(await transport.send(request())) == [b"https://api.test/x"]
    with pytest.raises(TransportError, match="down"):
        await transport.send(request("/bad"))


async def test_a_body_can_wait_break_and_hang() -> None:
    """Numbers wait on the clock, exceptions are raised, HANG never comes and counts as aborted when it is left."""
    clock = ManualClock()
    transport = MockTransport(
        [MockResponse(body=[b"a", 5, b"b", TransportError("cut", code="body_broken")]), MockResponse(body=[HANG])],
        clock=clock,
    )
    response = await transport.send(request())
    assert await anext(response) == b"a"
    reading = asyncio.create_task(anext(response))
    await clock.advance(4)
    assert not reading.done()
    await clock.advance(1)
    assert await reading == b"b"
    with pytest.raises(TransportError, match="cut"):
        await anext(response)
    assert (transport.open, transport.aborted) == (0, 0)
    hanging = await transport.send(request())
    reading = asyncio.create_task(anext(hanging))
    await asyncio.sleep(0)
    hanging.abort()
    with pytest.raises(TransportError, match="aborted"):
        await reading
    assert (transport.open, transport.aborted) == (0, 1)


async def test_headers_can_hang_and_sending_can_fail() -> None:
    """In place of a response, HANG keeps the caller waiting and an exception is raised."""
    transport = MockTransport([HANG, TransportError("down", code="unreachable")])
    sending = asyncio.create_task(transport.send(request()))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert (transport.open, transport.aborted) == (0, 1)
    with pytest.raises(TransportError, match="down"):
        await transport.send(request())


def test_cutting_loses_nothing() -> None:
    """However a body is cut, its pieces joined are the body, and random cuts depend on the seed only."""
    body = bytes(range(100))
    assert cut_every(body, 30) == [body[:30], body[30:60], body[60:90], body[90:]]
    assert cut_at(body, [90, 10, 10, 0]) == [body[:10], body[10:90], body[90:]]
    assert b"".join(cut_random(body, 50, "seed")) == body
    assert cut_random(body, 50, "seed") == cut_random(body, 50, "seed") != cut_random(body, 50, "other")
    assert cut_random(b"x", 5, 1) == [b"x"]
