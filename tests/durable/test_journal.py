"""The writer of a claimed conversation."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence

import pytest

from langfx_web.durable.journal import MAX_EVENTS, Applied, Journal, append
from langfx_web.durable.records import CallStart, Input, TurnStart
from langfx_web.errors import (
    FencedError,
    JournalInvalidError,
    JournalTooLargeError,
    LangfxError,
    NotPortableError,
    StoreError,
)
from langfx_web.events import TextDelta, ToolStart
from langfx_web.stores import Batch, Creation, Fence, Head, MemoryStore, Receipt, Unique
from langfx_web.testing import ManualClock
from tests.durable.faults import WatchedStore, anything, has, settle

CREATE = Creation(agent="a", preview="p")


class Owner:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.applied: list[Applied] = []
        self.errors: list[LangfxError] = []

    def stored(self, records: Sequence[Applied], head: Head) -> None:
        """A batch is stored."""
        self.applied += records

    def failed(self, error: LangfxError) -> None:
        """A batch could not be stored."""
        self.errors.append(error)


class Desk:
    """A store, a clock and a journal of session `s` on them."""

    def __init__(self, head: Head | None = None, store: WatchedStore | None = None, worker: str = "w") -> None:
        self.store = store or WatchedStore(MemoryStore())
        self.clock = ManualClock()
        self.owner = Owner()
        numbers = itertools.count(1)
        self.journal = Journal(
            self.store,
            "s",
            worker=worker,
            head=head or Head(),
            next_key=lambda: f"{worker}:{next(numbers)}",
            owner=self.owner,
            clock=self.clock,
        )

    async def opened(self) -> Journal:
        """The journal, with its claim made."""
        await self.journal.open(create=CREATE)
        return self.journal

    def say(self, text: str) -> None:
        """Put a line."""
        self.journal.put(message_id="m", events=[TextDelta(delta=text)])

    async def texts(self) -> list[str]:
        """The deltas that are stored."""
        return [json.loads(line.data)["delta"] for line in await self.store.inner.lines("s", 0)]


def call(id: str) -> CallStart:
    """A record to put."""
    return CallStart(execution_ids=(id,))


async def test_opening_claims() -> None:
    """What was put before goes with the claim in one append, numbered and stamped with the epoch to come."""
    desk = Desk()
    desk.journal.put(TurnStart(message_id="m", model=None, tools="t"), message_id="m", events=[TextDelta(delta="x")])
    await desk.journal.open(create=CREATE, seq=0)
    head = await desk.store.head("s")
    assert head is not None
    assert (head.epoch, head.holder, head.seq, head.chain, head.cursor) == (1, "w", 2, 2, 1)
    assert len(desk.store.batches) == 1
    assert [item.seq for item in desk.owner.applied] == [1, 2]
    (line,) = await desk.store.lines("s", 0)
    assert json.loads(line.data) == {"type": "text_delta", "delta": "x", "messageId": "m", "epoch": 1, "cursor": 1}


async def test_opening_late_is_fenced() -> None:
    """Whoever claims from an old head gets nothing, and what was put is not stored."""
    store = WatchedStore(MemoryStore())
    await Desk(store=store).opened()
    late = Desk(store=store, worker="x")
    late.say("late")
    with pytest.raises(FencedError):
        await late.journal.open(create=CREATE)
    assert await late.texts() == []


async def test_opening_with_a_taken_unique_key() -> None:
    """The text of the key comes back, nothing is claimed."""
    store = WatchedStore(MemoryStore())
    await Desk(store=store).journal.open(unique=Unique("m", "first"), create=CREATE)
    head = await store.head("s")
    assert head is not None
    again = Desk(head, store=store, worker="x")
    assert await again.journal.open(unique=Unique("m", "second"), create=CREATE) == "first"
    assert await store.head("s") == head


async def test_one_append_is_in_flight() -> None:
    """Row 24: what happens while one append is under way goes into the next, in order, fences chained, keys unique."""
    desk = Desk()
    journal = await desk.opened()
    gate = desk.store.block(lambda batch: batch.lines != ())
    desk.say("0")
    await gate.reached.wait()
    for n in range(1, 1000):
        desk.say(str(n))
        journal.put(call(str(n)), message_id="m")
    await settle()
    assert len(desk.store.batches) == 2
    gate.open()
    await journal.stored()
    assert len(desk.store.batches) == 3
    assert desk.store.most_in_flight == 1
    assert len({batch.key for batch in desk.store.batches}) == 3
    pages = [await desk.store.lines("s", after) for after in range(0, 1000, 250)]
    assert [json.loads(line.data)["delta"] for page in pages for line in page[:250]] == [str(n) for n in range(1000)]
    assert [item.seq for item in desk.owner.applied] == list(range(1, 1001))


async def test_fences_chain_over_inputs() -> None:
    """Another tab's input between two appends shifts the numbers, not the right to write."""
    desk = Desk()
    journal = await desk.opened()
    other = Batch(unique=Unique("m-2", "t"), records=(b"input",), marks=("input",))
    await desk.store.append("s", other)
    journal.put(call("a"), message_id="m")
    await journal.stored()
    assert [item.seq for item in desk.owner.applied] == [1, 3]


async def test_stored_waits_for_all_before() -> None:
    """It returns once everything that was put is acknowledged, and not before."""
    desk = Desk()
    journal = await desk.opened()
    gate = desk.store.block(has("call_start"))
    journal.put(call("a"), message_id="m")
    waiting = asyncio.create_task(journal.stored())
    await gate.reached.wait()
    assert not waiting.done()
    gate.open()
    await waiting


async def test_a_barrier_is_asked_for_once() -> None:
    """What is waited for with a barrier is in, or before, a batch that asks for one; a second wait asks for nothing."""
    desk = Desk()
    journal = await desk.opened()
    journal.put(call("a"), message_id="m")
    await journal.stored()
    assert [batch.barrier for batch in desk.store.batches] == [True, False]
    await journal.stored(barrier=True)
    await journal.stored(barrier=True)
    assert [(batch.barrier, len(batch.records)) for batch in desk.store.batches] == [(True, 1), (False, 1), (True, 0)]
    journal.put(call("b"), message_id="m")
    await journal.stored(barrier=True)
    assert [(batch.barrier, len(batch.records)) for batch in desk.store.batches[3:]] == [(True, 1)]


async def test_the_queue_of_lines_is_bounded() -> None:
    """Whoever makes lines waits while 256, or 1 MiB, are not stored."""
    desk = Desk()
    journal = await desk.opened()
    for texts in (["x"] * MAX_EVENTS, ["x" * 1024 * 1024]):
        gate = desk.store.block(lambda batch: batch.lines != ())
        for text in texts[1:]:
            desk.say(text)
        await asyncio.wait_for(journal.room(), 1)
        desk.say(texts[0])
        waiting = asyncio.create_task(journal.room())
        await settle()
        assert not waiting.done()
        gate.open()
        await waiting


async def test_a_batch_is_kept_within_its_limit() -> None:
    """Row 91: more than 16 MiB go in several appends, in order."""
    desk = Desk()
    journal = await desk.opened()
    for n in range(4):
        desk.say(str(n) + "x" * 6 * 1024 * 1024)
    await journal.stored()
    assert [len(batch.lines) for batch in desk.store.batches[1:]] == [2, 2]


async def test_a_record_over_the_limit() -> None:
    """Row 91: 12 MiB are the most; nothing of it is stored and the journal goes on."""
    desk = Desk()
    journal = await desk.opened()
    with pytest.raises(JournalTooLargeError):
        journal.put(call("x" * 12 * 1024 * 1024), message_id="m")
    journal.put(call("y"), message_id="m")
    await journal.stored()
    assert len(desk.owner.applied) == 2


async def test_what_cannot_be_written_leaves_no_gap() -> None:
    """An event without a JSON form is refused, with all that was put with it; numbers go on without it."""
    desk = Desk()
    journal = await desk.opened()
    bad = ToolStart(id="c", execution_id="e", name="n", checksum="", started_at="", input=float("nan"))
    with pytest.raises(NotPortableError):
        journal.put(call("a"), message_id="m", events=[TextDelta(delta="x"), bad])
    desk.say("y")
    await journal.stored()
    assert (await desk.texts(), len(desk.owner.applied)) == (["y"], 1)


async def test_a_fence_ends_it() -> None:
    """Rows 76 and 100: after a takeover nothing more is stored, and all who wait or come later are told."""
    desk = Desk()
    journal = await desk.opened()
    await Desk(await desk.store.head("s"), store=desk.store, worker="x").opened()
    desk.say("late")
    with pytest.raises(FencedError):
        await journal.stored()
    with pytest.raises(FencedError):
        journal.put(call("a"), message_id="m")
    with pytest.raises(FencedError):
        await Desk.opened(desk)
    assert [type(error) for error in desk.owner.errors] == [FencedError]
    assert await desk.texts() == []


async def test_a_failed_append_is_tried_again() -> None:
    """Row 86: after a second, twice, under the same key."""
    desk = Desk()
    journal = await desk.opened()
    desk.store.fail(has("call_start"), StoreError("no"), times=2)
    journal.put(call("a"), message_id="m")
    waiting = asyncio.create_task(journal.stored())
    await settle()
    assert len(desk.store.batches) == 2
    await desk.clock.advance(0.9)
    assert len(desk.store.batches) == 2
    await desk.clock.advance(1.2)
    await waiting
    assert len(desk.store.batches) == 4
    assert len(set(desk.store.batches[1:])) == 1
    assert [item.seq for item in desk.owner.applied] == [1, 2]


async def test_a_store_that_keeps_failing() -> None:
    """Row 86: after the third time the journal is over, with the store's error, and its cause."""
    desk = Desk()
    journal = await desk.opened()
    cause = OSError("disk")
    desk.store.fail(anything, cause, times=99)
    desk.say("x")
    await desk.clock.advance(5)
    with pytest.raises(StoreError) as caught:
        await journal.stored()
    assert (caught.value.code, caught.value.__cause__) == ("append_failed", cause)
    assert desk.owner.errors == [caught.value]
    assert len(desk.store.batches) == 4


@pytest.mark.parametrize("code", ["store_full", "session_missing", "store_unavailable"])
async def test_an_error_that_stays(code: str) -> None:
    """What trying again does not change is not tried again."""
    desk = Desk()
    journal = await desk.opened()
    desk.store.fail(anything, StoreError("no", code=code), times=99)
    desk.say("x")
    with pytest.raises(StoreError) as caught:
        await journal.stored()
    assert (caught.value.code, len(desk.store.batches)) == (code, 2)


async def test_a_lost_acknowledgement() -> None:
    """Row 85: a batch whose answer was lost is stored once."""
    desk = Desk()
    journal = await desk.opened()
    desk.store.fail(has("call_start"), StoreError("lost"), is_committed=True)
    journal.put(call("a"), message_id="m", events=[TextDelta(delta="x")])
    waiting = asyncio.create_task(journal.stored())
    await settle()
    await desk.store.inner.append("s", Batch(unique=Unique("m-2", "t"), records=(b"i",), marks=("input",)))
    await desk.clock.advance(1)
    await waiting
    assert await desk.texts() == ["x"]
    assert [item.seq for item in desk.owner.applied] == [1, 2]


async def test_a_receipt_that_is_none() -> None:
    """Row 101: what the store answers is checked, and not believed."""

    class Liar(MemoryStore):
        def __init__(self, answer: object) -> None:
            super().__init__()
            self.answer = answer

        async def append(self, id: str, batch: Batch) -> Receipt:
            await super().append(id, batch)
            return self.answer  # type: ignore[return-value]  # that is the lie

    wrong = [None, 7, Receipt(head=None), Receipt(head=Head(seq="1"))]  # type: ignore[arg-type]  # lies
    batch = Batch(unique=Unique("m", "t"), create=CREATE)
    for answer in wrong:
        with pytest.raises(JournalInvalidError):
            await append(Liar(answer), "s", batch, clock=ManualClock())
    for head in (Head(), Head(epoch=1, seq=1, chain=1, cursor=5), Head(epoch=7, seq=1, chain=1)):
        with pytest.raises(JournalInvalidError):
            await Desk(store=WatchedStore(Liar(Receipt(head=head)))).opened()


async def test_a_cancelled_wait_stores_all_the_same() -> None:
    """Row 51: who stops waiting for a barrier does not stop what is being stored."""
    desk = Desk()
    journal = await desk.opened()
    gate = desk.store.block(has("call_start"))
    journal.put(call("a"), message_id="m")
    waiting = asyncio.create_task(journal.stored(barrier=True))
    await gate.reached.wait()
    waiting.cancel()
    await settle()
    gate.open()
    await journal.stored()
    assert len(desk.owner.applied) == 2


async def test_closing() -> None:
    """A closed journal writes nothing more, not even what is queued, and leaves no task."""
    desk = Desk()
    journal = await desk.opened()
    gate = desk.store.block(anything)
    desk.say("x")
    await gate.reached.wait()
    desk.say("y")
    await journal.close()
    gate.open()
    await settle()
    assert await desk.texts() == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_input_has_no_cursor() -> None:
    """What a holder writes is placed behind the last line; an input that comes with the claim is not."""
    desk = Desk()
    desk.say("x")
    wish = Input(type="prompt", message_id="m", origin="w", nonce="n", prompt="hi")
    desk.journal.put(wish, call("a"), message_id="m")
    await desk.journal.open(create=CREATE)
    assert [item.record for item in desk.owner.applied[1:]] == [wish, CallStart(execution_ids=("a",), cursor=1)]


async def test_without_the_fence_two_would_write() -> None:
    """Row 100: the witness that it is the fence that keeps the late one out."""
    desk = Desk()
    await desk.opened()
    other = await Desk(await desk.store.head("s"), store=desk.store, worker="x").opened()
    head = await desk.store.head("s")
    assert head is not None
    forged = Batch(fence=Fence(epoch=head.epoch, chain=head.chain), key="w:9", lines=(b"{}",))
    await desk.store.append("s", forged)
    assert len(await desk.store.lines("s", 0)) == 1
    other.put(message_id="m", events=[TextDelta(delta="x")])
    with pytest.raises(JournalInvalidError):
        await other.stored()
