"""What one command says to the page: items, never further ahead than the page has room for, and exactly one end."""

from __future__ import annotations

import asyncio
from typing import Any

from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.wire import Portable
from langfx_web.events import encode_error

MAX_ITEMS = 256
MAX_SIZE = 2**20


class Window:
    """How much the page has not read yet; full at 256 items or 1 MiB of their text and bytes.

    One item larger than the window may pass when nothing else is unread.
    """

    def __init__(self) -> None:
        self._items = 0
        self._size = 0
        self._opened = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether nothing more may be sent for now."""
        return self._items >= MAX_ITEMS or self._size >= MAX_SIZE

    def take(self, size: int) -> bool:
        """One item of this size was sent; whether that filled the window."""
        self._items += 1
        self._size += size
        return self._items >= MAX_ITEMS or self._size >= MAX_SIZE

    def give(self, items: int, size: int) -> None:
        """The page has read so much."""
        self._items = max(0, self._items - items)
        self._size = max(0, self._size - size)
        if not self.is_full:
            self._opened.set()

    async def room(self) -> None:
        """Wait until something may be sent; without a turn of the loop while there is room."""
        while self.is_full:
            self._opened.clear()
            await self._opened.wait()


class Outlet:
    """The one way in which a command answers. The first end counts: whatever is said as an end later is dropped."""

    def __init__(self, id: int, outbox: Outbox) -> None:
        self.window = Window()
        self.ended = False
        self._id = id
        self._outbox = outbox
        self._count = 0

    def accept(self, value: Any) -> None:
        """Say that the command was taken on."""
        self._outbox.say("accepted", id=self._id, value=value)

    def send(self, item: Portable) -> bool:
        """Send one item; whether that filled the window, so that `room()` comes before the next one."""
        self._count += 1
        size = item.size
        self._outbox.say_item(self._id, item, size)
        return self.window.take(size)

    async def room(self) -> None:
        """Wait until the page has room for another item."""
        await self.window.room()

    def result(self, value: Any) -> None:
        """End with a value."""
        self._end("result", value=value)

    def end(self, value: Any, *, count: int | None = None) -> None:
        """End a stream, and say how many items are due in all: those sent so far, unless more follow."""
        self._end("end", value=value, count=self._count if count is None else count)

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        self._end("error", error=encode_error(error))

    def _end(self, kind: str, **fields: Any) -> None:
        if not self.ended:
            self._outbox.say(kind, id=self._id, **fields)
            self.ended = True
