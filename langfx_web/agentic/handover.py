"""Events on their way from a run to its one reader: the run goes on when the last one was read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any

from langfx_web.agentic.recorder import NullRecorder
from langfx_web.events import ToolEnd, TurnEvent


class Handover(NullRecorder):
    """A recorder that keeps nothing and gives each event to whoever reads with `next()`.

    The run is never ahead of its reader: `event` returns when the reader has asked for the one after it. While the run
    is being cancelled it waits for nobody, as whoever reads may be waiting for its end.
    """

    def __init__(self) -> None:
        self._ready: deque[TurnEvent] = deque()
        self._given = asyncio.Event()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None

    async def event(self, event: TurnEvent) -> None:
        """Give an event, and wait until it was taken and the next one is asked for."""
        self._ready.append(event)
        self._wanted.clear()
        self._given.set()
        if self._task is None or not self._task.cancelling():
            await self._wanted.wait()

    async def cancelled(self, ends: Sequence[ToolEnd]) -> None:
        """Give the ends of calls that have none; nobody need read them."""
        for end in ends:
            await self.event(end)

    async def next(self) -> TurnEvent | None:
        """The next event; None once the work is over and all were taken."""
        if not self._ready:
            self._wanted.set()
            if self._task is not None and not self._task.done():
                self._given.clear()
                await self._given.wait()
        return self._ready.popleft() if self._ready else None

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Do the work that gives the events, in a task of its own."""
        self._task = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(lambda _: self._given.set())
        return self._task

    async def stop(self) -> None:
        """Cancel the work where it is not over, and wait until it is."""
        task = self._task
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])
