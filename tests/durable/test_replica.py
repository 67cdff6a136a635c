"""This worker's copy of a conversation."""

from __future__ import annotations

import pytest

from langfx_web.durable import codec
from langfx_web.durable.journal import Applied
from langfx_web.durable.records import Input, Record
from langfx_web.durable.replica import Replica
from langfx_web.errors import JournalInvalidError
from langfx_web.stores import Batch, Creation, MemoryStore, Receipt, Unique


def prompt(id: str) -> Input:
    """Something said."""
    return Input(type="prompt", message_id=id, origin="w", nonce=id, prompt=id)


async def write(store: MemoryStore, id: str) -> tuple[list[Applied], Receipt]:
    """Store a prompt, and tell what a writer would know of it."""
    record: Record = prompt(id)
    data = codec.encode(record, at="")
    batch = Batch(unique=Unique(id, "{}"), create=Creation(agent="a", preview=""), records=(data,))
    receipt = await store.append("s", batch)
    return [Applied(seq=receipt.head.seq, record=record, size=len(data))], receipt


def waiting(replica: Replica) -> list[str]:
    """The prompts it knows of."""
    return [item.input.message_id for item in replica.conversation.waiting]


async def test_a_new_session_needs_no_reading() -> None:
    """What cannot exist yet is current from the start, and follows what is written."""
    store = MemoryStore()
    replica = Replica(store, "s", is_new=True)
    assert replica.is_current
    applied, receipt = await write(store, "a")
    replica.stored(applied, receipt.head)
    assert (replica.is_current, waiting(replica)) == (True, ["a"])


async def test_others_records_are_read_in_between() -> None:
    """Where others have written between our own records, it is not current until it has read them, in order."""
    store = MemoryStore()
    replica = Replica(store, "s", is_new=False)
    assert not replica.is_current
    await replica.catch_up()
    await write(store, "theirs")
    applied, receipt = await write(store, "ours")
    replica.stored(applied, receipt.head)
    assert (replica.is_current, waiting(replica)) == (False, [])
    await replica.catch_up()
    assert (replica.is_current, waiting(replica)) == (True, ["theirs", "ours"])
    replica.stored(applied, receipt.head)
    assert waiting(replica) == ["theirs", "ours"]


async def test_a_conversation_that_was_deleted() -> None:
    """It starts anew, also where another has begun under its id meanwhile."""
    store = MemoryStore()
    replica = Replica(store, "s", is_new=False)
    await write(store, "a")
    await replica.catch_up()
    await store.delete("s")
    await replica.catch_up()
    assert (replica.conversation.seq, replica.head.seq) == (0, 0)
    await write(store, "b")
    await replica.catch_up()
    await store.delete("s")
    for id in ("c", "d", "e"):
        await write(store, id)
    await replica.catch_up()
    assert waiting(replica) == ["c", "d", "e"]


async def test_damage_is_found_each_time() -> None:
    """What cannot be read is an error however often it is tried, and what comes before it stays readable."""
    store = MemoryStore()
    await write(store, "a")
    await store.append("s", Batch(unique=Unique("x", "{}"), records=(b"garbage",)))
    replica = Replica(store, "s", is_new=False)
    for _ in range(2):
        with pytest.raises(JournalInvalidError):
            await replica.catch_up()
    assert (waiting(replica), replica.is_current) == (["a"], False)
