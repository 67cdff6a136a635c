"""A model as a session hands it to queries: each request is counted where it was made, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self, TypeAlias

from langfx_web.errors import LMError
from langfx_web.llms import LanguageModel, ModelInfo, ModelRequest, Prompt, SamplingResult, StreamChunk
from langfx_web.llms.stream import Deltas
from langfx_web.llms.wrapper import Chunks, StreamWrapper
from langfx_web.messages import AIMessage
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

    async def list_models(self) -> list[ModelInfo]:
        """What the provider has of models; nothing that costs."""
        return await self._lm.list_models()

    def with_options(self, **changes: Any) -> Self:
        """A copy with other options, counted in the same place."""
        return type(self)(self._lm.with_options(**changes), self._spent)

    def _stream(self, request: ModelRequest) -> Deltas:
        return self._lm._stream(request)


class CountedStream(StreamWrapper):
    """A stream of chunks whose cost is told once: with its final chunk, or with the error that ends it."""

    def __init__(self, stream: Chunks, spent: Spent) -> None:
        super().__init__(stream)
        self._spent = spent

    async def arrived(self) -> list[StreamChunk]:
        """All chunks that are there, waited for where there are none; [] after the last."""
        try:
            chunks = await super().arrived()
        except LMError as error:
            self._spent(error.usage)
            raise
        for chunk in chunks:
            if chunk.final and chunk.index == 0:
                self._spent(chunk.usage)
        return chunks
