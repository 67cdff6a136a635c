"""Requests, responses and how a body is left."""

from __future__ import annotations

import gc

import pytest

from langfx_web.errors import InvalidArgumentError, TransportError
from langfx_web.transport import MockResponse, MockTransport, Request, Response
from langfx_web.transport.base import origin, refuse_insecure, sender


def request(url: str = "https://api.test/v1?key=query-secret", **options: object) -> Request:
    """A request with a secret in its URL and in a header."""
    return Request(method="POST", url=url, headers={"X-Api-Key": "header-secret"}, **options)  # type: ignore[arg-type]


async def opened(transport: MockTransport) -> Response:
    """The headers of the next answer."""
    return await transport.send(request())


def three_chunks() -> MockTransport:
    """A transport with two answers of three chunks each."""
    return MockTransport([MockResponse(body=[b"one", b"two", b"three"])] * 2)


def test_a_request_shows_header_names_only() -> None:
    """Neither header values nor a query are in the representation of a request."""
    assert repr(request()) == "Request(POST https://api.test/v1, headers=['x-api-key'])"


@pytest.mark.parametrize("value", ["key\nx: y", "ключ", "a\x00"])
def test_a_header_value_that_cannot_be_sent_is_refused_without_showing_it(value: str) -> None:
    """A key with line breaks or other letters is refused by name, before a platform's error could repeat it."""
    with pytest.raises(InvalidArgumentError, match="'authorization'") as raised:
        Request(method="GET", url="https://api.test", headers={"Authorization": value})
    assert value not in str(raised.value)


async def test_a_body_read_to_its_end_is_released_not_aborted() -> None:
    """After the last chunk nothing is aborted, by whatever is called later."""
    transport = three_chunks()
    response = await opened(transport)
    assert [chunk async for chunk in response] == [b"one", b"two", b"three"]
    response.abort()
    await response.aclose()
    del response
    assert (transport.open, transport.aborted) == (0, 0)


async def test_break_aborts_before_the_next_statement() -> None:
    """Leaving the loop ends the exchange at once, although the response is still referenced."""
    transport = three_chunks()
    response = await opened(transport)
    async for _ in response:
        break
    assert (transport.open, transport.aborted) == (0, 1)
    with pytest.raises(TransportError, match="aborted"):
        await anext(response)


async def test_an_exception_in_the_loop_aborts() -> None:
    """The consumer's own exception passes unchanged, and the body is aborted."""
    transport = three_chunks()
    response = await opened(transport)

    async def fail() -> None:
        async for chunk in response:
            raise ZeroDivisionError(chunk)

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert transport.aborted == 1


async def test_dropping_a_response_aborts() -> None:
    """A response that nobody holds any more is aborted without the help of the garbage collector."""
    transport = three_chunks()
    gc.disable()
    try:
        await opened(transport)
        assert transport.aborted == 1
    finally:
        gc.enable()


async def test_aborting_twice_is_once() -> None:
    """The wire sees one abort."""
    transport = three_chunks()
    response = await opened(transport)
    response.abort()
    await response.aclose()
    assert transport.aborted == 1


async def test_read_stops_at_its_limit() -> None:
    """At most so many bytes are read; the rest of a longer body is aborted."""
    transport = three_chunks()
    assert await (await opened(transport)).read(5) == b"onetw"
    assert transport.aborted == 1
    assert await (await opened(transport)).read(100) == b"onetwothree"
    assert transport.aborted == 1


@pytest.mark.parametrize(
    ("url", "https_page", "allow", "code"),
    [
        ("https://api.test", True, False, None),
        ("http://example.com", False, False, "insecure_url"),
        ("http://example.com", False, True, None),
        ("http://192.168.0.2/v1", True, True, "mixed_content"),
        ("http://localhost:11434", True, False, None),
        ("http://127.0.0.1", False, False, None),
        ("http://[::1]:8080", False, False, None),
    ],
)
def test_providers_61_plain_http_is_for_this_machine(url: str, https_page: bool, allow: bool, code: str | None) -> None:
    """Plain http leaves this machine only where it is allowed, and from an https page never."""
    sent = request(url, allow_insecure=allow)
    if code is None:
        refuse_insecure(sent, https_page=https_page)
        return
    with pytest.raises(TransportError) as raised:
        refuse_insecure(sent, https_page=https_page)
    assert (raised.value.code, raised.value.retryable) == (code, False)


def test_an_origin_has_no_query_and_no_user() -> None:
    """What errors name of an address holds no secret."""
    assert origin("https://user:pass@api.test:8443/v1?key=x") == "https://api.test:8443"
    assert origin("http://[::1]:1/x") == "http://[::1]:1"


async def test_an_async_function_is_a_transport() -> None:
    """Whatever is called with a request and gives a response can stand for a transport."""
    transport = three_chunks()

    async def through(sent: Request) -> Response:
        return await transport.send(sent)

    assert (await sender(through)(request())).status == 200
    assert (await sender(transport)(request())).status == 200
