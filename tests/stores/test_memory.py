"""The store in memory: the contract, and what its names mean."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from langfx_web.clock import Clock
from langfx_web.errors import StoreError
from langfx_web.stores import CacheStore, MemoryStore, Store
from langfx_web.testing import ManualClock
from tests.stores.cache_conformance import CacheConformance
from tests.stores.conformance import HoldConformance, an_input


class TestMemoryStore(HoldConformance):
    """Everything a store must do."""

    @pytest.fixture
    def open_store(self) -> Callable[[str], Store]:
        """Stores of one name share their sessions while one of them lives."""
        return MemoryStore


class TestMemoryCache(CacheConformance):
    """Everything that a store must do with cached answers."""

    @pytest.fixture
    def open_cache_store(self) -> Callable[[str, Clock], CacheStore]:
        """Stores of one name share their answers too."""
        return lambda name, clock: MemoryStore(name, clock=clock)


async def test_cached_answers_of_a_closed_store() -> None:
    """They are neither read nor written, as with all else."""
    store = MemoryStore()
    table = store.cache("n")
    await store.close()
    for work in (table.get("a"), table.put("a", b"x"), table.delete("a"), table.clear()):
        with pytest.raises(StoreError) as caught:
            await work
        assert caught.value.code == "store_closed"


async def test_without_a_name_nothing_is_shared() -> None:
    """Two stores without a name have nothing in common, not even the name."""
    one, other = MemoryStore(), MemoryStore()
    await one.append("s", an_input("m-1"))
    assert await other.head("s") is None
    assert one.name != other.name


async def test_a_name_is_forgotten_with_its_last_store() -> None:
    """Memory is given back when no store of the name is left."""
    first = MemoryStore("forgotten")
    await first.append("s", an_input("m-1"))
    del first
    gc.collect()
    assert await MemoryStore("forgotten").head("s") is None


async def test_times_are_those_of_its_clock() -> None:
    """Heads tell when a session began and when it last changed."""
    clock = ManualClock()
    store = MemoryStore(clock=clock)
    await store.append("s", an_input("m-1"))
    await clock.advance(90)
    head = (await store.append("s", an_input("m-2"))).head
    assert head.created_at == "2026-01-01T00:00:00.000000+00:00"
    assert head.updated_at == "2026-01-01T00:01:30.000000+00:00"
