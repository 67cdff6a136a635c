"""A model as a session hands it out: each request is paid for before it is sent, counted and kept in one node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from langfx_web.agentic.trace import OpenNode
from langfx_web.errors import LMError
from langfx_web.llms import LanguageModel, ModelInfo, ModelRequest, Prompt, SamplingResult, StreamChunk
from langfx_web.llms.request import transcript
from langfx_web.llms.stream import Deltas
from langfx_web.llms.wrapper import Chunks, StreamWrapper
from langfx_web.messages import AIMessage
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web.agentic.budget import Account


class Meter:
    """Where the requests of one node are counted. `keeps_texts` says whether the node has what was said, too."""

    __slots__ = ("_account", "_keeps_texts", "_node")

    def __init__(self, node: OpenNode, account: Account | None, *, keeps_texts: bool = True) -> None:
        self._node = node
        self._account = account
        self._keeps_texts = keeps_texts

    def sending(self, request: ModelRequest) -> None:
        """A request is about to be sent; `budget_exceeded` where it may not be."""
        if self._account is not None:
            self._account.reserve()
        self._node.requests += 1
        if self._keeps_texts:
            self._node.asked(request.messages)

    def spent(self, usage: Usage | None) -> None:
        """What requests cost that were sent, None where that is not known."""
        if usage is not None and usage.num_requests:
            self._node.spend(usage)
            if self._account is not None:
                self._account.spend(usage)

    def answered(self, answer: AIMessage, usage: Usage | None, prompt: Prompt | None = None) -> None:
        """An answer is there; one that cost no request was kept."""
        node = self._node
        if usage is not None and not usage.num_requests:
            node.cached += 1
            if self._keeps_texts and prompt is not None:
                node.asked(transcript(prompt))
        self.spent(usage)
        if self._keeps_texts:
            node.repairs += node.response is not None
            node.answered(answer)


class CountedModel(LanguageModel):
    """Another model, with everything that it has; `meter` is told of each request, failed ones included."""

    def __init__(self, lm: LanguageModel, meter: Meter) -> None:
        vars(self).update(vars(lm), provider=lm.provider)
        self._lm = lm
        self._watched = lm.watched(meter.sending)
        self._meter = meter

    async def __call__(self, prompt: Prompt, **options: Any) -> AIMessage:
        """One answer, counted."""
        try:
            answer = await self._watched(prompt, **options)
        except LMError as error:
            self._meter.spent(error.usage)
            raise
        self._meter.answered(answer, answer.usage, prompt)
        return answer

    def stream(self, prompt: Prompt, **options: Any) -> CountedStream:  # type: ignore[override]  # the same to a reader
        """One answer as it comes, counted at its end."""
        return CountedStream(self._watched.stream(prompt, **options), self._meter)

    async def sample(self, prompts: Iterable[Prompt], **options: Any) -> list[SamplingResult]:
        """Many answers, counted together."""
        prompts = list(prompts)
        results = await self._watched.sample(prompts, **options)
        for prompt, result in zip(prompts, results, strict=True):
            self._meter.answered(result.samples[0].response, result.usage, prompt)
        return results

    async def forget(self, cache_key: str) -> None:
        """Remove a kept answer."""
        await self._lm.forget(cache_key)

    async def list_models(self) -> list[ModelInfo]:
        """What the provider has of models; nothing that costs."""
        return await self._lm.list_models()

    def with_options(self, **changes: Any) -> Self:
        """A copy with other options, counted in the same place."""
        return type(self)(self._lm.with_options(**changes), self._meter)

    def _stream(self, request: ModelRequest) -> Deltas:
        return self._watched._stream(request)


class CountedStream(StreamWrapper):
    """A stream of chunks whose cost is told once: with its final chunk, or with the error that ends it."""

    def __init__(self, stream: Chunks, meter: Meter) -> None:
        super().__init__(stream)
        self._meter = meter

    async def arrived(self) -> list[StreamChunk]:
        """All chunks that are there, waited for where there are none; [] after the last."""
        try:
            chunks = await super().arrived()
        except LMError as error:
            self._meter.spent(error.usage)
            raise
        for chunk in chunks:
            if chunk.final and chunk.index == 0:
                self._meter.answered(chunk.aggregated, chunk.usage)
        return chunks
