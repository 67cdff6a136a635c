"""A model as a session hands it to queries: each request is counted where it was made, once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Self, TypeAlias

from langfx_web.errors import LMError
from langfx_web.llms import LanguageModel, ModelRequest, ModelStream, Prompt, SamplingResult, StreamChunk
from langfx_web.llms.stream import Deltas
from langfx_web.messages import AIMessage
from langfx_web.transport.base import Reading
from langfx_web.usage import Usage

Spent: TypeAlias = Callable[[Usage | None], None]


class CountedModel(LanguageModel):
    """Another model, with everything that it has; `spent` is told the cost of each request, failed ones included."""

    def __init__(self, lm: LanguageModel, spent: Spent) -> None:
        vars(self).update(vars(lm), provider=lm.provider)
        self._lm = lm
        self._spent = spent

    async def __call__(self, prompt: Prompt, **options: Any) -> AIMessage:
        """One answer, counted."""
        try:
            answer = await self._lm(prompt, **options)
        except LMError as error:
            self._spent(error.usage)
            raise
        self._spent(answer.usage)
        return answer

    def stream(self, prompt: Prompt, **options: Any) -> CountedStream:  # type: ignore[override]  # the same to a reader
        """One answer as it comes, counted at its end."""
        return CountedStream(self._lm.stream(prompt, **options), self._spent)

    async def sample(self, prompts: Iterable[Prompt], **options: Any) -> list[SamplingResult]:
        """Many answers, counted together."""
        results = await self._lm.sample(prompts, **options)
        for result in results:
            self._spent(result.usage)
        return results

    async def forget(self, cache_key: str) -> None:
        """Remove a kept answer."""
        await self._lm.forget(cache_key)

    def with_options(self, **changes: Any) -> Self:
        """A copy with other options, counted in the same place."""
        return type(self)(self._lm.with_options(**changes), self._spent)

    def _stream(self, request: ModelRequest) -> Deltas:
        return self._lm._stream(request)


class CountedStream:
    """A stream of chunks whose cost is told once: with its final chunk, or with the error that ends it."""

    def __init__(self, stream: ModelStream, spent: Spent) -> None:
        self._stream = stream
        self._spent = spent

    def __aiter__(self) -> AsyncIterator[StreamChunk]:
        return Reading(self)

    async def __anext__(self) -> StreamChunk:
        try:
            chunk = await self._stream.__anext__()
        except LMError as error:
            self._spent(error.usage)
            raise
        if chunk.final and chunk.index == 0:
            self._spent(chunk.usage)
        return chunk

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
