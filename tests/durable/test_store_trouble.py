"""What a conversation makes of a store that fails, forgets or lies."""

from __future__ import annotations

import asyncio

import pytest

from langfx_web.errors import (
    JournalInvalidError,
    JournalTooLargeError,
    StoreError,
)
from langfx_web.stores import Batch, Creation, MemoryStore, Receipt, StoredRecord, Unique
from langfx_web.stores.base import Loaded
from langfx_web.testing import Echo
from tests.durable.faults import WatchedStore, anything, has, settle
from tests.durable.scene import Scene, SpokenModel, calls, said, types


@pytest.mark.parametrize("kind", ["input", "call_start", "call_result", "reply", "turn_end"])
async def test_one_failed_write(kind: str) -> None:
    """Row 86: it is tried again, and the turn completes with each call run once."""
    scene = Scene()
    scene.store.fail(has(kind), StoreError("hiccup"))
    turn = scene.session([calls(("pay", "x")), "done"]).prompt("a")
    await settle()
    await scene.clock.advance(3)
    assert (await turn.result).stop_reason == "end_turn"
    assert scene.workshop.ledger == ["pay x"]
    assert (await scene.kinds()).count(kind) in (1, 2)


@pytest.mark.parametrize("kind", ["input", "call_start", "call_result", "reply", "turn_end"])
async def test_lost_acknowledgements(kind: str) -> None:
    """Row 85: what was stored without our knowing is stored once."""
    scene = Scene()
    scene.store.fail(has(kind), StoreError("lost"), is_committed=True, times=1)
    turn = scene.session([calls(("pay", "x")), "done"]).prompt("a")
    await settle()
    await scene.clock.advance(3)
    assert (await turn.result).stop_reason == "end_turn"
    assert scene.workshop.ledger == ["pay x"]
    assert await scene.kinds() == [
        "claim", "input", "turn_start", "reply", "call_start", "call_result", "reply", "turn_end"
    ]  # fmt: skip


async def test_a_store_that_is_gone() -> None:
    """Rows 86 and 87: no effect after it, the view ends with the store's error, and the turn stays open."""
    scene = Scene()
    session = scene.session([calls(("pay", "x")), "unused", "next"])
    scene.store.fail(has("call_start"), StoreError("gone", code="store_unavailable"), times=9)
    turn = session.prompt("a", message_id="m")
    result = await turn.result
    assert (result.stop_reason, result.error and result.error.code) == ("error", "store_unavailable")
    assert (scene.workshop.ledger, await types(turn), await turn.line_count) == ([], ["turn_start"], 1)
    head = await scene.store.head("s")
    assert head is not None
    assert (head.open, head.holder) == (True, head.holder)


async def test_an_outage_loses_no_prompt() -> None:
    """Row 87: what was accepted before it is answered after it, once, in order."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    session.prompt("a", message_id="m-a")
    waiting = session.prompt("b", message_id="m-b")
    await waiting.accepted
    scene.store.fail(anything, StoreError("down", code="store_full"), times=1)
    lm.say("x")
    assert (await waiting.result).stop_reason == "error"
    echo = Echo()
    assert (await scene.session(echo).prompt("c").result).stop_reason == "end_turn"
    assert [said(request)[-1] for request in echo.requests] == ["b", "c"]


async def test_reads_that_fail_during_a_turn() -> None:
    """Row 87: while inputs cannot be read the turn goes on; a cancel is heard of once they can."""
    scene = Scene()
    lm = SpokenModel()
    turn = scene.session(lm).prompt("a")
    await settle()
    scene.store.read_error = StoreError("down", code="store_blocked")
    await scene.session([]).cancel()
    lm.say("on")
    await settle()
    assert lm.aborted == 0
    assert scene.store.calls.count("load") < 5
    scene.store.read_error = None
    await scene.clock.advance(2)
    assert (await turn.result).stop_reason == "cancelled"


async def test_a_reader_of_inputs_that_dies() -> None:
    """Row 88: the turn fails at once with the cause, and no task is left."""
    scene = Scene()
    lm = SpokenModel()
    turn = scene.session(lm).prompt("a")
    await settle()
    scene.store.read_error = ZeroDivisionError("by zero")
    await scene.clock.advance(2)
    result = await turn.result
    assert result.error is not None
    assert "by zero" in result.error.message
    assert lm.aborted == 1
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_deleted_conversation() -> None:
    """Row 133: a running turn stops with `session_missing`; afterwards the id begins anew."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    turn = session.prompt("a", message_id="m")
    await settle()
    await scene.store.delete("s")
    lm.say("late")
    result = await turn.result
    assert (result.error and result.error.code, lm.aborted) == ("session_missing", 1)
    again = session.prompt("b", message_id="m")
    lm.finish()
    await settle()
    lm.say("Hello")
    lm.finish()
    assert (await again.result).repeated is False
    assert said(lm.requests[-1]) == ["b"]


async def test_a_damaged_conversation() -> None:
    """Row 89: it can be read up to the damage, and takes no prompt."""
    scene = Scene()
    session = scene.session(["one", "two"])
    await session.prompt("a").result
    await session.prompt("b").result
    kept = scene.store
    good = (await kept.load("s")).records

    class Damaged(MemoryStore):
        records: tuple[StoredRecord, ...] = good

        async def load(self, id: str, after: int = 0) -> Loaded:
            head = await kept.head(id)
            return Loaded(head=head, records=tuple(record for record in self.records if record.seq > after))

        async def append(self, id: str, batch: Batch) -> Receipt:
            raise AssertionError("nothing may be written")

    doubled = (*good[:6], good[5], *good[6:])
    missing = (*good[:5], *good[6:])
    garbled = (*good[:5], StoredRecord(6, good[5].data[:-1]), *good[6:])
    for records, seq in ((doubled, 6), (missing, 7), (garbled, 6)):
        scene.store = WatchedStore(damaged := Damaged())
        damaged.records = records
        session = scene.session([])
        assert [message.text for message in await session.messages()][:2] == ["a", "one"]
        with pytest.raises(JournalInvalidError) as caught:
            await session.prompt("c").accepted
        assert caught.value.seq == seq


async def test_a_full_conversation() -> None:
    """Row 91: over 16 MiB no prompt is taken, over 20 a running turn ends; it stays readable."""
    scene = Scene()
    big = "x" * (7 * 1024 * 1024)
    session = scene.session(Echo())
    assert (await session.prompt(big).result).stop_reason == "end_turn"
    result = await session.prompt(big).result
    assert (result.stop_reason, result.error and result.error.code) == ("error", "journal_too_large")
    turn = session.prompt("more")
    with pytest.raises(JournalTooLargeError):
        await turn.accepted
    assert [len(message.text) for message in await session.messages()][:3] == [len(big)] * 3


async def test_hints_of_nothing() -> None:
    """Row 33: a hint for what is finished, unknown or foreign runs and writes nothing."""
    scene = Scene()
    session = scene.session(["ok"])
    await session.prompt("a").result
    other = scene.session([], "other")
    written = len(scene.store.batches)
    stranger = Batch(unique=Unique("m", "{}"), create=Creation(agent="x", preview=""), records=(b"{}",))
    await scene.store.inner.append("third", stranger)
    await settle()
    assert (len(scene.store.batches), other.id) == (written, "other")
