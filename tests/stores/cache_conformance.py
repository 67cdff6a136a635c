"""What the cached answers of any store must do, as tests that a store's test module runs by subclassing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from langfx_web.clock import Clock
from langfx_web.errors import InvalidArgumentError
from langfx_web.stores import CacheStore, CacheTable
from langfx_web.testing import ManualClock


class CacheConformance:
    """Subclasses give `open_cache_store`: from a name and a clock to a store."""

    @pytest.fixture
    def open_cache_store(self) -> Callable[[str, Clock], CacheStore]:
        """How to open a store of that name."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The time of day."""
        return ManualClock()

    @pytest.fixture
    def cache_store(self, open_cache_store: Callable[[str, Clock], CacheStore], clock: ManualClock) -> CacheStore:
        """A store nobody else has."""
        return open_cache_store("cached", clock)

    @pytest.fixture
    def table(self, cache_store: CacheStore) -> CacheTable:
        """A namespace with room for ten small entries."""
        return cache_store.cache("n", max_entries=10, max_bytes=1000)

    async def test_entries_are_found_as_they_were_written(self, table: CacheTable, clock: ManualClock) -> None:
        """With the time of their writing; writing again replaces both."""
        assert await table.get("a") is None
        assert await table.put("a", b"one")
        began = clock.now().timestamp()
        await clock.advance(5)
        assert await table.get("a") == (began, b"one")
        assert await table.put("a", b"two")
        assert await table.get("a") == (began + 5, b"two")

    async def test_deleting_and_clearing(self, table: CacheTable) -> None:
        """A deleted entry is gone, and so are all of a namespace that was cleared."""
        for key in "abc":
            await table.put(key, b"x")
        assert [await table.delete("a"), await table.delete("a")] == [True, False]
        await table.clear()
        assert [await table.get(key) for key in "abc"] == [None] * 3

    async def test_the_least_recently_used_makes_room(self, table: CacheTable, clock: ManualClock) -> None:
        """One entry too many leaves nine tenths, and reading counts as use."""
        for number in range(10):
            await table.put(str(number), b"x")
            await clock.advance(100)
        await table.get("0")
        await clock.advance(100)
        await table.put("new", b"x")
        kept = [key for key in (*map(str, range(10)), "new") if await table.get(key) is not None]
        assert kept == ["0", "3", "4", "5", "6", "7", "8", "9", "new"]

    async def test_bytes_are_bounded_too(self, table: CacheTable, clock: ManualClock) -> None:
        """The oldest entries go until nine tenths of the bytes are left."""
        for key in "abcd":
            await table.put(key, b"x" * 300)
            await clock.advance(100)
        assert [await table.get(key) is not None for key in "abcd"] == [False, True, True, True]

    async def test_a_large_entry_is_not_kept(self, cache_store: CacheStore) -> None:
        """Above 1 MiB; what was there before it is gone, as it is out of date."""
        table = cache_store.cache("n")
        assert await table.put("a", b"x" * 1024 * 1024)
        assert not await table.put("a", b"x" * (1024 * 1024 + 1))
        assert await table.get("a") is None

    async def test_namespaces_never_mix(self, cache_store: CacheStore) -> None:
        """One is cleared, the other stays; two tables of one namespace see the same."""
        one, other = cache_store.cache("one"), cache_store.cache("other")
        await one.put("a", b"1")
        await other.put("a", b"2")
        await one.clear()
        found = await cache_store.cache("other").get("a")
        assert (await one.get("a"), found and found.data) == (None, b"2")

    async def test_an_entry_of_the_future_is_a_miss(
        self, open_cache_store: Callable[[str, Clock], CacheStore], clock: ManualClock
    ) -> None:
        """A clock that was set back makes entries that nobody can date."""
        await clock.advance(60)
        late = open_cache_store("shared", clock)
        await late.cache("n").put("a", b"x")
        early = open_cache_store("shared", ManualClock())
        assert await early.cache("n").get("a") is None

    @pytest.mark.parametrize("options", [{"max_entries": 0}, {"max_bytes": 0}, {"max_entries": "many"}])
    async def test_limits_that_cannot_be(self, cache_store: CacheStore, options: dict[str, int]) -> None:
        """They are refused where the table is made."""
        with pytest.raises(InvalidArgumentError) as caught:
            cache_store.cache("n", **options)
        assert caught.value.details["option"] in options
