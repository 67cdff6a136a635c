"""Waiting for news of a session: woken by hints, and by a poll where hints are lost."""

from __future__ import annotations

import asyncio
from typing import Self

from langfx_web.clock import Clock, Timer
from langfx_web.stores.base import Hint, Store

POLL = 2.0
"""Seconds after which a waiting reader looks without a hint."""


class Wake:
    """Registered from the start, so that nothing is missed between a look and the wait after it."""

    def __init__(self, store: Store, session_id: str, clock: Clock) -> None:
        self._clock = clock
        self._news = asyncio.Event()
        self._timer: Timer | None = None
        self._seq = 0
        self._polled = False
        self._watch = store.watch(session_id, self._hinted)

    def wake(self) -> None:
        """End the present wait, or the next one."""
        self._news.set()

    async def wait(self) -> int | None:
        """Return at once if there was news since the last wait, else with the next.

        Gives the number of the last record that was hinted at; None if it is time to look without a hint.
        """
        if self._timer is None:
            self._timer = self._clock.call_later(POLL, self._poll)
        await self._news.wait()
        self._news.clear()
        polled, self._polled = self._polled, False
        return None if polled else self._seq

    def close(self) -> None:
        """Hear no more."""
        self._watch.close()
        if self._timer is not None:
            self._timer.cancel()

    def _hinted(self, hint: Hint) -> None:
        self._seq = max(self._seq, hint.seq)
        self.wake()

    def _poll(self) -> None:
        self._timer = None
        self._polled = True
        self.wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
