"""A store in this interpreter's memory: the reference that every other store is tested against."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Self
from weakref import WeakSet, WeakValueDictionary

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import FencedError, StoreError
from langfx_web.stores.base import (
    LINES_PAGE,
    LINES_PAGE_BYTES,
    Batch,
    Head,
    Hint,
    Hold,
    ListedSession,
    Loaded,
    Receipt,
    StoredLine,
    StoredRecord,
)
from langfx_web.stores.batches import check_batch, check_fence, next_head
from langfx_web.stores.cache_table import CACHE_BYTES, CACHE_ENTRIES, MemoryCacheTable, Tables


class MemoryStore:
    """Conversations in memory. Stores of one name share their sessions; without a name they are shared with nobody.

    What is kept lives as long as one of the stores that share it.
    """

    _named: ClassVar[WeakValueDictionary[str, _Shared]] = WeakValueDictionary()

    def __init__(self, name: str | None = None, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._closed = False
        if name is None:
            self._shared = _Shared()
            self._name = f"memory-{id(self._shared):x}"
        else:
            self._shared = self._named.setdefault(name, _Shared())
            self._name = name

    @property
    def name(self) -> str:
        """The store's identity."""
        return self._name

    async def head(self, id: str) -> Head | None:
        """The head of a session that exists."""
        session = self._sessions().get(id)
        return session.head if session else None

    async def append(self, id: str, batch: Batch) -> Receipt:
        """Write a batch, all or nothing; see `Store.append`."""
        check_batch(id, batch)
        session = self._sessions().get(id)
        if session is not None and batch.fence is not None and batch.key == session.head.last_key:
            if batch != session.last_batch:
                raise FencedError("another batch was written under this key")
            return Receipt(head=session.head)
        if session is not None and batch.unique is not None and batch.unique.key in session.uniques:
            return Receipt(head=session.head, existing=session.uniques[batch.unique.key])
        check_fence(session.head if session else None, batch)
        head = next_head(session.head if session else None, batch, _now(self._clock))
        if session is None:
            session = self._sessions()[id] = _Session(head)
        session.write(head, batch)
        self._shared.hint(Hint(id=id, seq=head.seq, cursor=head.cursor))
        return Receipt(head=head)

    async def load(self, id: str, after: int = 0) -> Loaded:
        """The head and the records after number `after`."""
        session = self._sessions().get(id)
        if session is None:
            return Loaded(head=None, records=())
        records = (StoredRecord(after + n, data) for n, data in enumerate(session.records[after:], 1))
        return Loaded(head=session.head, records=tuple(records))

    async def lines(self, id: str, after: int, limit: int = LINES_PAGE) -> tuple[StoredLine, ...]:
        """The next lines after number `after`."""
        session = self._sessions().get(id)
        page: list[StoredLine] = []
        size = 0
        for data in session.lines[after : after + min(limit, LINES_PAGE)] if session else ():
            size += len(data)
            if page and size > LINES_PAGE_BYTES:
                break
            page.append(StoredLine(after + len(page) + 1, data))
        return tuple(page)

    async def lookup(self, id: str, key: str) -> str | None:
        """The text of a unique key."""
        session = self._sessions().get(id)
        return session.uniques.get(key) if session else None

    async def sessions(
        self,
        agent: str | None = None,
        *,
        work: bool = False,
        after: ListedSession | None = None,
        limit: int = 100,
    ) -> tuple[ListedSession, ...]:
        """Sessions by the time of their last append, newest first."""
        found = [
            ListedSession(id=id, head=session.head)
            for id, session in self._sessions().items()
            if (agent is None or session.head.agent == agent)
            and (not work or session.head.open or session.head.pending > 0)
        ]
        found.sort(key=_age, reverse=True)
        return tuple(listed for listed in found if after is None or _age(listed) < _age(after))[:limit]

    async def delete(self, id: str) -> None:
        """Remove all of a session."""
        if self._sessions().pop(id, None) is not None:
            self._shared.hint(Hint(id=id, seq=0, cursor=0))

    def hold(
        self, id: str, holder: str, *, steal: bool = False, wait: bool = True
    ) -> AbstractAsyncContextManager[Hold | None]:
        """Have the hold of a session while inside; see `Store.hold`."""
        return self._hold(id, steal, wait)

    @asynccontextmanager
    async def _hold(self, id: str, steal: bool, wait: bool) -> AsyncIterator[Hold | None]:
        self._sessions()
        queue = self._shared.holds.setdefault(id, _HoldQueue())
        hold = queue.steal() if steal else await queue.take() if wait or queue.free else None
        try:
            yield hold
        finally:
            if hold is not None:
                queue.give_back(hold)
            if queue.free and self._shared.holds.get(id) is queue:
                del self._shared.holds[id]

    @asynccontextmanager
    async def alive(self, holder: str) -> AsyncIterator[None]:
        """Show others that this worker lives, while inside."""
        self._sessions()
        death = self._shared.workers.setdefault(holder, _Life())
        death.count += 1
        try:
            yield
        finally:
            death.count -= 1
            if death.count == 0:
                self._shared.workers.pop(holder, None)
                death.over.set()

    async def gone(self, holder: str) -> None:
        """Wait until that worker does not live."""
        self._sessions()
        while (life := self._shared.workers.get(holder)) is not None:
            await life.over.wait()

    def watch(self, id: str | None, notify: Callable[[Hint], None]) -> MemoryWatch:
        """Call `notify` after appends to one session, or to any."""
        self._sessions()
        return MemoryWatch(self._shared.watches, id, notify)

    def cache(
        self, namespace: str, *, max_entries: int = CACHE_ENTRIES, max_bytes: int = CACHE_BYTES
    ) -> MemoryCacheTable:
        """The cached answers of a namespace; see `CacheStore.cache`."""
        return MemoryCacheTable(
            tables=self._tables,
            namespace=namespace,
            max_entries=max_entries,
            max_bytes=max_bytes,
            clock=self._clock,
        )

    async def close(self) -> None:
        """End this object's use of the store; others of its name go on."""
        self._closed = True

    def _sessions(self) -> dict[str, _Session]:
        return self._opened().sessions

    def _tables(self) -> Tables:
        return self._opened().tables

    def _opened(self) -> _Shared:
        if self._closed:
            raise StoreError(f"the store {self._name!r} was closed", code="store_closed")
        return self._shared


class MemoryWatch:
    """A registered wish for hints; ends when closed or dropped."""

    def __init__(self, watches: WeakSet[MemoryWatch], id: str | None, notify: Callable[[Hint], None]) -> None:
        self.id = id
        self.notify = notify
        self._watches = watches
        watches.add(self)

    def close(self) -> None:
        """Get no more hints."""
        self._watches.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class MemoryHold:
    """The right to run a session's turn; `lost` is set when someone else stole it."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()


@dataclass(slots=True, weakref_slot=True, eq=False)
class _Shared:
    sessions: dict[str, _Session] = field(default_factory=dict)
    holds: dict[str, _HoldQueue] = field(default_factory=dict)
    workers: dict[str, _Life] = field(default_factory=dict)
    watches: WeakSet[MemoryWatch] = field(default_factory=WeakSet)
    tables: Tables = field(default_factory=dict)

    def hint(self, hint: Hint) -> None:
        for watch in list(self.watches):
            if watch.id in (None, hint.id):
                watch.notify(hint)


@dataclass(slots=True)
class _Session:
    head: Head
    records: list[bytes] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    uniques: dict[str, str] = field(default_factory=dict)
    last_batch: Batch | None = None

    def write(self, head: Head, batch: Batch) -> None:
        self.head = head
        self.records += batch.records
        self.lines += batch.lines
        for unique in (*([batch.unique] if batch.unique else []), *batch.settle):
            self.uniques[unique.key] = unique.text
        if batch.fence is not None:
            self.last_batch = batch


@dataclass(slots=True)
class _Life:
    count: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)


class _HoldQueue:
    """One owner, the others in the order they came."""

    def __init__(self) -> None:
        self._owner: MemoryHold | None = None
        self._waiting: deque[asyncio.Future[MemoryHold]] = deque()

    @property
    def free(self) -> bool:
        return self._owner is None

    def steal(self) -> MemoryHold:
        if self._owner is not None:
            self._owner.lost.set()
        self._owner = MemoryHold()
        return self._owner

    async def take(self) -> MemoryHold:
        if self._owner is None:
            self._owner = MemoryHold()
            return self._owner
        turn: asyncio.Future[MemoryHold] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back(turn.result())
            raise

    def give_back(self, hold: MemoryHold) -> None:
        if self._owner is not hold:
            return
        self._owner = None
        while self._waiting and self._owner is None:
            turn = self._waiting.popleft()
            if not turn.done():
                self._owner = MemoryHold()
                turn.set_result(self._owner)


def _age(listed: ListedSession) -> tuple[str, str]:
    return (listed.head.updated_at, listed.id)


def _now(clock: Clock) -> str:
    return clock.now().isoformat(timespec="microseconds")
