"""The store in memory: the contract, and what its names mean."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from langfx_web.stores import MemoryStore, Store
from langfx_web.testing import ManualClock
from tests.stores.conformance import HoldConformance, an_input


class TestMemoryStore(HoldConformance):
    """Everything a store must do."""

    @pytest.fixture
    def open_store(self) -> Callable[[str], Store]:
        """Stores of one name share their sessions while one of them lives."""
        return MemoryStore


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
