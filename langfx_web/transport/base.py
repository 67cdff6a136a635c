"""One HTTP exchange: what is asked, what comes back, and the one method in between."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

from langfx_web.errors import InvalidArgumentError, TransportError

T_co = TypeVar("T_co", covariant=True)

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Hosts that may be reached without TLS."""

_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Request:
    """What is sent. Header names are lower-cased; a value that is not printable ASCII is `invalid_argument`."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    allow_insecure: bool = False

    def __post_init__(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        for name, value in headers.items():
            # Checked here because the platforms' own errors would repeat the value, which may be a key.
            if not _HEADER_VALUE.fullmatch(value):
                raise InvalidArgumentError(
                    f"the value of header {name!r} has characters that a header cannot carry",
                    details={"option": "headers", "header": name},
                )
        object.__setattr__(self, "headers", headers)

    def __repr__(self) -> str:
        return f"Request({self.method} {self.url.partition('?')[0]}, headers={sorted(self.headers)})"


class Body(Protocol):
    """The bytes of an answer as one transport has them."""

    async def next(self) -> bytes:
        """The next bytes as they came; empty at the end, where the body lets go of its connection by itself."""

    def abort(self) -> None:
        """Give the rest up, at once and without waiting; doing so twice, or after the end, does nothing."""


class Abortable(Protocol[T_co]):
    """Something that is read step by step and can be given up."""

    def __anext__(self) -> Awaitable[T_co]: ...

    def abort(self) -> None: ...


class Reading(Generic[T_co]):
    """One `async for` over a source: leaving the loop in any way aborts the source before the next statement runs.

    The loop holds the only reference, so its end, by `break` or by an exception, is the end of this object.
    """

    __slots__ = ("_source",)

    def __init__(self, source: Abortable[T_co]) -> None:
        self._source = source

    def __aiter__(self) -> Reading[T_co]:
        return self

    def __anext__(self) -> Awaitable[T_co]:
        return self._source.__anext__()

    def __del__(self) -> None:
        self._source.abort()


class Response:
    """An answer whose headers are there; `async for chunk in response` gives its bytes as they come.

    Header names are lower-case; a browser shows only those that the server exposes. A body that is read to its end is
    released; one that is left earlier, in whatever way, is aborted.
    """

    __slots__ = ("_body", "_state", "headers", "status", "url")

    def __init__(self, status: int, headers: Mapping[str, str], url: str, body: Body) -> None:
        self._body = body
        self._state = "open"
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.url = url

    def __aiter__(self) -> AsyncIterator[bytes]:
        return Reading(self)

    async def __anext__(self) -> bytes:
        if self._state == "ended":
            raise StopAsyncIteration
        if self._state == "aborted":
            raise TransportError("the exchange was aborted", code="body_broken")
        try:
            chunk = await self._body.next()
        except BaseException:
            self.abort()
            raise
        if not chunk:
            self._state = "ended"
            raise StopAsyncIteration
        return chunk

    async def read(self, limit: int) -> bytes:
        """The body, at most `limit` bytes of it; what is longer is aborted there."""
        pieces: list[bytes] = []
        room = limit
        async for chunk in self:
            pieces.append(chunk[:room])
            room -= len(pieces[-1])
            if not room:
                break
        return b"".join(pieces)

    def abort(self) -> None:
        """Give the rest up; nothing happens where the body was read to its end."""
        if self._state == "open":
            self._state = "aborted"
            self._body.abort()

    async def aclose(self) -> None:
        """The same as `abort`."""
        self.abort()

    def __del__(self) -> None:
        self.abort()

    def __repr__(self) -> str:
        return f"Response({self.status}, {self._state})"


Send: TypeAlias = Callable[[Request], Awaitable[Response]]
"""An exchange as a function; an async callable of this shape is a transport too."""


class Transport(Protocol):
    """What carries a request."""

    async def send(self, request: Request) -> Response:
        """Send, and return when the headers are there; `TransportError` says what went wrong on the way."""


def sender(transport: Transport | Send) -> Send:
    """The function of a transport, given as an object or as that function."""
    return transport if callable(transport) else transport.send


def origin(url: str) -> str:
    """Scheme, host and port of a URL: what an error may name of it."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


def refuse_insecure(request: Request, *, https_page: bool = False) -> None:
    """Raise `mixed_content` or `insecure_url` for a plain `http:` address that is not this machine."""
    parts = urlsplit(request.url)
    if parts.scheme != "http" or parts.hostname in LOOPBACK:
        return
    if https_page:
        raise TransportError(
            f"{origin(request.url)} cannot be reached from an https page: browsers block plain http there",
            code="mixed_content",
        )
    if not request.allow_insecure:
        raise TransportError(
            f"{origin(request.url)} is not encrypted, so nothing was sent; allow_insecure=True sends it all the same",
            code="insecure_url",
        )
