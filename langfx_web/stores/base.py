"""The store contract: opaque bytes kept per session, and one append that is compared, all or nothing, and gapless.

A store knows nothing of turns. Every session has one `Head`, a log of records, a log of lines and some unique keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias

MIB = 1024 * 1024
MAX_RECORD = 12 * MIB
MAX_LINE = 8 * MIB
MAX_BATCH = 16 * MIB
"""Bytes of the records and lines of one batch together."""
LINES_PAGE = 256
"""Lines that one read gives at most."""
LINES_PAGE_BYTES = MIB
"""Bytes after which a read of lines ends; one longer line is given alone."""
PREVIEW = 120
"""Characters that a head keeps of the first input."""

Mark: TypeAlias = Literal["input", "taken", "start", "end"]
"""What a batch does to the work seen in a head: `pending` + 1, `pending` - 1, `open`, not `open`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """All that is known of a session without reading it; a session without a head counts as one of zeros.

    `seq` and `cursor` number the last record and line, `chain` is the last record of a fenced append, `epoch` counts
    claims, `beat` counts fenced appends. Times are ISO 8601 in UTC, for display.
    """

    seq: int = 0
    chain: int = 0
    epoch: int = 0
    holder: str | None = None
    beat: int = 0
    cursor: int = 0
    agent: str = ""
    preview: str = ""
    created_at: str = ""
    updated_at: str = ""
    open: bool = False
    pending: int = 0
    last_key: str | None = None


NO_HEAD = Head()
"""What a session that does not exist is compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """What the head must still be for a batch to be written; `seq` is compared only where it is given."""

    epoch: int
    chain: int
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Unique:
    """A key that a session takes once, and the text found under it."""

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """What the head of a new session says; not looked at where there is a head."""

    agent: str
    preview: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one append writes.

    Without a `fence` it holds one input: records, a `unique`, `create` and marks, nothing else. `key` names a fenced
    batch, so that its repetition lands once. `settle` replaces the texts of unique keys, `claim` is the new holder.
    `barrier` asks that this batch and all before it outlive a loss of power.
    """

    fence: Fence | None = None
    key: str | None = None
    unique: Unique | None = None
    settle: tuple[Unique, ...] = ()
    claim: str | None = None
    release: bool = False
    create: Creation | None = None
    records: tuple[bytes, ...] = ()
    lines: tuple[bytes, ...] = ()
    marks: tuple[Mark, ...] = ()
    barrier: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The head after an append; `existing` is the text of a unique key that was taken: then nothing was written."""

    head: Head
    existing: str | None = None


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record and its place in the log."""

    seq: int
    data: bytes


@dataclass(frozen=True, slots=True)
class StoredLine:
    """One line and its number."""

    cursor: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One consistent read of a session; without a head it does not exist."""

    head: Head | None
    records: tuple[StoredRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session in a listing."""

    id: str
    head: Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Something was appended; hints may be lost, doubled or late, and say nothing about what."""

    id: str
    seq: int
    cursor: int


class Hold(Protocol):
    """The right to run a session's turn, as far as liveness goes; only the fence decides who writes."""

    @property
    def lost(self) -> asyncio.Event:
        """Set when someone else stole the hold."""


class Watch(Protocol):
    """A registered wish for hints; ends when closed or dropped."""

    def close(self) -> None:
        """Get no more hints."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc_info: object) -> None: ...


class Store(Protocol):
    """Where conversations live.

    Errors: `fenced`, `session_missing` (a fence with an epoch, or no `create`, and no head), `store_full`,
    `store_closed`, `store_blocked`, `store_unavailable`, `append_failed` for all else, with its cause; a batch that
    breaks the contract is `invalid_argument`, one over a limit `journal_too_large`, data that is not bytes a TypeError.
    """

    @property
    def name(self) -> str:
        """The store's identity: objects of one name share their sessions."""

    async def head(self, id: str) -> Head | None:
        """The head of a session that exists."""

    async def append(self, id: str, batch: Batch) -> Receipt:
        """Write a batch in one transaction; returns once it is committed.

        In this order: the `key` of the last fenced batch again gives a receipt and writes nothing (`fenced` if the
        content differs); a taken `unique` gives its text; a missing session; the fence.
        """

    async def load(self, id: str, after: int = 0) -> Loaded:
        """The head and the records after number `after`."""

    async def lines(self, id: str, after: int, limit: int = LINES_PAGE) -> tuple[StoredLine, ...]:
        """The next lines after number `after`, at most `limit` and 256, and about 1 MiB."""

    async def lookup(self, id: str, key: str) -> str | None:
        """The text of a unique key."""

    async def sessions(
        self,
        agent: str | None = None,
        *,
        work: bool = False,
        after: ListedSession | None = None,
        limit: int = 100,
    ) -> tuple[ListedSession, ...]:
        """Sessions by the time of their last append, newest first, after the last one of the page before.

        `agent` keeps only that agent's sessions, `work` only those with an open turn or a waiting input.
        """

    async def delete(self, id: str) -> None:
        """Remove all of a session."""

    def hold(
        self, id: str, holder: str, *, steal: bool = False, wait: bool = True
    ) -> AbstractAsyncContextManager[Hold | None]:
        """Have the hold of a session while inside; others wait for it in order.

        `steal` takes it at once and tells the one who had it; without `wait`, a hold that is taken gives None.
        """

    def alive(self, holder: str) -> AbstractAsyncContextManager[None]:
        """Show others that this worker lives, while inside."""

    async def gone(self, holder: str) -> None:
        """Wait until that worker does not live."""

    def watch(self, id: str | None, notify: Callable[[Hint], None]) -> Watch:
        """Call `notify` after appends to one session, or to any."""

    async def close(self) -> None:
        """End this object's use of the store; what is kept stays."""
