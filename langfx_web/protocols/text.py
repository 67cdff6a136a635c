"""The text of a string value while it is read: pieces in, whole characters out."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with halves of a character joined; a half alone is U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Text:
    """A string value that grows; a half of a character is held back until the other half has come."""

    __slots__ = ("_half", "_shown", "is_bytes", "pieces")

    def __init__(self, is_bytes: bool = False) -> None:
        self.is_bytes = is_bytes
        self.pieces: list[str] = []
        self._half = ""
        self._shown = 0

    def write(self, piece: str) -> None:
        """Add decoded text."""
        if self._half:
            piece, self._half = self._half + piece, ""
        if not piece.isascii() and _SURROGATE.search(piece):
            if "\ud800" <= piece[-1] <= "\udbff":
                piece, self._half = piece[:-1], piece[-1]
            piece = whole(piece)
        if piece:
            self.pieces.append(piece)

    def take(self) -> str:
        """What was added since the last time."""
        new = self.pieces[self._shown :]
        self._shown = len(self.pieces)
        return new[0] if len(new) == 1 else "".join(new)

    def end(self) -> str | bytes:
        """The whole value."""
        if self._half:
            self.pieces.append("\ufffd")
            self._half = ""
        text = "".join(self.pieces)
        return text.encode("latin-1") if self.is_bytes else text
