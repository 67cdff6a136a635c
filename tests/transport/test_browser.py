"""The browser transport over exchanges made in Python; the ones of a browser are tested in one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from langfx_web.errors import TransportError
from langfx_web.transport import Request
from langfx_web.transport.browser import BrowserTransport, JsException, use_pump


class Bytes(bytes):
    """A Uint8Array as Python sees it."""

    def to_bytes(self) -> bytes:  # type: ignore[override]
        return bytes(self)


class FakeExchange:
    """An exchange with a script: the headers, then chunks; an exception is raised, None never comes."""

    def __init__(self, *steps: object) -> None:
        self.steps = list(steps)
        self.closed = 0
        self.opened_with: tuple[dict[str, object], object] | None = None

    def open(self, head: str, body: object) -> FakeExchange:
        self.opened_with = (json.loads(head), body)
        return self

    async def head(self) -> str:
        answer = await self._step()
        return json.dumps(answer)

    async def next(self) -> Bytes:
        return Bytes(await self._step())  # type: ignore[call-overload]

    async def _step(self) -> object:
        step = self.steps.pop(0) if self.steps else b""
        if step is None:
            await asyncio.Event().wait()
        if isinstance(step, Exception):
            raise step
        return step

    def close(self) -> None:
        self.closed += 1


HEAD = {"status": 200, "headers": [["Request-Id", "r1"]], "url": "https://api.test/v1"}
REQUEST = Request(method="POST", url="https://api.test/v1", headers={"x-api-key": "k"}, body=b"{}")


@pytest.fixture(autouse=True)
def _no_pump() -> Iterator[None]:
    yield
    use_pump(None)


async def test_reads_an_exchange_to_its_end() -> None:
    """Head and body cross as text and bytes; at the end the exchange is let go once."""
    exchange = FakeExchange(HEAD, b"one", b"two")
    response = await BrowserTransport(exchange.open).send(REQUEST)
    assert (response.status, response.headers, response.url) == (200, {"request-id": "r1"}, "https://api.test/v1")
    assert [chunk async for chunk in response] == [b"one", b"two"]
    head = {"method": "POST", "url": "https://api.test/v1", "headers": {"x-api-key": "k"}}
    assert exchange.opened_with == (head, b"{}")
    response.abort()
    assert exchange.closed == 1


async def test_the_pump_is_used_once_it_is_handed_in() -> None:
    """A transport made before the worker hands in its pump uses it all the same."""
    transport = BrowserTransport()
    exchange = FakeExchange(HEAD)
    use_pump(exchange.open)
    assert (await transport.send(REQUEST)).status == 200


async def test_a_failed_fetch_is_unreachable_whatever_the_engine_says() -> None:
    """A page cannot tell a dead line from a refused preflight: the error names the origin and both causes."""
    exchange = FakeExchange(JsException("TypeError: Load failed"))
    with pytest.raises(TransportError, match=r"https://api\.test cannot be reached.*CORS") as raised:
        await BrowserTransport(exchange.open).send(REQUEST)
    assert (raised.value.code, exchange.closed) == ("unreachable", 1)
    assert isinstance(raised.value.__cause__, JsException)


async def test_bug_063_providers_06_an_abort_that_is_not_ours_is_a_broken_body() -> None:
    """A body that ends with somebody else's AbortError is a broken connection, not a cancelled task."""
    exchange = FakeExchange(HEAD, b"one", JsException("AbortError: BodyStreamBuffer was aborted"))
    response = await BrowserTransport(exchange.open).send(REQUEST)
    assert await anext(response) == b"one"
    with pytest.raises(TransportError) as raised:
        await anext(response)
    assert (raised.value.code, raised.value.retryable, exchange.closed) == ("body_broken", True, 1)


async def test_cancelling_closes_the_exchange_in_all_states() -> None:
    """Before the headers, between chunks and while the consumer works, a cancelled task closes once."""
    busy = asyncio.Event()

    async def consume(exchange: FakeExchange) -> None:
        async for _ in await BrowserTransport(exchange.open).send(REQUEST):
            busy.set()
            if len(exchange.steps) == 1:
                await asyncio.Event().wait()

    scripts: list[list[object]] = [[None], [HEAD, b"one", None, b"x", b"y"], [HEAD, b"one", b"two"]]
    for exchange in (FakeExchange(*script) for script in scripts):
        task = asyncio.create_task(consume(exchange))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert exchange.closed == 1
    assert busy.is_set()


async def test_leaving_early_closes_the_exchange() -> None:
    """`break` and dropping a response close the exchange before the next statement."""
    exchange = FakeExchange(HEAD, b"one", b"two")
    async for _ in await BrowserTransport(exchange.open).send(REQUEST):
        break
    assert exchange.closed == 1
    dropped = FakeExchange(HEAD, b"one")
    await BrowserTransport(dropped.open).send(REQUEST)
    assert dropped.closed == 1


async def test_plain_http_to_elsewhere_opens_no_exchange() -> None:
    """An address without TLS that is not this machine is refused before anything is fetched."""
    exchange = FakeExchange(HEAD)
    with pytest.raises(TransportError) as raised:
        await BrowserTransport(exchange.open).send(Request(method="POST", url="http://example.com"))
    assert (raised.value.code, exchange.opened_with) == ("insecure_url", None)
