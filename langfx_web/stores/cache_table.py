"""Cached answers as a store keeps them: opaque bytes by namespace and key, the least recently used making room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from langfx_web.clock import Clock
from langfx_web.errors import InvalidArgumentError
from langfx_web.stores.base import MIB

MAX_CACHED = MIB
"""Bytes of one entry."""
CACHE_ENTRIES = 1000
CACHE_BYTES = 32 * MIB
"""Entries and bytes of one namespace, unless it is told otherwise."""


class Cached(NamedTuple):
    """An entry: when it was written, in seconds since 1970, and its bytes."""

    written: float
    data: bytes


class CacheTable(Protocol):
    """The entries of one namespace; two tabs that write one key leave what was written last.

    A table may lose any entry at any time, and does so with one that is damaged or dated in the future.
    """

    async def get(self, key: str) -> Cached | None:
        """An entry, which counts as used now."""

    async def put(self, key: str, data: bytes) -> bool:
        """Keep bytes under a key, and say whether they are: not above 1 MiB, then the entry before them is gone too."""

    async def delete(self, key: str) -> bool:
        """Remove an entry; whether there was one."""

    async def clear(self) -> None:
        """Remove all entries of the namespace."""


class CacheStore(Protocol):
    """A store that has room for cached answers."""

    def cache(self, namespace: str, *, max_entries: int = CACHE_ENTRIES, max_bytes: int = CACHE_BYTES) -> CacheTable:
        """The table of a namespace; no I/O. Above a limit, the least recently used entries go until 90 % of it."""


Tables = dict[str, OrderedDict[str, Cached]]
"""Entries by namespace and key, the least recently used first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCacheTable:
    """A namespace in memory; `tables` gives all of them, or raises where the store was closed."""

    tables: Callable[[], Tables]
    namespace: str
    max_entries: int
    max_bytes: int
    clock: Clock

    def __post_init__(self) -> None:
        for name in ("max_entries", "max_bytes"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidArgumentError(f"{name} must be 1 or more, not {value!r}", details={"option": name})

    async def get(self, key: str) -> Cached | None:
        """An entry, which counts as used now; one dated in the future is gone."""
        entries = self._entries()
        found = entries.get(key)
        if found is None:
            return None
        if found.written > self._now():
            del entries[key]
            return None
        entries.move_to_end(key)
        return found

    async def put(self, key: str, data: bytes) -> bool:
        """Keep bytes under a key, and say whether they are."""
        entries = self._entries()
        entries.pop(key, None)
        if len(data) > min(MAX_CACHED, self.max_bytes):
            return False
        entries[key] = Cached(self._now(), bytes(data))
        self._make_room(entries)
        return True

    async def delete(self, key: str) -> bool:
        """Remove an entry; whether there was one."""
        return self._entries().pop(key, None) is not None

    async def clear(self) -> None:
        """Remove all entries of the namespace."""
        self._entries().clear()

    def _make_room(self, entries: OrderedDict[str, Cached]) -> None:
        size = sum(len(entry.data) for entry in entries.values())
        if len(entries) <= self.max_entries and size <= self.max_bytes:
            return
        while len(entries) > 1 and (len(entries) > self.max_entries * 0.9 or size > self.max_bytes * 0.9):
            size -= len(entries.popitem(last=False)[1].data)

    def _entries(self) -> OrderedDict[str, Cached]:
        return self.tables().setdefault(self.namespace, OrderedDict())

    def _now(self) -> float:
        return self.clock.now().timestamp()
