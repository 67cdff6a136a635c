"""The text of a string value while it is read: pieces in, whole characters out."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_BLOCK = 512


def whole(text: str) -> str:
    """The text with halves of a character joined; a half alone is U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Pile:
    """Text that comes in small pieces; they are joined from time to time, since each of them costs its header."""

    __slots__ = ("_blocks", "_pieces")

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        """Put a piece at the end."""
        self._pieces.append(piece)
        if len(self._pieces) >= _BLOCK:
            self._blocks.append("".join(self._pieces))
            self._pieces.clear()

    def text(self) -> str:
        """All of it."""
        return "".join([*self._blocks, *self._pieces])

    def take(self) -> str:
        """All of it, and the pile is empty."""
        text = self.text()
        self._blocks.clear()
        self._pieces.clear()
        return text


class Text:
    """A string value that grows; a half of a character is held back until the other half has come."""

    __slots__ = ("_half", "_new", "_taken", "is_bytes")

    def __init__(self, is_bytes: bool = False) -> None:
        self.is_bytes = is_bytes
        self._half = ""
        self._new = Pile()
        self._taken = Pile()

    def write(self, piece: str) -> None:
        """Add decoded text."""
        if self._half:
            piece, self._half = self._half + piece, ""
        if not piece.isascii() and _SURROGATE.search(piece):
            if "\ud800" <= piece[-1] <= "\udbff":
                piece, self._half = piece[:-1], piece[-1]
            piece = whole(piece)
        if piece:
            self._new.add(piece)

    def take(self) -> str:
        """What was added since the last time."""
        new = self._new.take()
        if new:
            self._taken.add(new)
        return new

    def end(self) -> None:
        """No other half will come."""
        if self._half:
            self._new.add("\ufffd")
            self._half = ""

    def value(self) -> str | bytes:
        """The whole value, once it has ended."""
        text = self._taken.text() + self._new.text()
        return text.encode("latin-1") if self.is_bytes else text
