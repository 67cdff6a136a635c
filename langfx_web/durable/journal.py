"""The writer of a claimed conversation: one append in flight, what happens meanwhile goes into the next batch."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from langfx_web.clock import Clock
from langfx_web.durable import codec, lines
from langfx_web.durable.records import Claim, Input, Record
from langfx_web.errors import (
    JournalInvalidError,
    JournalTooLargeError,
    LangfxError,
    SessionClosedError,
    StoreError,
)
from langfx_web.events import TurnEvent
from langfx_web.stores.base import MAX_BATCH, MAX_RECORD, Batch, Creation, Fence, Head, Mark, Receipt, Store, Unique

MAX_EVENTS = 256
"""Lines that may be queued before whoever makes them has to wait."""
MAX_EVENT_BYTES = 1024 * 1024
"""Bytes of queued lines at which the same happens; one larger line may join an empty queue."""
RETRY_AFTER = 1.0
ATTEMPTS = 3
FINAL = frozenset({"fenced", "store_full", "session_missing", "store_unavailable"})
"""Codes of a store's errors that trying again does not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A stored record: its place, itself, and its size in bytes."""

    seq: int
    record: Record
    size: int


class JournalOwner(Protocol):
    """Who is told what becomes of what was put into a journal."""

    def stored(self, records: Sequence[Applied], head: Head) -> None:
        """A batch is stored."""

    def failed(self, error: LangfxError) -> None:
        """A batch could not be stored: nothing after it will be."""


class Journal:
    """Writes records and lines of one session under one claim.

    `open` makes the claim; what was put before goes with it, as one batch. `error` is set once something could not be
    stored: from then on nothing is written, and all who wait or come later get that error.
    """

    def __init__(
        self,
        store: Store,
        session_id: str,
        *,
        worker: str,
        head: Head,
        next_key: Callable[[], str],
        owner: JournalOwner,
        clock: Clock,
    ) -> None:
        self.error: LangfxError | None = None
        self.epoch = head.epoch + 1
        self._store = store
        self._id = session_id
        self._worker = worker
        self._head = head
        self._next_key = next_key
        self._owner = owner
        self._clock = clock
        self._is_open = False
        self._cursor = head.cursor
        self._queue: deque[_Entry] = deque()
        self._put = 0
        self._stored = 0
        self._barrier = 0
        self._waiting_lines = 0
        self._waiting_bytes = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._writer: asyncio.Task[None] | None = None
        self.put(Claim(holder=worker, epoch=self.epoch))

    @property
    def cursor(self) -> int:
        """The last line that has a number."""
        return self._cursor

    async def open(
        self, *, unique: Unique | None = None, create: Creation | None = None, seq: int | None = None
    ) -> str | None:
        """Claim the session and store what was put so far, as one batch; `fenced` if someone else went on with it.

        With `unique` that key is taken, or else nothing is written and its text returned. With `seq` nobody may have
        added a record since.
        """
        entries, batch = self._taken()
        fence = Fence(epoch=self._head.epoch, chain=self._head.chain, seq=seq)
        batch = replace(batch, fence=fence, unique=unique, create=create, claim=self._worker, barrier=True)
        receipt = await append(self._store, self._id, batch, clock=self._clock)
        if receipt.existing is None:
            self._is_open = True
            self._barrier = self._put
            self._acknowledge(entries, receipt)
        return receipt.existing

    def put(
        self,
        *records: Record,
        message_id: str = "",
        events: Sequence[TurnEvent] = (),
        marks: tuple[Mark, ...] = (),
        settle: Unique | None = None,
        release: bool = False,
    ) -> int:
        """Queue records and lines that are stored together or not at all; gives the records' bytes, does not wait.

        `message_id` is the prompt that the lines of `events` belong to.
        `journal_too_large` for a record that no store takes.
        """
        if self.error is not None:
            raise self.error
        entry = _Entry(marks=marks, settle=settle, release=release)
        for record in records:
            placed, data = self._encoded(record)
            entry.records.append((placed, data))
            entry.record_bytes += len(data)
        for cursor, event in enumerate(events, self._cursor + 1):
            line = lines.encode(event, message_id=message_id, epoch=self.epoch, cursor=cursor)
            entry.lines.append(line)
            entry.line_bytes += len(line)
        self._enqueue(entry)
        return entry.record_bytes

    @property
    def is_full(self) -> bool:
        """Whether too many lines are queued."""
        return self._waiting_lines >= MAX_EVENTS or self._waiting_bytes >= MAX_EVENT_BYTES

    async def room(self) -> None:
        """Wait while too many lines are queued."""
        await self._until(lambda: not self.is_full)

    async def stored(self, *, barrier: bool = False) -> None:
        """Wait until all that was put is stored; with `barrier` also so that it outlives a loss of power."""
        if barrier and self._barrier < self._put and self.error is None:
            if not self._queue:
                self._enqueue(_Entry())
            self._queue[-1].barrier = True
            self._barrier = self._put
        position = self._put
        await self._until(lambda: self._stored >= position)

    def fail(self, error: LangfxError) -> None:
        """Write nothing more: the first error counts, the owner and all who wait are told."""
        if self.error is None:
            self.error = error
            self._owner.failed(error)
            self._awaken()

    async def close(self) -> None:
        """Stop writing, whatever is still queued."""
        if self.error is None:
            self.error = SessionClosedError("the journal was closed")
            self._awaken()
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.wait([self._writer])

    def _encoded(self, record: Record) -> tuple[Record, bytes]:
        placed = record if isinstance(record, Input) else replace(record, cursor=self._cursor)
        data = codec.encode(placed, at=self._clock.now().isoformat(timespec="milliseconds"))
        if len(data) > MAX_RECORD:
            raise JournalTooLargeError(f"a record of {len(data)} bytes is over the limit of {MAX_RECORD}")
        return placed, data

    def _enqueue(self, entry: _Entry) -> None:
        self._queue.append(entry)
        self._put += 1
        self._cursor += len(entry.lines)
        self._waiting_lines += len(entry.lines)
        self._waiting_bytes += entry.line_bytes
        if self._is_open and self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """Append until the queue is empty; one task at a time does this."""
        try:
            while self._queue and self.error is None:
                entries, batch = self._taken()
                fence = Fence(epoch=self._head.epoch, chain=self._head.chain)
                receipt = await append(self._store, self._id, replace(batch, fence=fence), clock=self._clock)
                self._acknowledge(entries, receipt)
        except LangfxError as error:
            self.fail(error)
        except Exception as error:  # noqa: BLE001  # those who wait for the writer must hear of its end
            self.fail(StoreError(f"the journal's writer failed: {error!r:.200}"))
        finally:
            self._writer = None

    def _taken(self) -> tuple[list[_Entry], Batch]:
        """The next entries that fit into one batch, and that batch, still without its fence."""
        entries: list[_Entry] = []
        size = 0
        while self._queue and (not entries or size + self._queue[0].bytes <= MAX_BATCH):
            entries.append(self._queue.popleft())
            size += entries[-1].bytes
        batch = Batch(
            key=self._next_key(),
            records=tuple(data for entry in entries for _, data in entry.records),
            lines=tuple(line for entry in entries for line in entry.lines),
            marks=tuple(mark for entry in entries for mark in entry.marks),
            settle=tuple(entry.settle for entry in entries if entry.settle is not None),
            release=any(entry.release for entry in entries),
            barrier=any(entry.barrier for entry in entries),
        )
        return entries, batch

    def _acknowledge(self, entries: list[_Entry], receipt: Receipt) -> None:
        stored = [placed for entry in entries for placed in entry.records]
        written = sum(len(entry.lines) for entry in entries)
        head, before = receipt.head, self._head
        numbers = (head.epoch, head.cursor)
        if numbers != (self.epoch, before.cursor + written) or head.chain < before.chain + len(stored):
            raise JournalInvalidError("the store's receipt does not fit what was written")
        self._head = head
        self._stored += len(entries)
        self._waiting_lines -= written
        self._waiting_bytes -= sum(entry.line_bytes for entry in entries)
        first = head.chain - len(stored) + 1
        applied = [Applied(seq=first + n, record=record, size=len(data)) for n, (record, data) in enumerate(stored)]
        self._owner.stored(applied, head)
        self._awaken()

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            if self.error is not None:
                raise self.error
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def _awaken(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


@dataclass(slots=True, kw_only=True)
class _Entry:
    """What must be stored together."""

    records: list[tuple[Record, bytes]] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    marks: tuple[Mark, ...] = ()
    settle: Unique | None = None
    release: bool = False
    barrier: bool = False
    record_bytes: int = 0
    line_bytes: int = 0

    @property
    def bytes(self) -> int:
        return self.record_bytes + self.line_bytes


async def append(store: Store, session_id: str, batch: Batch, *, clock: Clock) -> Receipt:
    """Append a batch, and again after a second, twice, where the store's error may pass.

    The batch has a key or a unique key, so that it lands once however often it is sent. What is not an error of the
    store's contract counts as `append_failed`, a receipt that is none as `journal_invalid`.
    """
    attempt = 1
    while True:
        try:
            return _checked(await _append(store, session_id, batch))
        except StoreError as error:
            if error.code in FINAL or attempt == ATTEMPTS:
                raise
        attempt += 1
        await clock.sleep(RETRY_AFTER)


async def _append(store: Store, session_id: str, batch: Batch) -> Receipt:
    try:
        return await store.append(session_id, batch)
    except LangfxError:
        raise
    except Exception as error:
        raise StoreError(f"the store failed: {error!r:.200}") from error


def _checked(receipt: Receipt) -> Receipt:
    head = receipt.head if isinstance(receipt, Receipt) else None
    numbers = (head.seq, head.chain, head.epoch, head.cursor) if isinstance(head, Head) else (None,)
    if not all(isinstance(number, int) for number in numbers):
        raise JournalInvalidError("what the store answered is no receipt")
    return receipt
