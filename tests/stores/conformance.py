"""What every store must do, as tests that any store's test module runs by subclassing `StoreConformance`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from langfx_web.errors import FencedError, InvalidArgumentError, JournalTooLargeError, StoreError
from langfx_web.stores import Batch, Creation, Fence, Head, Hint, ListedSession, Store, StoredLine, StoredRecord, Unique

CREATE = Creation(agent="support", preview="Where is my order?")


def an_input(key: str, *, create: Creation | None = CREATE, record: bytes = b"input") -> Batch:
    """What a tab appends when its user says something."""
    return Batch(unique=Unique(key, f"text of {key}"), create=create, records=(record,), marks=("input",))


def a_claim(head: Head, holder: str = "wkr_a", **fields: Any) -> Batch:
    """What a worker appends to become the holder."""
    fields = {"key": f"{holder}:claim:{head.epoch}", "records": (b"claim",), **fields}
    return Batch(fence=Fence(epoch=head.epoch, chain=head.chain), claim=holder, create=CREATE, **fields)


def a_write(head: Head, key: str, **fields: Any) -> Batch:
    """What a holder appends."""
    return Batch(fence=Fence(epoch=head.epoch, chain=head.chain), key=key, **fields)


async def claimed(store: Store, id: str = "s") -> Head:
    """The head of a session that was just claimed."""
    await store.append(id, an_input("m-1"))
    head = await store.head(id)
    assert head is not None
    return (await store.append(id, a_claim(head))).head


async def contents(store: Store, id: str = "s") -> list[bytes]:
    """All records of a session."""
    return [record.data for record in (await store.load(id)).records]


class StoreConformance:
    """Subclasses give `open_store`: from a name to a store that shares its sessions with others of the name."""

    @pytest.fixture
    def open_store(self) -> Callable[[str], Store]:
        """Open a store."""
        raise NotImplementedError

    @pytest.fixture
    def name(self) -> str:
        """A name that no store had before."""
        return f"conformance-{secrets.token_hex(8)}"

    @pytest.fixture
    def store(self, open_store: Callable[[str], Store], name: str) -> Store:
        """A store with nothing in it."""
        return open_store(name)

    async def test_an_unknown_session_has_nothing(self, store: Store) -> None:
        """Reading what does not exist gives nothing and makes nothing."""
        loaded = await store.load("s")
        assert (await store.head("s"), loaded.head, loaded.records) == (None, None, ())
        assert (await store.lines("s", 0), await store.lookup("s", "m-1"), await store.sessions()) == ((), None, ())

    async def test_an_input_makes_a_session(self, store: Store) -> None:
        """The first input creates the head, is kept under its unique key, and counts as waiting work."""
        receipt = await store.append("s", an_input("m-1"))
        head = await store.head("s")
        assert receipt.head == head
        assert receipt.existing is None
        assert head is not None
        assert (head.seq, head.chain, head.epoch, head.cursor, head.beat) == (1, 0, 0, 0, 0)
        assert (head.agent, head.preview, head.pending, head.open) == ("support", "Where is my order?", 1, False)
        assert head.created_at == head.updated_at != ""
        assert await store.lookup("s", "m-1") == "text of m-1"
        assert (await store.load("s")).records == (StoredRecord(1, b"input"),)

    async def test_a_creation_does_not_change_a_head(self, store: Store) -> None:
        """What a session was created with stays."""
        await store.append("s", an_input("m-1"))
        await store.append("s", an_input("m-2", create=Creation(agent="other", preview="other")))
        head = await store.head("s")
        assert head is not None
        assert (head.agent, head.preview, head.pending) == ("support", "Where is my order?", 2)

    async def test_a_long_preview_is_cut(self, store: Store) -> None:
        """A head keeps 120 characters of the first input."""
        receipt = await store.append("s", an_input("m-1", create=Creation(agent="a", preview="x" * 500)))
        assert receipt.head.preview == "x" * 120

    async def test_a_taken_unique_key_writes_nothing(self, store: Store) -> None:
        """The same message id again gives what is kept under it."""
        first = await store.append("s", an_input("m-1"))
        again = await store.append("s", replace(an_input("m-1"), unique=Unique("m-1", "other")))
        assert (again.existing, again.head) == ("text of m-1", first.head)
        assert await contents(store) == [b"input"]

    async def test_settling_replaces_a_unique_text(self, store: Store) -> None:
        """A holder may replace what is kept under a key."""
        head = await claimed(store)
        await store.append("s", a_write(head, "wkr_a:2", settle=(Unique("m-1", "done"), Unique("m-9", "new"))))
        assert (await store.lookup("s", "m-1"), await store.lookup("s", "m-9")) == ("done", "new")

    async def test_a_claim_begins_an_epoch(self, store: Store) -> None:
        """Each claim sets the holder and raises the epoch by one, also after a release."""
        head = await claimed(store)
        assert (head.epoch, head.holder, head.chain, head.seq, head.beat) == (1, "wkr_a", 2, 2, 1)
        released = (await store.append("s", a_write(head, "wkr_a:2", release=True))).head
        assert (released.epoch, released.holder) == (1, None)
        again = (await store.append("s", a_claim(released, "wkr_b"))).head
        assert (again.epoch, again.holder) == (2, "wkr_b")

    async def test_numbers_have_no_gaps(self, store: Store) -> None:
        """Records and lines are numbered 1, 2, 3 … over all batches."""
        head = await claimed(store)
        head = (await store.append("s", a_write(head, "a:2", records=(b"r1", b"r2"), lines=(b"l1", b"l2")))).head
        head = (await store.append("s", an_input("m-2"))).head
        head = (await store.append("s", a_write(head, "a:3", lines=(b"l3",)))).head
        assert (head.seq, head.chain, head.cursor) == (5, 4, 3)
        loaded = await store.load("s")
        assert [record.seq for record in loaded.records] == [1, 2, 3, 4, 5]
        assert await store.lines("s", 0) == (StoredLine(1, b"l1"), StoredLine(2, b"l2"), StoredLine(3, b"l3"))

    async def test_records_are_read_after_a_number(self, store: Store) -> None:
        """A reader that knows the beginning asks for the rest only."""
        await claimed(store)
        await store.append("s", an_input("m-2", record=b"third"))
        loaded = await store.load("s", 2)
        assert loaded.records == (StoredRecord(3, b"third"),)
        assert loaded.head == await store.head("s")
        assert (await store.load("s", 3)).records == ()

    async def test_lines_are_read_in_pages(self, store: Store) -> None:
        """Reading starts behind the number given and gives at most the limit, never above 256."""
        head = await claimed(store)
        await store.append("s", a_write(head, "a:2", lines=tuple(b"%d" % n for n in range(300))))
        assert await store.lines("s", 298) == (StoredLine(299, b"298"), StoredLine(300, b"299"))
        assert await store.lines("s", 10, 2) == (StoredLine(11, b"10"), StoredLine(12, b"11"))
        assert len(await store.lines("s", 0, 1000)) == 256
        assert await store.lines("s", 300) == ()
        assert await store.lines("s", 999) == ()

    async def test_a_page_of_lines_is_bounded_in_bytes(self, store: Store) -> None:
        """About 1 MiB is read at once; a larger line comes alone."""
        head = await claimed(store)
        big = b"x" * (2 * 1024 * 1024)
        lines = (b"small", big, *[b"y" * 400_000] * 3)
        await store.append("s", a_write(head, "a:2", lines=lines))
        assert [line.data for line in await store.lines("s", 0)] == [b"small"]
        assert [line.data for line in await store.lines("s", 1)] == [big]
        assert len(await store.lines("s", 2)) == 2

    async def test_a_stale_fence_is_refused(self, store: Store) -> None:
        """Whoever was overtaken writes nothing, and learns by whom."""
        head = await claimed(store)
        successor = (await store.append("s", a_claim(head, "wkr_b"))).head
        before = await store.load("s")
        with pytest.raises(FencedError) as caught:
            await store.append("s", a_write(head, "wkr_a:2", records=(b"late",), lines=(b"late",)))
        assert caught.value.details == {
            "epoch": successor.epoch,
            "chain": successor.chain,
            "seq": successor.seq,
            "holder": "wkr_b",
        }
        assert await store.load("s") == before
        assert await store.lines("s", 0) == ()

    async def test_a_chain_that_went_on_is_refused(self, store: Store) -> None:
        """Two writers under one epoch cannot both go on from the same record."""
        head = await claimed(store)
        await store.append("s", a_write(head, "a:2", records=(b"first",)))
        with pytest.raises(FencedError):
            await store.append("s", a_write(head, "b:2", records=(b"second",)))
        assert await contents(store) == [b"input", b"claim", b"first"]

    async def test_inputs_do_not_break_the_chain(self, store: Store) -> None:
        """Another tab's input between two appends of a holder does not stop it."""
        head = await claimed(store)
        await store.append("s", an_input("m-2"))
        written = await store.append("s", a_write(head, "a:2", records=(b"next",)))
        assert (written.head.seq, written.head.chain) == (4, 4)

    async def test_a_sequence_in_the_fence_counts(self, store: Store) -> None:
        """A writer that must not have missed an input says so, and is refused if it has."""
        head = await claimed(store)
        fence = Fence(epoch=head.epoch, chain=head.chain, seq=head.seq)
        await store.append("s", an_input("m-2"))
        with pytest.raises(FencedError):
            await store.append("s", Batch(fence=fence, key="a:2", records=(b"next",)))
        await store.append("s", Batch(fence=replace(fence, seq=head.seq + 1), key="a:2", records=(b"next",)))

    async def test_a_repeated_batch_lands_once(self, store: Store) -> None:
        """The last fenced batch again gives a receipt, writes nothing, and is not fenced by itself."""
        head = await claimed(store)
        batch = a_write(head, "a:2", records=(b"r",), lines=(b"l",), marks=("start",))
        first = await store.append("s", batch)
        assert await store.append("s", batch) == first
        assert await contents(store) == [b"input", b"claim", b"r"]
        assert (await store.append("s", a_claim_again := a_claim(first.head, "wkr_b"))).head.epoch == 2
        assert (await store.append("s", a_claim_again)).head.epoch == 2

    async def test_a_repeated_batch_after_an_input(self, store: Store) -> None:
        """An input of another tab in between does not make a holder's retry look foreign."""
        head = await claimed(store)
        batch = a_write(head, "a:2", records=(b"r",))
        first = await store.append("s", batch)
        await store.append("s", an_input("m-2"))
        again = await store.append("s", batch)
        assert (again.head.chain, again.head.last_key) == (first.head.chain, "a:2")
        assert again.head.seq == first.head.seq + 1
        assert await contents(store) == [b"input", b"claim", b"r", b"input"]

    async def test_a_key_with_other_content_is_fenced(self, store: Store) -> None:
        """A key names one batch only."""
        head = await claimed(store)
        await store.append("s", a_write(head, "a:2", records=(b"r",)))
        with pytest.raises(FencedError):
            await store.append("s", a_write(head, "a:2", records=(b"other",)))
        assert await contents(store) == [b"input", b"claim", b"r"]

    async def test_the_key_is_looked_at_before_the_unique(self, store: Store) -> None:
        """A retry of a batch that took a unique key is the same batch, not a repeated message."""
        batch = a_claim(Head(), unique=Unique("m-1", "mine"))
        first = await store.append("s", batch)
        again = await store.append("s", batch)
        assert (first.existing, again.existing, again) == (None, None, first)

    async def test_the_unique_is_looked_at_before_the_fence(self, store: Store) -> None:
        """A repeated message is recognised even by a writer that was overtaken."""
        head = await claimed(store)
        await store.append("s", a_claim(head, "wkr_b"))
        stale = a_write(head, "a:9", records=(b"r",), unique=Unique("m-1", "mine"))
        assert (await store.append("s", stale)).existing == "text of m-1"

    async def test_a_missing_session(self, store: Store) -> None:
        """Nothing is written to a session that is gone, or that nobody asks to be made."""
        for batch in (
            a_claim(Head(epoch=3, chain=9)),
            a_write(Head(), "a:1", records=(b"r",)),
            an_input("m-1", create=None),
        ):
            with pytest.raises(StoreError) as caught:
                await store.append("s", batch)
            assert caught.value.code == "session_missing"
        assert await store.head("s") is None

    async def test_marks_tell_of_work(self, store: Store) -> None:
        """Whether a turn is open and how many inputs wait is known from the head."""
        head = await claimed(store)
        head = (await store.append("s", a_write(head, "a:2", marks=("taken", "start")))).head
        assert (head.pending, head.open) == (0, True)
        head = (await store.append("s", an_input("m-2"))).head
        assert (head.pending, head.open) == (1, True)
        head = (await store.append("s", a_write(head, "a:3", marks=("end",)))).head
        assert (head.pending, head.open) == (1, False)

    async def test_an_empty_fenced_batch_beats(self, store: Store) -> None:
        """A holder can show that it is there without writing anything."""
        head = await claimed(store)
        beaten = (await store.append("s", a_write(head, "a:2"))).head
        assert (beaten.beat, beaten.seq, beaten.chain) == (head.beat + 1, head.seq, head.chain)

    async def test_only_bytes_are_kept(self, store: Store) -> None:
        """What could change later, or is no bytes, is refused before anything is written."""
        wrong: list[Any] = ["text", bytearray(b"b"), memoryview(b"m")]
        for data in wrong:
            for batch in (a_claim(Head(), records=(data,)), a_claim(Head(), lines=(data,))):
                with pytest.raises(TypeError):
                    await store.append("s", batch)
        assert await store.head("s") is None

    @pytest.mark.parametrize(
        "batch",
        [
            Batch(records=(b"r",), create=CREATE),
            replace(an_input("m-1"), lines=(b"l",)),
            replace(an_input("m-1"), key="k"),
            replace(an_input("m-1"), claim="wkr_a"),
            replace(an_input("m-1"), release=True),
            replace(an_input("m-1"), settle=(Unique("m-1", "t"),)),
            replace(an_input("m-1"), marks=("start",)),
            replace(an_input("m-1"), unique=Unique("k" * 265, "t")),
            Batch(fence=Fence(epoch=0, chain=0), create=CREATE),
            Batch(fence=Fence(epoch=0, chain=0), create=CREATE, key="k" * 161),
        ],
        ids=["no-unique", "lines", "key", "claim", "release", "settle", "marks", "long-unique", "no-key", "long-key"],
    )
    async def test_a_batch_outside_the_contract(self, store: Store, batch: Batch) -> None:
        """A batch without a fence holds one input and nothing else; one with a fence has a key."""
        with pytest.raises(InvalidArgumentError):
            await store.append("s", batch)
        assert await store.head("s") is None

    @pytest.mark.parametrize("id", ["", "x" * 129, ".", ".."])
    async def test_a_session_id_outside_the_contract(self, store: Store, id: str) -> None:
        """Ids have 1 to 128 characters."""
        with pytest.raises(InvalidArgumentError):
            await store.append(id, an_input("m-1"))

    async def test_sizes(self, store: Store) -> None:
        """Records of 12 MiB, lines of 8 and batches of 16 are kept, a byte more is not."""
        head = await claimed(store)
        mib = 1024 * 1024
        head = (await store.append("s", a_write(head, "a:2", records=(bytes(12 * mib),)))).head
        head = (await store.append("s", a_write(head, "a:3", lines=(bytes(8 * mib), bytes(8 * mib))))).head
        for fields in (
            {"records": (bytes(12 * mib + 1),)},
            {"lines": (bytes(8 * mib + 1),)},
            {"records": (bytes(8 * mib),), "lines": (bytes(8 * mib), b"x")},
        ):
            with pytest.raises(JournalTooLargeError):
                await store.append("s", a_write(head, "a:4", **fields))
        assert await store.head("s") == head

    async def test_sessions_never_mix(self, store: Store) -> None:
        """Keys, numbers and contents are a session's own."""
        await store.append("s", an_input("m-1", record=b"of s"))
        await store.append("t", an_input("m-1", record=b"of t"))
        assert (await contents(store, "s"), await contents(store, "t")) == ([b"of s"], [b"of t"])

    async def test_listing(self, store: Store) -> None:
        """Newest first, by agent, by work, in pages."""
        for id in ("a", "b", "c", "d"):
            await store.append(id, an_input("m-1", create=Creation(agent="x" if id < "c" else "y", preview=id)))
        await store.append("a", an_input("m-2"))
        assert [listed.id for listed in await store.sessions()] == ["a", "d", "c", "b"]
        assert [listed.id for listed in await store.sessions("x")] == ["a", "b"]
        page = await store.sessions(limit=3)
        rest = await store.sessions(after=page[-1])
        assert [listed.id for listed in page + rest] == ["a", "d", "c", "b"]
        head = await store.head("b")
        assert head is not None
        await store.append("b", a_claim(head, marks=("taken",), release=True))
        assert {listed.id for listed in await store.sessions(work=True)} == {"a", "c", "d"}
        assert page[0] == ListedSession(id="a", head=page[0].head)

    async def test_deleting(self, store: Store) -> None:
        """A deleted session is gone with all it had, and its id begins anew."""
        head = await claimed(store)
        await store.append("s", a_write(head, "a:2", lines=(b"l",)))
        await store.delete("s")
        await store.delete("s")
        assert (await store.head("s"), await store.lookup("s", "m-1"), await store.lines("s", 0)) == (None, None, ())
        with pytest.raises(StoreError) as caught:
            await store.append("s", a_write(head, "a:3", records=(b"r",)))
        assert caught.value.code == "session_missing"
        assert (await store.append("s", an_input("m-1"))).existing is None

    async def test_two_objects_of_one_name(self, open_store: Callable[[str], Store], name: str) -> None:
        """They share sessions, and one goes on when the other is closed."""
        one, other, stranger = open_store(name), open_store(name), open_store(f"{name}-2")
        await one.append("s", an_input("m-1"))
        assert (one.name, other.name) == (name, name)
        assert await other.head("s") == await one.head("s") is not None
        assert await stranger.head("s") is None
        await one.close()
        await one.close()
        assert await other.lookup("s", "m-1") == "text of m-1"

    async def test_a_closed_store(self, store: Store) -> None:
        """Nothing can be done with it."""
        await store.close()
        for call in (
            store.head("s"),
            store.load("s"),
            store.lines("s", 0),
            store.lookup("s", "k"),
            store.sessions(),
            store.delete("s"),
            store.append("s", an_input("m-1")),
            store.gone("w"),
        ):
            with pytest.raises(StoreError) as caught:
                await call
            assert caught.value.code == "store_closed"

    async def test_racing_inputs(self, store: Store) -> None:
        """Of several that append the same message at once, one lands."""
        receipts = await asyncio.gather(
            *(store.append("s", replace(an_input("m-1"), unique=Unique("m-1", str(n)))) for n in range(8))
        )
        winner = await store.lookup("s", "m-1")
        assert sorted(receipt.existing or "" for receipt in receipts) == ["", *[winner] * 7]
        assert len(await contents(store)) == 1

    async def test_racing_claims(self, store: Store) -> None:
        """Of several that claim from the same head, one becomes the holder."""
        head = await claimed(store)
        results = await asyncio.gather(
            *(store.append("s", a_claim(head, f"wkr_{n}")) for n in range(8)), return_exceptions=True
        )
        assert sum(isinstance(result, FencedError) for result in results) == 7
        now = await store.head("s")
        assert now is not None
        assert now.epoch == 2


class HoldConformance(StoreConformance):
    """The part about liveness and hints, for stores of one process."""

    async def test_holds_are_given_in_order(self, store: Store) -> None:
        """One has the hold, the others get it in the order they asked."""
        order: list[str] = []

        async def work(name: str) -> None:
            async with store.hold("s", name):
                order.append(name)
                await asyncio.sleep(0)
                order.append(name)

        await asyncio.gather(*(work(name) for name in "abc"))
        assert order == ["a", "a", "b", "b", "c", "c"]

    async def test_holds_are_per_session(self, store: Store) -> None:
        """The hold of one session does not keep anyone from another."""
        async with store.hold("s", "a"), store.hold("t", "b", wait=False) as other:
            assert other is not None

    async def test_a_taken_hold_without_waiting(self, store: Store) -> None:
        """Who does not want to wait is told at once."""
        async with store.hold("s", "a"), store.hold("s", "b", wait=False) as hold:
            assert hold is None
        async with store.hold("s", "b", wait=False) as hold:
            assert hold is not None

    async def test_stealing(self, store: Store) -> None:
        """The one who had the hold is told; giving it back does not free it for those who wait."""
        order: list[str] = []

        async def wait() -> None:
            async with store.hold("s", "waiting"):
                order.append("waiting")

        async with store.hold("s", "old") as old:
            assert old is not None
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            thief = store.hold("s", "new", steal=True)
            stolen = await thief.__aenter__()
            assert old.lost.is_set()
        await asyncio.sleep(0)
        assert stolen is not None
        assert (order, stolen.lost.is_set()) == ([], False)
        await thief.__aexit__(None, None, None)
        await waiting
        assert order == ["waiting"]

    async def test_a_cancelled_waiter_takes_nothing(self, store: Store) -> None:
        """Who gives up waiting, even in the moment the hold comes, leaves it to the next."""

        async def wait() -> None:
            async with store.hold("s", "w"):
                raise AssertionError("it was cancelled")

        async with store.hold("s", "a"):
            early, late = asyncio.create_task(wait()), asyncio.create_task(wait())
            await asyncio.sleep(0)
            early.cancel()
            await asyncio.sleep(0)
        late.cancel()
        await asyncio.gather(early, late, return_exceptions=True)
        async with store.hold("s", "b", wait=False) as hold:
            assert hold is not None

    async def test_a_worker_is_gone_when_it_has_left(self, store: Store) -> None:
        """Who waits for the end of a worker is told when it is, at once if it is not alive."""
        await store.gone("wkr_a")
        async with store.alive("wkr_a"):
            async with store.alive("wkr_a"):
                gone = asyncio.ensure_future(store.gone("wkr_a"))
            await asyncio.sleep(0)
            assert not gone.done()
        await asyncio.wait_for(gone, 1)

    async def test_hints(self, store: Store) -> None:
        """Who watches a session, or all, hears of appends until it stops watching."""
        mine: list[Hint] = []
        all_: list[Hint] = []
        with store.watch("s", mine.append), store.watch(None, all_.append):
            await store.append("s", an_input("m-1"))
            await store.append("t", an_input("m-1"))
            await store.append("s", an_input("m-1"))
        await store.append("s", an_input("m-2"))
        assert mine == [Hint(id="s", seq=1, cursor=0)]
        assert all_ == [Hint(id="s", seq=1, cursor=0), Hint(id="t", seq=1, cursor=0)]

    async def test_a_dropped_watch_hears_nothing(self, store: Store) -> None:
        """A watch that nobody keeps is over."""
        heard: list[Hint] = []
        store.watch("s", heard.append)
        await store.append("s", an_input("m-1"))
        assert heard == []
