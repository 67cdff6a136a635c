"""A stream around another: everything is handed on, and a subclass changes how chunks arrive."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Protocol, Self

from langfx_web.llms.sampling import StreamChunk
from langfx_web.transport.base import Reading


class Chunks(Protocol):
    """An answer as it comes, which can be left."""

    async def arrived(self) -> list[StreamChunk]:
        """All chunks that are there, waited for where there are none; [] after the last."""

    def abort(self) -> None:
        """End the request at once, where it is still going on."""

    async def aclose(self) -> None:
        """End the request, and wait until the model has let go of it."""


class StreamWrapper:
    """Another stream; leaving a loop over this one ends that one."""

    def __init__(self, stream: Chunks) -> None:
        self._stream = stream
        self._ready: deque[StreamChunk] = deque()

    def __aiter__(self) -> AsyncIterator[StreamChunk]:
        return Reading(self)

    async def __anext__(self) -> StreamChunk:
        if not self._ready:
            self._ready.extend(await self.arrived())
        if not self._ready:
            raise StopAsyncIteration
        return self._ready.popleft()

    async def arrived(self) -> list[StreamChunk]:
        """All chunks that are there, waited for where there are none; [] after the last."""
        return await self._stream.arrived()

    def abort(self) -> None:
        """End the request at once, where it is still going on."""
        self._stream.abort()

    async def aclose(self) -> None:
        """End the request, and wait until the model has let go of it."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
