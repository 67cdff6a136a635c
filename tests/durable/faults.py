"""A store that notes what it is asked, and that a test can block, break, or have lose its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from langfx_web.stores import Batch, Head, Hint, Hold, ListedSession, Loaded, Receipt, Store, StoredLine, Watch

Chooses = Callable[[Batch], bool]


@dataclass(slots=True)
class Fault:
    """What happens to the appends it chooses: `times` of them, or all."""

    chooses: Chooses
    error: BaseException | None
    is_committed: bool
    times: float


class Gate:
    """Appends that wait until it is opened; `reached` is set when the first one waits."""

    def __init__(self, chooses: Chooses) -> None:
        self.chooses = chooses
        self.reached = asyncio.Event()
        self._opened = asyncio.Event()

    def open(self) -> None:
        """Let them go on."""
        self._opened.set()

    async def passed(self) -> None:
        """Wait until it is open."""
        self.reached.set()
        await self._opened.wait()


class WatchedStore:
    """Any store, watched: `calls` has the names of all calls, `batches` what was appended, committed or not.

    `delay` gives the turns of the loop that an append takes. `hangs_at=(k, "before" or "after")` lets the k-th read or
    append, and all later ones, never come back, before or after it is done; `hanging` is set then.
    """

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.calls: list[str] = []
        self.batches: list[Batch] = []
        self.read_error: BaseException | None = None
        self.in_flight = 0
        self.most_in_flight = 0
        self.delay: Callable[[], int] = lambda: 1
        self.hangs_at: tuple[int, str] | None = None
        self.hanging = asyncio.Event()
        self.operations = 0
        self._gates: list[Gate] = []
        self._faults: list[Fault] = []

    @property
    def name(self) -> str:
        """The inner store's name."""
        return self.inner.name

    def block(self, chooses: Chooses) -> Gate:
        """Hold up the appends that are chosen until the gate is opened."""
        self._gates.append(Gate(chooses))
        return self._gates[-1]

    def fail(self, chooses: Chooses, error: BaseException, *, is_committed: bool = False, times: float = 1) -> None:
        """Answer the appends that are chosen with an error, after they were written if `is_committed`."""
        self._faults.append(Fault(chooses, error, is_committed, times))

    async def append(self, id: str, batch: Batch) -> Receipt:
        """Append, with what the test has planned."""
        self.calls.append("append")
        self.batches.append(batch)
        self.operations += 1
        self.in_flight += batch.fence is not None
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            for gate in self._gates:
                if gate.chooses(batch):
                    await gate.passed()
            for _ in range(self.delay()):
                await asyncio.sleep(0)
            await self._maybe_hang("before")
            receipt = await self._append(id, batch)
            await self._maybe_hang("after")
            return receipt
        finally:
            self.in_flight -= batch.fence is not None

    async def _append(self, id: str, batch: Batch) -> Receipt:
        for fault in self._faults:
            if fault.times > 0 and fault.chooses(batch):
                fault.times -= 1
                if fault.is_committed:
                    await self.inner.append(id, batch)
                assert fault.error is not None
                raise fault.error
        return await self.inner.append(id, batch)

    async def head(self, id: str) -> Head | None:
        """As the inner store."""
        await self._note_read("head")
        return await self.inner.head(id)

    async def load(self, id: str, after: int = 0) -> Loaded:
        """As the inner store."""
        await self._note_read("load")
        return await self.inner.load(id, after)

    async def lines(self, id: str, after: int, limit: int = 256) -> tuple[StoredLine, ...]:
        """As the inner store."""
        await self._note_read("lines")
        return await self.inner.lines(id, after, limit)

    async def lookup(self, id: str, key: str) -> str | None:
        """As the inner store."""
        await self._note_read("lookup")
        return await self.inner.lookup(id, key)

    async def sessions(
        self, agent: str | None = None, *, work: bool = False, after: ListedSession | None = None, limit: int = 100
    ) -> tuple[ListedSession, ...]:
        """As the inner store."""
        self.calls.append("sessions")
        return await self.inner.sessions(agent, work=work, after=after, limit=limit)

    async def delete(self, id: str) -> None:
        """As the inner store."""
        self.calls.append("delete")
        await self.inner.delete(id)

    def hold(
        self, id: str, holder: str, *, steal: bool = False, wait: bool = True
    ) -> AbstractAsyncContextManager[Hold | None]:
        """As the inner store."""
        self.calls.append("hold")
        return self.inner.hold(id, holder, steal=steal, wait=wait)

    def alive(self, holder: str) -> AbstractAsyncContextManager[None]:
        """As the inner store."""
        self.calls.append("alive")
        return self.inner.alive(holder)

    async def gone(self, holder: str) -> None:
        """As the inner store."""
        self.calls.append("gone")
        await self.inner.gone(holder)

    def watch(self, id: str | None, notify: Callable[[Hint], None]) -> Watch:
        """As the inner store."""
        self.calls.append("watch")
        return self.inner.watch(id, notify)

    async def close(self) -> None:
        """As the inner store."""
        self.calls.append("close")
        await self.inner.close()

    async def _note_read(self, name: str) -> None:
        self.calls.append(name)
        self.operations += 1
        if self.read_error is not None:
            raise self.read_error
        await self._maybe_hang("before")

    async def _maybe_hang(self, when: str) -> None:
        if self.hangs_at is None:
            return
        at, at_when = self.hangs_at
        if self.operations > at or (self.operations == at and when == at_when):
            self.hanging.set()
            await asyncio.Event().wait()


def has(kind: str) -> Chooses:
    """Chooses batches with a record of this kind."""
    mark = f'"kind":"{kind}"'.encode()
    return lambda batch: any(mark in record for record in batch.records)


def anything(batch: Batch) -> bool:
    """Chooses every batch."""
    return True


async def settle(turns: int = 60) -> None:
    """Give every task that can go on the turns of the loop to do so."""
    for _ in range(turns):
        await asyncio.sleep(0)
