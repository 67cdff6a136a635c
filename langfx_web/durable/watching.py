"""Who watches the turns of a conversation, for all objects of this worker that stand for the conversation."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from langfx_web.agentic import Session
from langfx_web.deferred import later
from langfx_web.stores.base import Store

if TYPE_CHECKING:
    from langfx_web.events import session as events
    from langfx_web.events.session import SessionEvent, WatchedEvent
else:
    events = later("langfx_web.events.session")

MAX_WAITING = 1_000
"""Events that wait for one reader."""


class Watch:
    """The session events of a conversation's turns, from its making on: an async iterator with one reader.

    It ends by `aclose()`, or when it is dropped. Of a reader who falls back by more than 1,000 events the oldest are
    let go, and an `EventsDropped` stands in their place.
    """

    def __init__(self, watchers: Watchers) -> None:
        self._watchers = watchers  # which last as long as one of their readers
        self._waiting: deque[SessionEvent] = deque()
        self._dropped = 0
        self._last: SessionEvent | None = None
        self._is_closed = False
        self._told = asyncio.Event()

    def tell(self, event: SessionEvent) -> None:
        """Keep an event for the reader."""
        if len(self._waiting) == MAX_WAITING:
            self._last = self._waiting.popleft()
            self._dropped += 1
        self._waiting.append(event)
        self._told.set()

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> WatchedEvent:
        while not self._waiting:
            if self._is_closed:
                raise StopAsyncIteration
            self._told.clear()
            await self._told.wait()
        if self._last is not None:
            last, count = self._last, self._dropped
            self._last, self._dropped = None, 0
            return events.EventsDropped(session_id=last.session_id, at=last.at, count=count)
        return self._waiting.popleft()

    async def aclose(self) -> None:
        """Read no more."""
        self._watchers.leave(self)
        self._is_closed = True
        self._waiting.clear()
        self._last = None
        self._told.set()


class Watchers:
    """The readers of one conversation's turns, and the session of the turn that runs here; without readers no cost."""

    def __init__(self) -> None:
        self._watches: WeakSet[Watch] = WeakSet()
        self._session: Session | None = None
        self._unsubscribe: Callable[[], None] | None = None

    def watch(self) -> Watch:
        """Be told of what happens from now on."""
        watch = Watch(self)
        self._watches.add(watch)
        self._listen()
        return watch

    def leave(self, watch: Watch) -> None:
        """Be told of nothing more."""
        self._watches.discard(watch)

    @contextmanager
    def shown(self, session: Session) -> Iterator[None]:
        """A turn runs in this session meanwhile."""
        self._session = session
        self._listen()
        try:
            yield
        finally:
            self._session = self._unsubscribe = None

    def _listen(self) -> None:
        if self._session is not None and self._unsubscribe is None and self._watches:
            self._unsubscribe = self._session.subscribe(self._tell)

    def _tell(self, event: SessionEvent) -> None:
        if not self._watches and self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        for watch in list(self._watches):
            watch.tell(event)


_rooms: WeakKeyDictionary[Store, WeakValueDictionary[str, Watchers]] = WeakKeyDictionary()


def watchers_of(store: Store, session_id: str) -> Watchers:
    """Those of one conversation; they last as long as somebody holds them."""
    return _rooms.setdefault(store, WeakValueDictionary()).setdefault(session_id, Watchers())
