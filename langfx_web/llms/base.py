"""`LanguageModel`: asking for one answer, many answers or a stream of one, over a single streaming hook."""

from __future__ import annotations

import asyncio
import copy
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import InvalidArgumentError, LangfxError, UnsupportedCapabilityError
from langfx_web.llms import kinds
from langfx_web.llms.cache import CACHE_PARTS, Cache, cache_key, kept_or_asked, request_plain
from langfx_web.llms.listing import ModelInfo
from langfx_web.llms.media import lacking, shown
from langfx_web.llms.request import Capabilities, ModelRequest, Prompt, check, thoughts_were_dropped, transcript
from langfx_web.llms.retry import RetryPolicy
from langfx_web.llms.sampling import Sample, SamplingOptions, SamplingResult, StreamChunk
from langfx_web.llms.stream import Attempts, Deltas, ModelStream
from langfx_web.messages import AIMessage, Modality, ToolChoice, ToolDeclaration
from langfx_web.transport.timeouts import seconds

Sending: TypeAlias = Callable[[ModelRequest], None]
"""What is told of a request before it is sent."""


class LanguageModel(ABC):
    """A model that answers conversations. A subclass implements `_stream`; everything else follows from it.

    `timeout` bounds all waiting for one answer, retries included, in seconds. `max_attempts` counts all attempts, None
    is one. `cache` keeps the answers of calls and samples, never those of streams. `capabilities` overrides what the
    class declares, `replays` adds tags of thoughts that may be sent back. Other keywords are fields of
    `SamplingOptions`. Holds no state of a call: any number of tasks may use one object.
    """

    provider: ClassVar[str] = "custom"
    declared: ClassVar[Capabilities] = Capabilities()
    replay_tags: ClassVar[frozenset[str]] = frozenset()
    lanes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """The options that ask for a faster lane, by the lane's name: `fast`, `ultrafast`."""

    SETTINGS: ClassVar[frozenset[str]] = frozenset(
        {
            "cache",
            "capabilities",
            "clock",
            "exponential_backoff",
            "max_attempts",
            "max_concurrency",
            "max_retry_interval",
            "model",
            "replays",
            "retry_interval",
            "timeout",
        }
    )
    """What `with_options` may change beside sampling options."""

    model: str
    timeout: float | None
    max_attempts: int | None
    retry_interval: float
    exponential_backoff: bool
    max_retry_interval: float
    max_concurrency: int
    cache: Cache | None
    capabilities: Capabilities
    replays: frozenset[str]
    clock: Clock
    options: SamplingOptions
    _watchers: tuple[Sending, ...] = ()

    def __init__(
        self,
        model: str = "",
        *,
        timeout: float | None = 600.0,
        max_attempts: int | None = None,
        retry_interval: float = 0.5,
        exponential_backoff: bool = True,
        max_retry_interval: float = 60.0,
        max_concurrency: int = 8,
        cache: Cache | None = None,
        capabilities: Capabilities | Mapping[str, Any] | None = None,
        replays: Iterable[str] = (),
        clock: Clock = SYSTEM_CLOCK,
        **options: Any,
    ) -> None:
        self._only = _new_token()
        self.options = SamplingOptions().merged(options)
        self._set(
            model=model,
            timeout=timeout,
            max_attempts=max_attempts,
            retry_interval=retry_interval,
            exponential_backoff=exponential_backoff,
            max_retry_interval=max_retry_interval,
            max_concurrency=max_concurrency,
            cache=cache,
            capabilities=capabilities,
            replays=replays,
            clock=clock,
        )

    @abstractmethod
    def _stream(self, request: ModelRequest) -> Deltas:
        """Stream one answer: deltas, or lists of those that arrived together; a plain str is visible text."""

    async def __call__(
        self,
        prompt: Prompt,
        *,
        tools: Sequence[ToolDeclaration] = (),
        tool_choice: ToolChoice | None = None,
        schema: Mapping[str, Any] | None = None,
        cache_seed: int | None = 0,
        **options: Any,
    ) -> AIMessage:
        """One answer to a prompt; `cache_seed` tells kept answers apart where a model keeps any, None asks anew."""
        request = self._request(prompt, tools, tool_choice, schema, options)
        if request.options.n > 1:
            raise InvalidArgumentError("a call gives one answer: use sample() for n > 1", details={"option": "n"})
        return (await self._result(request, cache_seed)).samples[0].response

    def stream(
        self,
        prompt: Prompt,
        *,
        tools: Sequence[ToolDeclaration] = (),
        tool_choice: ToolChoice | None = None,
        schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> ModelStream:
        """One answer as it comes; nothing is sent before the first chunk is asked for."""
        return self._open(self._request(prompt, tools, tool_choice, schema, options))

    async def sample(
        self,
        prompts: Iterable[Prompt],
        *,
        tools: Sequence[ToolDeclaration] = (),
        tool_choice: ToolChoice | None = None,
        schema: Mapping[str, Any] | None = None,
        cache_seed: int | None = 0,
        **options: Any,
    ) -> list[SamplingResult]:
        """Answers to many prompts, in their order, at most `max_concurrency` at a time; `cache_seed` as in a call.

        The first failure cancels the others and is raised.
        """
        asked = kinds.several("prompts", prompts)
        requests = [self._request(prompt, tools, tool_choice, schema, options) for prompt in asked]
        results: dict[int, SamplingResult] = {}
        failures: list[Exception] = []
        waiting = iter(enumerate(requests))

        async def work() -> None:
            try:
                for place, request in waiting:
                    results[place] = await self._result(request, cache_seed)
            except Exception as error:  # noqa: BLE001  # raised below; a failing task would be reported as unhandled
                failures.append(error)
                for worker in workers:
                    if worker is not asyncio.current_task():
                        worker.cancel()

        workers = [asyncio.create_task(work()) for _ in range(min(self.max_concurrency, len(requests)))]
        try:
            await asyncio.gather(*workers, return_exceptions=True)
        finally:
            for worker in workers:
                worker.cancel()
        if failures:
            raise failures[0]
        return [results[place] for place in range(len(requests))]

    async def list_models(self) -> list[ModelInfo]:
        """What the provider has of models, as far as it tells; `unsupported_capability` where it cannot be asked."""
        raise UnsupportedCapabilityError("this model has no list of others", details={"capability": "list_models"})

    async def forget(self, cache_key: str) -> None:
        """Remove a kept answer, by the `cache_key` in its message's metadata; without a cache there is none."""
        if self.cache is not None:
            await self.cache.delete(cache_key)

    def cache_scope(self) -> Sequence[str]:
        """Whose answers this model may share, beside the request: those of nobody else, unless a wire says more."""
        return (self._only,)

    async def _result(self, request: ModelRequest, cache_seed: int | None) -> SamplingResult:
        async def ask() -> SamplingResult:
            return _sampled(await self._open(request).finals())

        key = self._cache_key(request, cache_seed)
        if self.cache is None or key is None:
            return await ask()
        return await kept_or_asked(self.cache, key, ask)

    def _cache_key(self, request: ModelRequest, seed: int | None) -> str | None:
        """The key of a request; None where nothing is kept, or where asking will say what is wrong with it."""
        if self.cache is None or seed is None:
            return None
        try:
            check(request, self.capabilities)
            body = self._plain(shown(request, self._lacks))
        except LangfxError:
            return None
        return cache_key(namespace=self.cache.namespace, scope=self.cache_scope(), seed=seed, body=body)

    def _plain(self, request: ModelRequest) -> Any:
        """All that shapes the answer to a request, as a JSON value."""
        return request_plain(request)

    def with_options(self, **changes: Any) -> Self:
        """A copy with some settings or sampling options changed; everything else, such as the transport, is shared."""
        twin = copy.copy(self)
        twin._only = _new_token()
        settings = {name: changes.pop(name) for name in tuple(changes) if name in self.SETTINGS}
        twin._set(**settings)
        twin.options = self.options.merged(changes)
        return twin

    def watched(self, sending: Sending) -> Self:
        """The same model, cache included, that tells `sending` of each request before it is sent, retries too.

        What `sending` raises comes out in place of an answer, and that request is not sent.
        """
        twin = copy.copy(self)
        twin._watchers = (*self._watchers, sending)
        return twin

    def tell_sending(self, request: ModelRequest) -> None:
        """A request is about to be sent; for the wires that send one more than once."""
        for sending in self._watchers:
            sending(request)

    def _set(self, **settings: Any) -> None:
        for name, value in settings.items():
            setattr(self, name, self._checked(name, value))

    def _checked(self, name: str, value: Any) -> Any:
        match name:
            case "timeout":
                return seconds(value, name)
            case "max_attempts" | "max_concurrency" if value is not None or name == "max_concurrency":
                if not isinstance(value, int) or value < 1:
                    raise InvalidArgumentError(f"{name} must be 1 or more, not {value!r}", details={"option": name})
            case "retry_interval" | "max_retry_interval":
                checked = seconds(value, name)
                return math.inf if checked is None else checked
            case "capabilities":
                return getattr(self, "capabilities", self.declared).updated(value)
            case "replays":
                return frozenset(kinds.texts(name, value)) | self.replay_tags
            case "model":
                return kinds.text(name, value)
            case "exponential_backoff":
                return kinds.flag(name, value)
            case "cache" if value is not None and not all(hasattr(value, part) for part in CACHE_PARTS):
                raise kinds.wrong(name, "a Cache or None", value)
        return value

    def _request(
        self,
        prompt: Prompt,
        tools: Sequence[ToolDeclaration],
        tool_choice: ToolChoice | None,
        schema: Mapping[str, Any] | None,
        options: Mapping[str, Any],
    ) -> ModelRequest:
        messages = transcript(prompt)
        return ModelRequest(
            messages=messages,
            tools=kinds.several("tools", tools),
            tool_choice=tool_choice,
            schema=schema,
            options=self.options.merged(options),
            drop_thoughts=thoughts_were_dropped(messages),
        )

    def _open(self, request: ModelRequest) -> ModelStream:
        return self._attempted(partial(self._start, request), partial(self._seed, request))

    def _attempted(self, start: Callable[[], Deltas], seed: Callable[[], bytes]) -> ModelStream:
        """A stream whose attempts begin so, as often and as long as this model's settings say."""
        return ModelStream(
            Attempts(
                start=start,
                seed=seed,
                retry=RetryPolicy(
                    max_attempts=self.max_attempts,
                    interval=self.retry_interval,
                    exponential=self.exponential_backoff,
                    max_interval=self.max_retry_interval,
                ),
                timeout=self.timeout,
                clock=self.clock,
                provider=self.provider,
                model=self.model,
            )
        )

    def _start(self, request: ModelRequest) -> Deltas:
        check(request, self.capabilities)
        request = shown(request, self._lacks)
        self.tell_sending(request)
        return self._stream(request)

    def _lacks(self, part: Modality) -> str | None:
        """What the model would need to be shown a part, and does not have: a capability, unless a wire knows more."""
        return lacking(part, self.capabilities)

    def _seed(self, request: ModelRequest) -> bytes:
        """Bytes that stand for a request, the same for the same one."""
        return repr(request).encode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"


def _new_token() -> str:
    return os.urandom(16).hex()


def _sampled(finals: Sequence[StreamChunk]) -> SamplingResult:
    messages = [chunk.aggregated for chunk in finals]
    first = messages[0]
    return SamplingResult(
        samples=[Sample(response=message, logprobs=message.metadata.get("logprobs")) for message in messages],
        usage=first.usage,
        model=first.model,
        response_id=first.response_id,
    )
