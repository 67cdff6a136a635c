"""What an observer is told of a conversation's journal: by session, apart from any run."""

from __future__ import annotations

from collections.abc import Sequence

from langfx_web.clock import Clock
from langfx_web.durable.journal import Applied
from langfx_web.errors import LangfxError
from langfx_web.observation import (
    ObservedJournalCommit,
    ObservedJournalError,
    ObservedJournalRestore,
    Observer,
)
from langfx_web.stores.base import Head


class ObservedJournal:
    """Tells of what is read, stored and not stored of one session."""

    def __init__(self, observer: Observer, session_id: str, clock: Clock) -> None:
        self._observer = observer
        self._id = session_id
        self._clock = clock

    def restored(self, first_seq: int, head: Head) -> None:
        """The records from `first_seq` on were read."""
        self._observer.tell(
            ObservedJournalRestore(
                at=self._clock.now(),
                session_id=self._id,
                first_seq=first_seq,
                last_seq=head.seq,
                cursor=head.cursor,
            )
        )

    def committed(self, records: Sequence[Applied], head: Head) -> None:
        """These records, and lines up to the head's, are stored."""
        self._observer.tell(
            ObservedJournalCommit(
                at=self._clock.now(),
                session_id=self._id,
                first_seq=records[0].seq if records else head.seq + 1,
                last_seq=records[-1].seq if records else head.seq,
                cursor=head.cursor,
            )
        )

    def failed(self, error: LangfxError) -> None:
        """Nothing more is stored by this worker of the turn that it runs."""
        self._observer.tell(ObservedJournalError(at=self._clock.now(), session_id=self._id, error_code=error.code))
