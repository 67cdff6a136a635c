"""This worker's copy of a conversation: the fold of its journal, kept up to date with what is written and read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langfx_web.durable.fold import Conversation
from langfx_web.durable.journal import Applied
from langfx_web.stores.base import NO_HEAD, Head, Store

if TYPE_CHECKING:
    from langfx_web.durable.observed_journal import ObservedJournal


class Replica:
    """A conversation and the newest head seen of it; nothing is read before `catch_up`.

    `is_new` says that the session cannot exist yet, so that there is nothing to read. `is_loaded` is made false where
    a fence has shown that others have written what we have not seen. A `watch` is told what is read and stored.
    """

    def __init__(self, store: Store, session_id: str, *, is_new: bool, watch: ObservedJournal | None = None) -> None:
        self.conversation = Conversation()
        self.head = NO_HEAD
        self._store = store
        self._id = session_id
        self._watch = watch
        self.is_loaded = is_new

    @property
    def is_current(self) -> bool:
        """Whether all that is known to be stored is in the conversation."""
        return self.is_loaded and self.head.seq == self.conversation.seq

    def stored(self, records: Sequence[Applied], head: Head) -> None:
        """Add what was stored by us; where others' records lie between, `catch_up` reads both."""
        for stored in records:
            if stored.seq == self.conversation.seq + 1:
                self.conversation.apply(stored.seq, stored.record, size=stored.size)
        self.saw(head)
        if self._watch is not None:
            self._watch.committed(records, head)

    def saw(self, head: Head) -> None:
        """Remember the newest head."""
        if (head.seq, head.beat) >= (self.head.seq, self.head.beat):
            self.head = head

    async def catch_up(self) -> None:
        """Read what is stored and not yet in the conversation.

        `journal_invalid` or `journal_version` where that cannot be. A session that was deleted meanwhile starts anew.
        """
        before = self.conversation.seq
        loaded = await self._store.load(self._id, before)
        head = loaded.head or NO_HEAD
        if self.head.created_at and (head.created_at != self.head.created_at or head.seq < before):
            self.conversation, self.head = Conversation(), NO_HEAD
            loaded = await self._store.load(self._id)
            head = loaded.head or NO_HEAD
        known = self.conversation.seq
        self.conversation.extend([record for record in loaded.records if record.seq > known])
        self.saw(head)
        self.is_loaded = True
        if self._watch is not None and head.seq > known:
            self._watch.restored(known + 1, head)
