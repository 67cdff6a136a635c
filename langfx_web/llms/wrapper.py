"""A stream around another: everything is handed on, and a subclass changes how the next chunk comes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol, Self

from langfx_web.llms.sampling import StreamChunk
from langfx_web.transport.base import Reading


class Chunks(Protocol):
    """An answer as it comes, which can be left."""

    async def __anext__(self) -> StreamChunk: ...

    def abort(self) -> None:
        """End the request at once, where it is still going on."""

    async def aclose(self) -> None:
        """End the request, and wait until the model has let go of it."""


class StreamWrapper:
    """Another stream; leaving a loop over this one ends that one."""

    def __init__(self, stream: Chunks) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[StreamChunk]:
        return Reading(self)

    async def __anext__(self) -> StreamChunk:
        return await self._stream.__anext__()

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
