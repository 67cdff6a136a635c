"""A cache whose answers live in a store, next to the conversations, and so may outlive the page."""

from __future__ import annotations

from typing import Any

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import InvalidArgumentError, InvalidValueError, JSONTextError
from langfx_web.json_text import dumps, loads
from langfx_web.llms.cache import CacheStats
from langfx_web.llms.sampling import Sample, SamplingResult
from langfx_web.messages import AIMessage, codec
from langfx_web.stores.cache_table import CACHE_ENTRIES, Cached, CacheStore
from langfx_web.transport.timeouts import seconds
from langfx_web.usage import Usage

VERSION = 1


class StoreCache:
    """Keeps up to `max_entries` answers in a store, each for `ttl` seconds after it was written (None: for ever).

    Those that were not used for longest make room for new ones. Answers above 1 MiB are not kept; what was damaged, or
    written by a newer release, is not found.
    """

    def __init__(
        self,
        store: CacheStore,
        max_entries: int = CACHE_ENTRIES,
        ttl: float | None = None,
        namespace: str = "",
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        if not callable(getattr(store, "cache", None)):
            raise InvalidArgumentError(
                f"store: a {type(store).__name__} has no room for answers", details={"option": "store"}
            )
        self.namespace = namespace
        self.stats = CacheStats()
        self._table = store.cache(namespace, max_entries=max_entries)
        self._ttl = seconds(ttl, "ttl")
        self._clock = clock

    async def get(self, key: str) -> SamplingResult | None:
        """The answer kept under a key, or None."""
        self.stats.num_queries += 1
        found = await self._table.get(key)
        if found is not None and self._is_old(found):
            self.stats.num_hit_expires += 1
            await self._table.delete(key)
            found = None
        result = None if found is None else _read(found.data)
        if result is None:
            self.stats.num_misses += 1
        else:
            self.stats.num_hits += 1
        return result

    async def put(self, key: str, result: SamplingResult) -> None:
        """Keep an answer, if it is not too large."""
        if await self._table.put(key, _written(result)):
            self.stats.num_updates += 1

    async def delete(self, key: str) -> None:
        """Remove an answer, if it is there."""
        if await self._table.delete(key):
            self.stats.num_deletes += 1

    async def clear(self) -> None:
        """Remove all answers of the namespace."""
        await self._table.clear()

    def _is_old(self, found: Cached) -> bool:
        return self._ttl is not None and self._clock.now().timestamp() - found.written >= self._ttl

    def __repr__(self) -> str:
        return f"StoreCache({self.namespace!r})"


def _written(result: SamplingResult) -> bytes:
    plain = {
        "v": VERSION,
        "samples": [
            {"response": codec.encode(sample.response), "score": sample.score, "logprobs": sample.logprobs}
            for sample in result.samples
        ],
        "usage": result.usage and result.usage.to_plain(),
        "cache_key": result.cache_key,
        "model": result.model,
        "response_id": result.response_id,
    }
    return dumps(plain).encode()


def _read(data: bytes) -> SamplingResult | None:
    """The answer that was written so; None where it cannot be read."""
    try:
        plain = loads(data)
        if plain["v"] > VERSION:
            return None
        return SamplingResult(
            samples=[_sample(sample) for sample in plain["samples"]],
            usage=None if plain["usage"] is None else Usage.from_plain(plain["usage"]),
            cache_key=plain["cache_key"],
            model=plain["model"],
            response_id=plain["response_id"],
        )
    except (JSONTextError, InvalidValueError, TypeError, KeyError):
        return None


def _sample(plain: dict[str, Any]) -> Sample:
    response = codec.decode(plain["response"])
    if not isinstance(response, AIMessage):
        raise TypeError("a kept answer is an assistant's message")
    return Sample(response=response, score=plain["score"], logprobs=plain["logprobs"])
