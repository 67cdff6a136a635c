"""What all views of one session have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from langfx_web.agentic.trace import OpenNode, Trace
from langfx_web.clock import Clock
from langfx_web.deferred import later

if TYPE_CHECKING:
    from langfx_web.agentic import telling
    from langfx_web.agentic.telling import Telling
    from langfx_web.events.trace import Kind
    from langfx_web.queries import QueryStream
else:
    telling = later("langfx_web.agentic.telling")


class Shared:
    """The trace, the clock, and what runs; `closed_by` is why nothing more may begin."""

    def __init__(self, trace: Trace, clock: Clock, *, max_logs: int) -> None:
        self.trace = trace
        self.clock = clock
        self._max_logs = max_logs
        self._telling: Telling | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self.cancelled: set[asyncio.Task[Any]] = set()
        self.streams: WeakSet[QueryStream] = WeakSet()
        self.closed_by: str | None = None

    @property
    def telling(self) -> Telling:
        """Its log lines and observers; most sessions have neither."""
        if self._telling is None:
            self._telling = telling.Telling(self.trace.root.id, self.clock, max_logs=self._max_logs)
        return self._telling

    def open(
        self, parent: OpenNode, kind: Kind, name: str, metadata: Mapping[str, Any] | None, letter: str | None
    ) -> OpenNode:
        """Begin a node; `trace_full` where there is no room for it."""
        node = self.trace.open(parent, kind, name, self.clock.now(), letter=letter)
        if metadata:
            node.metadata.update(metadata)
        if self._telling is not None:
            self._telling.began(node)
        return node

    def close(self, node: OpenNode, error: BaseException | None, *, cancelled: bool = False) -> None:
        """End a node as its work ended."""
        cancelled = cancelled or isinstance(error, (asyncio.CancelledError, GeneratorExit))
        node.end(self.clock.now(), error, cancelled=cancelled)
        if self._telling is not None and node is not self.trace.root:
            self._telling.ended(node)

    def cancel(self, reason: str) -> None:
        """End all streams and tasks, and let nothing more begin."""
        self.closed_by = reason
        for stream in list(self.streams):
            stream.cancel(reason)
        for task in list(self.tasks - self.cancelled):
            self.cancelled.add(task)
            task.cancel()

    def end(self) -> None:
        """Let go of everything: all has ended."""
        if self.trace.root.ended_at is None:
            self.close(self.trace.root, None)
        self.streams.clear()
        self.tasks.clear()
        self.cancelled.clear()
        if self._telling is not None:
            self._telling.release()
