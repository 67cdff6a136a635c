"""One stream on its way to the page, never further ahead than the page has room for."""

from __future__ import annotations

import asyncio
from typing import Any

from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.wire import Portable

MAX_ITEMS = 256
MAX_CHARACTERS = 2**20


class Window:
    """How much the page has not read yet; full at 256 items or 1 MiB of their text.

    One item larger than the window may pass when nothing else is unread.
    """

    def __init__(self) -> None:
        self._items = 0
        self._characters = 0
        self._opened = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be sent for now."""
        return self._items >= MAX_ITEMS or self._characters >= MAX_CHARACTERS

    def take(self, characters: int) -> None:
        """One item of so many characters was sent."""
        self._items += 1
        self._characters += characters

    def give(self, items: int, characters: int) -> None:
        """The page has read so much."""
        self._items = max(0, self._items - items)
        self._characters = max(0, self._characters - characters)
        if not self.is_full:
            self._opened.set()

    async def room(self) -> None:
        """Wait until something may be sent; without a turn of the loop while there is room."""
        while self.is_full:
            self._opened.clear()
            await self._opened.wait()


class Outlet:
    """The items and the end of one command's stream."""

    def __init__(self, id: int, outbox: Outbox) -> None:
        self.window = Window()
        self.count = 0
        self._id = id
        self._outbox = outbox

    def send(self, item: Portable) -> None:
        """Send one item; call `room()` before the next."""
        self.count += 1
        self.window.take(len(item.text))
        self._outbox.say_item(self._id, item)

    async def room(self) -> None:
        """Wait until the page has room for another item."""
        await self.window.room()

    def end(self, value: Any, *, count: int | None = None) -> None:
        """Say how it ended and how many items are due in all: those sent so far, unless more follow."""
        self._outbox.say("end", id=self._id, value=value, count=self.count if count is None else count)
