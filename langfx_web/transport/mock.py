"""A transport without a network: answers from a script, cut and delayed as a test or a demo wants."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import TransportError
from langfx_web.transport.base import Request, Response, refuse_insecure


class Hang:
    """The type of `HANG`."""

    def __repr__(self) -> str:
        return "HANG"


HANG: Final = Hang()
"""In a body: bytes that never come. In place of a response: headers that never come."""

BodyItem: TypeAlias = bytes | float | Exception | Hang


@dataclass(frozen=True, slots=True, kw_only=True)
class MockResponse:
    """One answer. `body` is bytes (one network chunk) or a list of chunks, seconds to wait, an exception, `HANG`."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Sequence[BodyItem] = b""


Answer: TypeAlias = MockResponse | Exception | Hang
Script: TypeAlias = Sequence[Answer] | Mapping[str, Sequence[Answer]] | Callable[[Request], Awaitable[Answer]]


class MockTransport:
    """Answers requests from a script: a list in order, lists by prefix of the URL's path, or an async function.

    `requests` lists what was sent, `aborted` counts exchanges that were given up, `open` those under way. A script that
    has no answer left raises `AssertionError`.
    """

    def __init__(self, script: Script, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.requests: list[Request] = []
        self.aborted = 0
        self.open = 0
        self._clock = clock
        self._answer = script if callable(script) else _scripted(script)

    async def send(self, request: Request) -> Response:
        """Answer as the script says."""
        refuse_insecure(request)
        self.requests.append(request)
        self.open += 1
        try:
            answer = await self._answer(request)
            if isinstance(answer, Hang):
                await asyncio.get_running_loop().create_future()
        except BaseException as error:
            self.ended(aborted=isinstance(error, asyncio.CancelledError))
            raise
        if not isinstance(answer, MockResponse):
            self.ended(aborted=False)
            raise answer if isinstance(answer, Exception) else AssertionError(f"no response but {answer!r}")
        body = [answer.body] if isinstance(answer.body, bytes) else answer.body
        return Response(answer.status, answer.headers, request.url, _MockBody(self, body, self._clock))

    def ended(self, *, aborted: bool) -> None:
        """Count the end of one exchange."""
        self.open -= 1
        self.aborted += aborted


def _scripted(script: Sequence[Answer] | Mapping[str, Sequence[Answer]]) -> Callable[[Request], Awaitable[Answer]]:
    by_prefix = {
        prefix: iter(answers) for prefix, answers in (script if isinstance(script, Mapping) else {"": script}).items()
    }

    async def answer(request: Request) -> Answer:
        path = urlsplit(request.url).path
        found = [prefix for prefix in by_prefix if path.startswith(prefix)]
        left: Iterator[Answer] = by_prefix[max(found, key=len)] if found else iter(())
        for following in left:
            return following
        raise AssertionError(f"the script has no answer left for {request.method} {path}")

    return answer


class _MockBody:
    def __init__(self, transport: MockTransport, items: Sequence[BodyItem], clock: Clock) -> None:
        self._transport = transport
        self._items = iter(items)
        self._clock = clock
        self._over = False
        self._hanging: asyncio.Future[None] | None = None

    async def next(self) -> bytes:
        for item in self._items:
            if isinstance(item, Exception):
                self._end(aborted=False)
                raise item
            if isinstance(item, Hang):
                self._hanging = asyncio.get_running_loop().create_future()
                await self._hanging
            elif isinstance(item, bytes):
                if item:
                    return item
            else:
                await self._clock.sleep(item)
        self._end(aborted=False)
        return b""

    def abort(self) -> None:
        self._end(aborted=True)
        if self._hanging is not None and not self._hanging.done():
            self._hanging.set_exception(TransportError("the exchange was aborted", code="body_broken"))

    def _end(self, *, aborted: bool) -> None:
        if not self._over:
            self._over = True
            self._transport.ended(aborted=aborted)


def cut_every(body: bytes, size: int) -> list[bytes]:
    """The body in chunks of `size` bytes."""
    return [body[start : start + size] for start in range(0, len(body), size)]


def cut_at(body: bytes, offsets: Sequence[int]) -> list[bytes]:
    """The body cut at these offsets."""
    edges = [0, *sorted(offsets), len(body)]
    return [body[start:end] for start, end in pairwise(edges) if start < end]


def cut_random(body: bytes, cuts: int, seed: str | int) -> list[bytes]:
    """The body cut at so many random places, the same for the same seed."""
    if len(body) < 2:
        return [body]
    chosen = random.Random(seed).choices(range(1, len(body)), k=cuts)
    return cut_at(body, sorted(set(chosen)))
