"""What the worker says to the page, gathered so that everything of one turn of the event loop goes in one post."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langfx_web.bridge.wire import Portable, portable, with_paths
from langfx_web.json_text import Path

Post = Callable[[str, list[bytes]], None]

MAX_ITEMS = 256
MAX_SIZE = 64 * 1024


class Outbox:
    """Messages wait here for the end of the current turn of the loop, or until 256 items or 64 KiB are there."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._texts: list[str] = []
        self._buffers: list[bytes] = []
        self._items: list[str] = []
        self._items_id = 0
        self._big: list[Path] = []
        self._blobs: list[Path] = []
        self._count = 0
        self._size = 0
        self._scheduled = False

    def say(self, kind: str, *, id: int | None = None, **fields: Any) -> None:
        """Add one message; its fields may hold bytes and big integers."""
        crossing = portable({"kind": kind, **({} if id is None else {"id": id}), **fields})
        self._close_items()
        self._texts.append(with_paths(crossing.text, big=crossing.big, blobs=crossing.blobs))
        self._buffers += crossing.buffers
        self._added(crossing.size)

    def say_item(self, id: int, item: Portable, size: int) -> None:
        """Add one item of a stream, of this size; neighbours of one stream share a message."""
        if self._items_id != id:
            self._close_items()
            self._items_id = id
        if item.big or item.blobs:
            place = len(self._items)
            self._big += [("items", place, *path) for path in item.big]
            self._blobs += [("items", place, *path) for path in item.blobs]
            self._buffers += item.buffers
        self._items.append(item.text)
        self._count += 1
        self._added(size)

    def flush(self) -> None:
        """Post what is there, now."""
        self._scheduled = False
        self._close_items()
        if self._texts:
            text, buffers = f"[{','.join(self._texts)}]", self._buffers
            self._texts, self._buffers, self._count, self._size = [], [], 0, 0
            self._post(text, buffers)

    def _added(self, size: int) -> None:
        self._size += size
        if self._size >= MAX_SIZE or self._count >= MAX_ITEMS:
            self.flush()
        elif not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self.flush)

    def _close_items(self) -> None:
        if not self._items:
            return
        text = f'{{"kind":"items","id":{self._items_id},"items":[{",".join(self._items)}]}}'
        self._texts.append(with_paths(text, big=self._big, blobs=self._blobs))
        self._items, self._items_id, self._big, self._blobs = [], 0, [], []
