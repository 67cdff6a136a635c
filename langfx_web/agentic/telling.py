"""What a session tells of itself: its log lines, and its observers, who are told of all that happens."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from langfx_web.agentic.trace import OpenNode
from langfx_web.clock import Clock
from langfx_web.errors import InvalidArgumentError
from langfx_web.events.session import (
    ActionEnd,
    ActionStart,
    LogAdded,
    MetadataUpdate,
    ProgressUpdate,
    QueryEnd,
    QueryStart,
    SessionEvent,
)
from langfx_web.events.trace import Level, LogEntry, Progress, read_only
from langfx_web.masking import masked

Observer: TypeAlias = Callable[[SessionEvent], object]
"""A plain, quick function: it runs in the time of the work."""

MAX_ERRORS = 100
"""Exceptions of observers that are kept."""

_STARTS = {"query": QueryStart, "step": QueryStart}
_ENDS = {"query": QueryEnd, "step": QueryEnd}


class Telling:
    """The lines and observers of one session."""

    def __init__(self, session_id: str, clock: Clock, *, max_logs: int) -> None:
        self.logs: deque[LogEntry] = deque(maxlen=max_logs)
        self.dropped_logs = 0
        self.errors: deque[BaseException] = deque(maxlen=MAX_ERRORS)
        self._session_id = session_id
        self._clock = clock
        self._observers: dict[object, Observer] = {}
        self._failed: set[object] = set()

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Tell it everything from now on, after those who came before; until what this returns is called."""
        if not callable(observer) or inspect.iscoroutinefunction(observer):
            raise InvalidArgumentError("an observer must be a plain function of an event", details={"option": "fn"})
        token = object()
        self._observers[token] = observer

        def unsubscribe() -> None:
            self._observers.pop(token, None)
            self._failed.discard(token)

        return unsubscribe

    def release(self) -> None:
        """Let go of all observers."""
        self._observers.clear()
        self._failed.clear()

    def began(self, node: OpenNode) -> None:
        """A node was opened."""
        if self._observers:
            self._tell(_STARTS.get(node.kind, ActionStart), node=node.shallow())

    def ended(self, node: OpenNode) -> None:
        """A node was closed."""
        if self._observers:
            self._tell(_ENDS.get(node.kind, ActionEnd), node=node.shallow())

    def log(self, node_id: str, level: Level, message: str, data: Mapping[str, Any]) -> None:
        """A line; the oldest makes room for it."""
        said, data = masked(str(message)), read_only(data)
        entry = LogEntry(at=self._now(), node_id=node_id, level=level, message=said, data=data)
        self.dropped_logs += len(self.logs) == self.logs.maxlen
        self.logs.append(entry)
        self._tell(LogAdded, entry=entry)

    def progress(self, node: OpenNode, progress: Progress) -> None:
        """How far a node is."""
        node.progress = progress
        self._tell(
            ProgressUpdate,
            node_id=node.id,
            title=progress.title,
            fraction=progress.fraction,
            data=progress.data,
        )

    def metadata(self, node: OpenNode) -> None:
        """A node has more metadata."""
        self._tell(MetadataUpdate, node_id=node.id, metadata=read_only(node.metadata))

    def _tell(self, kind: Callable[..., SessionEvent], **fields: Any) -> None:
        if not self._observers:
            return
        event = kind(session_id=self._session_id, at=self._now(), **fields)
        for token, observer in tuple(self._observers.items()):
            if token not in self._observers:
                continue  # unsubscribed by one before it
            try:
                observer(event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # the work goes on whatever those do who watch it
                self.errors.append(error)
                self._log_failure(token, error)

    def _log_failure(self, token: object, error: BaseException) -> None:
        """Once for each observer, which may fail again at being told of this."""
        if token not in self._failed:
            self._failed.add(token)
            self.log(self._session_id, "error", f"an observer raised {type(error).__name__}", {})

    def _now(self) -> datetime:
        return self._clock.now()
