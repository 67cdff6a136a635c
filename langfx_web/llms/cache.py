"""Kept answers: the contract of a cache, one in memory, and the key that stands for all that shapes an answer."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeVar

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import InvalidArgumentError
from langfx_web.llms.request import ModelRequest
from langfx_web.llms.sampling import SamplingResult
from langfx_web.messages.codec import encode
from langfx_web.transport.timeouts import seconds
from langfx_web.usage import COUNTS, Usage

KEY_VERSION = 1

Answer = TypeVar("Answer")

_ZEROS: dict[str, Any] = dict.fromkeys(COUNTS, 0)

NOTHING_SPENT = Usage(**_ZEROS, num_requests=0)
"""What a kept answer costs."""

_SHAPES_AN_ANSWER = ("role", "parts", "callId", "name", "isError")
_WHOLE = ("stop", "tool_calls")


@dataclass(slots=True, kw_only=True)
class CacheStats:
    """What a cache has been asked for. An expired entry counts as a miss too; `num_errors` are its failures."""

    num_queries: int = 0
    num_hits: int = 0
    num_hit_expires: int = 0
    num_misses: int = 0
    num_updates: int = 0
    num_deletes: int = 0
    num_errors: int = 0


class Cache(Protocol):
    """A place for answers. One `namespace` never sees the entries of another."""

    namespace: str
    stats: CacheStats

    async def get(self, key: str) -> SamplingResult | None:
        """The answer kept under a key, or None."""

    async def put(self, key: str, result: SamplingResult) -> None:
        """Keep an answer."""

    async def delete(self, key: str) -> None:
        """Remove an answer, if it is there."""


CACHE_PARTS = ("namespace", "stats", "get", "put", "delete")
"""What every cache has."""


class InMemoryCache:
    """Keeps up to `max_entries` answers, each for `ttl` seconds after it was written (None: for ever).

    The one that was not used for longest makes room for a new one.
    """

    def __init__(
        self, max_entries: int = 1000, ttl: float | None = None, namespace: str = "", *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        if not isinstance(max_entries, int) or isinstance(max_entries, bool) or max_entries < 1:
            raise InvalidArgumentError(
                f"max_entries must be 1 or more, not {max_entries!r}", details={"option": "max_entries"}
            )
        self.namespace = namespace
        self.stats = CacheStats()
        self._max_entries = max_entries
        self._ttl = seconds(ttl, "ttl")
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, SamplingResult]] = OrderedDict()

    async def get(self, key: str) -> SamplingResult | None:
        """The answer kept under a key, or None."""
        self.stats.num_queries += 1
        found = self._entries.get(key)
        if found is not None and self._ttl is not None and self._clock.monotonic() - found[0] >= self._ttl:
            self.stats.num_hit_expires += 1
            del self._entries[key]
            found = None
        if found is None:
            self.stats.num_misses += 1
            return None
        self.stats.num_hits += 1
        self._entries.move_to_end(key)
        return found[1]

    async def put(self, key: str, result: SamplingResult) -> None:
        """Keep an answer."""
        self.stats.num_updates += 1
        self._entries[key] = (self._clock.monotonic(), result)
        self._entries.move_to_end(key)
        while len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)

    async def delete(self, key: str) -> None:
        """Remove an answer, if it is there."""
        if self._entries.pop(key, None) is not None:
            self.stats.num_deletes += 1

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"InMemoryCache({self.namespace!r}, {len(self._entries)} entries)"


def request_plain(request: ModelRequest) -> Any:
    """All of a request that shapes its answer, as a JSON value."""
    messages = [encode(message) for message in request.messages]
    return {
        "messages": [{key: plain[key] for key in _SHAPES_AN_ANSWER if key in plain} for plain in messages],
        "tools": [[tool.name, tool.description, tool.input_schema] for tool in request.tools],
        "tool_choice": request.tool_choice,
        "schema": request.schema,
        "options": asdict(request.options),
        "drop_thoughts": request.drop_thoughts,
    }


def cache_key(*, namespace: str, scope: Sequence[str], seed: int, body: Any) -> str:
    """The key of an answer: the same for the same body in the same scope, whatever the order of its fields."""
    named = [KEY_VERSION, namespace, *scope, seed, body]
    written = json.dumps(named, sort_keys=True, separators=(",", ":"), default=repr)
    return hashlib.sha256(written.encode()).hexdigest()


async def kept_or_asked(cache: Cache, key: str, ask: Callable[[], Awaitable[SamplingResult]]) -> SamplingResult:
    """The answer kept under a key, at no cost; else the one that `ask` gives, kept if it is whole.

    A cache that fails is passed over; one that could not be read is not written either.
    """
    is_read, found = await _tried(cache, cache.get(key))
    if found is not None:
        return _at_no_cost(found)
    result = _named(await ask(), key)
    if is_read and all(sample.response.finish_reason in _WHOLE for sample in result.samples):
        await _tried(cache, cache.put(key, result))
    return result


async def _tried(cache: Cache, answer: Awaitable[Answer]) -> tuple[bool, Answer | None]:
    """Whether the cache has answered, and what."""
    try:
        return True, await answer
    except Exception:  # noqa: BLE001  # a cache is a help: its failures are counted, and hide no answer
        cache.stats.num_errors += 1
        return False, None


def _named(result: SamplingResult, key: str) -> SamplingResult:
    """The result with its key, which its messages have too, so that they can be forgotten."""
    samples = [
        replace(sample, response=sample.response.replace(metadata={**sample.response.metadata, "cache_key": key}))
        for sample in result.samples
    ]
    return replace(result, samples=samples, cache_key=key)


def _at_no_cost(result: SamplingResult) -> SamplingResult:
    samples = [replace(sample, response=sample.response.replace(usage=NOTHING_SPENT)) for sample in result.samples]
    return replace(result, samples=samples, is_cached=True, usage=NOTHING_SPENT, cached_usage=result.usage)
