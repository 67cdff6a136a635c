"""The tolerant reader of JSON values: RFC 8259 with what models get wrong in strings and commas, fed in pieces.

Beyond the RFC it reads one trailing comma in an object or array, raw control characters in strings, `\\'` as `'`, an
unknown escape as the two characters it is, and the words NaN and Infinity, which no schema then accepts.
"""

from __future__ import annotations

import math
import re
from typing import Any

from langfx_web.json_text import unescaped
from langfx_web.protocols.frame import END, Frame
from langfx_web.protocols.limits import ParseLimits
from langfx_web.protocols.text import Text
from langfx_web.protocols.tolerant import MAX_DIGITS, TolerantReader

_BLANKS = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\n\0]*")
_TAIL = re.compile(r"[ \t\r\n\f;]*")
_RUN = re.compile(r'(?:[^"\\\0]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))++')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNFINISHED = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_TOKEN = re.compile(r"[-+.\w]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<float>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_WORDS = {"true": True, "false": False, "null": None, "NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NEITHER: Any = object()


def token_value(text: str) -> Any:
    """The number or word that a token is; an object of no JSON type where it is neither, or too long."""
    if text in _WORDS:
        return _WORDS[text]
    match = _NUMBER.fullmatch(text) if len(text) <= MAX_DIGITS else None
    if match is None:
        return _NEITHER
    return float(text) if match["float"] else int(text)


class JSONReader(TolerantReader):
    """Reads one JSON value; see `TolerantReader`. `fence` is what ends the block that the value stands in, if any."""

    def __init__(self, *, fence: str, limits: ParseLimits, loud: bool) -> None:
        super().__init__(limits=limits, loud=loud)
        self._fence = fence
        self._char = ""
        self._parts: list[str] = []
        self._key: Text | None = None
        self._in_comment = False

    def _next(self, buffer: str, at: int) -> int:
        """Past blanks; `_char` is what stands there: "" if it is not known, `END` if the text or its block ends."""
        blank = _BLANKS.match(buffer, at)
        assert blank is not None
        at = blank.end()
        self._char = buffer[at : at + 1]
        if self._fence and self._char == self._fence[0]:
            run = buffer[at : at + len(self._fence)]
            if run == self._fence:
                self._char = END
            elif self._fence.startswith(run) and at + len(run) == len(buffer):
                self._char = ""
        return at

    def _value(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        char, frame = self._char, self._stack[-1] if self._stack else None
        if not char:
            return at
        if frame is not None and frame.closer == char == "]":
            return self._end_container(at)
        if char == '"':
            self._text = Text()
            self._state = self._string
            return at + 1
        if char in "{[":
            self._open(Frame("object", "}") if char == "{" else Frame("list", "]"))
            self._state = self._first_key if char == "{" else self._value
            return at + 1
        if not _TOKEN.match(char):
            raise self._wrong(self._what(char), at)
        self._parts.clear()
        self._state = self._token
        return at

    def _token(self, buffer: str, at: int) -> int:
        part = _TOKEN.match(buffer, at)
        end = part.end() if part else at
        self._parts.append(buffer[at:end])
        if end == len(buffer):
            return end
        text = "".join(self._parts)
        value = token_value(text)
        if value is _NEITHER:
            raise self._wrong(f"{text[:40]!r} is no JSON value", at)
        self._add(value)
        self._state = self._after if self._stack else self._tail
        return end

    def _first_key(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        if self._char == "}":
            return self._end_container(at)
        if self._char == '"':
            self._key = Text()
            self._state = self._string
            return at + 1
        if self._char:
            raise self._wrong(self._what(self._char), at)
        return at

    def _colon(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        if self._char == ":":
            self._state = self._value
            return at + 1
        if self._char:
            raise self._wrong(self._what(self._char), at)
        return at

    def _after(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        frame = self._stack[-1]
        if self._char == ",":
            self._state = self._first_key if frame.closer == "}" else self._value
            return at + 1
        if self._char == frame.closer:
            return self._end_container(at)
        if self._char:
            raise self._wrong(self._what(self._char), at)
        return at

    def _end_container(self, at: int) -> int:
        self._close()
        self._state = self._after if self._stack else self._over
        return at + 1

    def _string(self, buffer: str, at: int) -> int:
        into = self._key or self._text
        assert into is not None
        run = _RUN.match(buffer, at)
        if run is not None:
            written = run[0]
            into.write(unescaped(written) if "\\" in written else written)
            at = run.end()
        if at == len(buffer):
            return at
        if buffer[at] == END:
            raise self._wrong("a string is not closed", at)
        if buffer[at] == "\\":
            return self._escape(buffer, at, into)
        if self._key is None:
            self._state = self._after if self._stack else self._tail
            self._end_text()
        else:
            self._state = self._colon
            self._key.end()
            self._set_key(self._key.value())
            self._key = None
        return at + 1

    def _escape(self, buffer: str, at: int, into: Text) -> int:
        """Past an escape that is cut or that JSON does not have."""
        if _UNFINISHED.match(buffer, at):
            return at
        match = _ESCAPE.match(buffer, at)
        assert match is not None
        if match[1] == END:
            raise self._wrong("a string is not closed", at)
        into.write("'" if match[1] == "'" else match[0])
        return match.end()

    def _tail(self, buffer: str, at: int) -> int:
        """After a number, word or string: blanks, comments and `;`."""
        if self._in_comment:
            at = _LINE.match(buffer, at).end()  # type: ignore[union-attr]  # it matches nothing too
            self._in_comment = at == len(buffer)
        at = self._next(buffer, _TAIL.match(buffer, at).end())  # type: ignore[union-attr]  # it matches nothing too
        if self._char == "#":
            self._in_comment = True
            return at + 1
        if self._char == END:
            self._state = self._over
        elif self._char:
            raise self._wrong("there is text after the value", at)
        return at

    def _over(self, buffer: str, at: int) -> int:
        return len(buffer)

    def _what(self, char: str) -> str:
        if char == END:
            return f"{self._stack[-1].kind} is not closed" if self._stack else "there is no value"
        return f"{char!r} cannot stand here"
