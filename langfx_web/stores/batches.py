"""The rules of an append, apart from where it is written: what is well formed, what is refused, what follows."""

from __future__ import annotations

from dataclasses import replace

from langfx_web.errors import FencedError, InvalidArgumentError, JournalTooLargeError, StoreError
from langfx_web.stores.base import MAX_BATCH, MAX_LINE, MAX_RECORD, NO_HEAD, PREVIEW, Batch, Head

MAX_ID = 128
MAX_KEY = 160
MAX_UNIQUE = 264


def check_batch(id: str, batch: Batch) -> None:
    """Refuse a batch that breaks the contract, before anything is looked at."""
    if not 0 < len(id) <= MAX_ID or id in (".", ".."):
        raise InvalidArgumentError(f"{id[:20]!r} cannot be a session's id in a store", details={"option": "id"})
    for data in (*batch.records, *batch.lines):
        if type(data) is not bytes:
            raise TypeError(f"a store keeps bytes, not {type(data).__name__}")
    _check_keys(batch)
    if batch.fence is None:
        if batch.unique is None:
            raise _broken("a batch without a fence needs a unique key")
        if batch.key or batch.lines or batch.settle or batch.claim or batch.release or set(batch.marks) - {"input"}:
            raise _broken("a batch without a fence holds an input and nothing else")
    elif batch.key is None:
        raise _broken("a batch with a fence needs a key")
    _check_sizes(batch)


def _check_keys(batch: Batch) -> None:
    if batch.key is not None and not 0 < len(batch.key) <= MAX_KEY:
        raise _broken(f"a batch's key has 1 to {MAX_KEY} characters")
    for unique in (*batch.settle, *([batch.unique] if batch.unique else [])):
        if not 0 < len(unique.key) <= MAX_UNIQUE:
            raise _broken(f"a unique key has 1 to {MAX_UNIQUE} characters")


def _check_sizes(batch: Batch) -> None:
    for what, items, limit in (("record", batch.records, MAX_RECORD), ("line", batch.lines, MAX_LINE)):
        for data in items:
            if len(data) > limit:
                raise JournalTooLargeError(f"a {what} of {len(data)} bytes is over the limit of {limit}")
    size = sum(map(len, batch.records)) + sum(map(len, batch.lines))
    if size > MAX_BATCH:
        raise JournalTooLargeError(f"a batch of {size} bytes is over the limit of {MAX_BATCH}")


def check_fence(head: Head | None, batch: Batch) -> None:
    """Refuse a batch whose session is missing (`session_missing`) or has gone on without its writer (`fenced`)."""
    fence = batch.fence
    if head is None and (batch.create is None or (fence is not None and fence.epoch > 0)):
        raise StoreError("the conversation is not in the store (any more)", code="session_missing")
    if fence is None:
        return
    now = head or NO_HEAD
    if (fence.epoch, fence.chain) != (now.epoch, now.chain) or fence.seq not in (None, now.seq):
        raise FencedError(
            "the conversation was continued by another worker; nothing was written",
            details={"epoch": now.epoch, "chain": now.chain, "seq": now.seq, "holder": now.holder},
        )


def next_head(head: Head | None, batch: Batch, at: str) -> Head:
    """The head after the batch is written."""
    fenced = batch.fence is not None
    before = head or _created(batch, at)
    seq = before.seq + len(batch.records)
    is_open, pending = before.open, before.pending
    for mark in batch.marks:
        pending += {"input": 1, "taken": -1}.get(mark, 0)
        is_open = {"start": True, "end": False}.get(mark, is_open)
    return replace(
        before,
        seq=seq,
        chain=seq if fenced and batch.records else before.chain,
        epoch=before.epoch + (batch.claim is not None),
        holder=None if batch.release else batch.claim or before.holder,
        beat=before.beat + fenced,
        cursor=before.cursor + len(batch.lines),
        updated_at=at,
        open=is_open,
        pending=pending,
        last_key=batch.key if fenced else before.last_key,
    )


def _created(batch: Batch, at: str) -> Head:
    assert batch.create is not None  # check_fence has refused it otherwise
    return Head(agent=batch.create.agent, preview=batch.create.preview[:PREVIEW], created_at=at)


def _broken(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(message, details={"option": "batch"})
