"""The tolerant reader of python values: a grammar of literals and constructor calls, fed in pieces.

It reads what the grammar of the protocol has and nothing else; it knows no operator, attribute or statement. In strings
with one quote character a quote ends the string only where what follows can follow a string: `'John's home'` is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from langfx_web.errors import OutputNameError
from langfx_web.protocols.answer import Finder
from langfx_web.protocols.frame import END, UNDECIDED, Frame
from langfx_web.protocols.limits import ParseLimits
from langfx_web.protocols.python_escapes import escaped
from langfx_web.protocols.shape import CONSTANTS, Shape
from langfx_web.protocols.text import Pile, Text
from langfx_web.protocols.tolerant import MAX_DIGITS, TolerantReader
from langfx_web.schemas.tree import EnumNode

_BLANKS = re.compile(r"(?:[ \t\r\n\f]|\\\r?\n)*")
_MAYBE_JOINT = re.compile(r"\\\r?\Z")
_LINE = re.compile(r"[^\n\0]*")
_ANNOTATION = re.compile(r"[^=\n\0]*")
_WORD = re.compile(r"\w+")
_PLAIN: Mapping[str, re.Pattern[str]] = {q: re.compile(rf"[^{q}\\\r\0]+") for q in "'\""}
_PREFIXES = frozenset({"", "r", "u", "b", "br", "rb"})
_STRING_START = re.compile(r"(?:[rbufRBUF]{0,2}['\"])")
_MAYBE_STRING_START = re.compile(r"[rbufRBUF]{0,2}\Z")
_NUMBER = re.compile(
    r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:0(?:_?0)*|[1-9](?:_?[0-9])*)"
    r"|(?P<float>(?:[0-9](?:_?[0-9])*\.(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][-+]?[0-9](?:_?[0-9])*)?"
    r"|[0-9](?:_?[0-9])*[eE][-+]?[0-9](?:_?[0-9])*)"
)
_NUMBER_PART = re.compile(r"[\w.]+")
_DIGITS = frozenset("0123456789.")
_OPENERS = {"[": ("list", "]"), "{": ("brace", "}"), "(": ("group", ")")}
_AFTER_STRING = frozenset(",)]}:#+;\"'" + END)


def number(text: str) -> int | float | None:
    """The number that Python reads from a literal without a sign; None where it is none, or too long."""
    match = _NUMBER.fullmatch(text) if len(text) <= MAX_DIGITS else None
    if match is None:
        return None
    text = text.replace("_", "")
    return float(text) if match["float"] else int(text, 0) if text.strip("0") else 0


def identifier(text: str) -> str:
    """A name as Python compares it: letters of other widths and composed ones are the same."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


class PythonReader(TolerantReader):
    """Reads one python value; see `TolerantReader`. `fence` is what ends the block that the value stands in, if any."""

    def __init__(self, shape: Shape, *, fence: str, limits: ParseLimits, loud: bool) -> None:
        super().__init__(limits=limits, loud=loud)
        self._shape = shape
        self._is_fenced = bool(fence)
        self._fence = fence or "```"
        self._fence_run = re.compile(f"{self._fence[0]}+")
        self._char = ""
        self._in_comment = False
        self._newlines = 0
        self._parts: list[str] = []
        self._enum = ""
        self._digits = 0
        self._sign = ""
        self._may_assign = True
        self._quote = ""
        self._is_raw = False
        self._held = Pile()
        self._prefix = ""
        self._may_go_on = True
        self._prose: Finder | None = None

    def _next(self, buffer: str, at: int) -> int:
        """Past blanks and comments; `_char` is what stands there: "" if it is not known, `END` if the text ends."""
        while True:
            if self._in_comment:
                at = _LINE.match(buffer, at).end()  # type: ignore[union-attr]  # it matches nothing too
                self._in_comment = at == len(buffer)
                self._newlines = 0
            blank = _BLANKS.match(buffer, at)
            assert blank is not None
            self._newlines += blank[0].count("\n")
            at = blank.end()
            self._char = buffer[at : at + 1]
            if self._char == "#":
                self._in_comment = True
                continue
            if self._char == self._fence[0]:
                return self._meet_fence(buffer, at)
            if self._char == "\\" and _MAYBE_JOINT.match(buffer, at):
                self._char = ""
            return at

    def _meet_fence(self, buffer: str, at: int) -> int:
        run = self._fence_run.match(buffer, at)
        assert run is not None
        if run.end() - at >= len(self._fence):
            self._char = END
        elif run.end() == len(buffer):
            self._char = ""
        return at

    # Values

    def _value(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        char, frame = self._char, self._stack[-1] if self._stack else None
        if not char:
            return at
        if frame is not None and not (frame.is_keyed or frame.joined or self._sign) and frame.ends_at(char):
            return self._end_container(at)
        if frame is not None and frame.kind == "set" and frame.closer == ")":
            raise self._wrong("set() is empty; a set with members is written {…}", at)
        if char in _DIGITS:
            self._parts.clear()
            self._digits = 0
            self._state = self._number
            return at
        if self._sign:
            raise self._wrong("a sign stands before a number only", at)
        if char in "'\"":
            return self._open_string(at, "")
        if char in "+-":
            self._sign = char
            return at + 1
        if char.isidentifier():
            self._parts.clear()
            self._state = self._name
            return at
        if char in _OPENERS:
            self._may_assign = False
            self._open(Frame(*_OPENERS[char]))
            return at + 1
        raise self._wrong(self._what(char), at)

    def _number(self, buffer: str, at: int) -> int:
        part = _NUMBER_PART.match(buffer, at)
        end = part.end() if part else at
        self._parts.append(buffer[at:end])
        self._digits += end - at + 1
        if self._digits > 3 * MAX_DIGITS:
            raise self._wrong("a number is too long", at)
        if end == len(buffer):
            return end
        if buffer[end] in "+-" and self._is_exponent():
            self._parts.append(buffer[end])
            return end + 1
        text = "".join(self._parts)
        value = number(text)
        if value is None:
            raise self._wrong(f"{text[:40]!r} is not a number", at)
        self._add(-value if self._sign == "-" else value)
        self._sign = ""
        self._state = self._after
        return end

    def _is_exponent(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), "")
        return last[-1:] in "eE" and "".join(self._parts)[:2].lower() != "0x"

    def _name(self, buffer: str, at: int) -> int:
        word = _WORD.match(buffer, at)
        end = word.end() if word else at
        self._parts.append(buffer[at:end])
        if end == len(buffer):
            return end
        if buffer[end] in "'\"":
            return self._open_string(end, "".join(self._parts))
        self._parts = [identifier("".join(self._parts))]
        self._state = self._after_name
        return end

    def _after_name(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        name, char = self._parts[0], self._char
        frame = self._stack[-1] if self._stack else None
        if not char or (char == "=" and at + 1 == len(buffer)):
            return at
        if char == "(":
            self._may_assign = False
            self._state = self._value
            self._open(self._call(name, at))
            return at + 1
        if char == "." and name in self._shape.enums:
            self._state = self._member_dot
            return at + 1
        if char == "=" and buffer[at + 1] != "=":
            self._state = self._value
            self._take_name(name, frame, at)
            return at + 1
        if char == ":" and frame is None and self._may_assign:
            self._state = self._annotation
            return at + 1
        if name not in CONSTANTS:
            raise self._wrong(f"{name[:60]!r} is not a value", at)
        self._state = self._after
        self._add(CONSTANTS[name])
        return at

    def _call(self, name: str, at: int) -> Frame:
        if name in self._shape.classes:
            return Frame("object", ")", name, self._shape.classes[name])
        if name == "dict":
            return Frame("dict", ")")
        if name == "set":
            return Frame("set", ")")
        raise OutputNameError(self._shape.unknown(name), offset=self._offset + at)

    def _take_name(self, name: str, frame: Frame | None, at: int) -> None:
        if frame is None and self._may_assign:
            self._may_assign = False
        elif frame is not None and frame.closer == ")" and frame.kind in ("object", "dict") and not frame.is_keyed:
            self._set_key(name)
        else:
            raise self._wrong(f"{name!r} cannot be assigned here", at)

    def _annotation(self, buffer: str, at: int) -> int:
        """What stands between `name:` and `=` is not looked at."""
        end = _ANNOTATION.match(buffer, at).end()  # type: ignore[union-attr]  # it matches nothing too
        if end == len(buffer):
            return end
        if buffer[end] != "=":
            raise self._wrong("no value", end)
        self._may_assign = False
        self._state = self._value
        return end + 1

    def _member_dot(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        if not self._char:
            return at
        self._enum = self._parts[0]
        self._parts.clear()
        self._state = self._member
        return at

    def _member(self, buffer: str, at: int) -> int:
        word = _WORD.match(buffer, at)
        end = word.end() if word else at
        self._parts.append(buffer[at:end])
        if end == len(buffer):
            return end
        member = identifier("".join(self._parts))
        if not member.isidentifier():
            raise self._wrong(f"{self._enum}. needs a member's name", at)
        self._state = self._after
        self._add(EnumNode(self._enum, member))
        return end

    # After a value

    def _after(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        char = self._char
        if not char:
            return at
        if not self._stack:
            return self._after_answer(at)
        frame = self._stack[-1]
        if char == ":" and frame.closer == "}" and (frame.is_keyed or frame.kind == "brace"):
            if frame.kind == "brace":
                key = frame.items.pop()
                self._decide("dict")
                self._set_key(key)
            self._state = self._value
            return at + 1
        if frame.is_keyed:
            raise self._wrong(f"no value for the key {frame.key!r}", at)
        if char == "," and frame.joined is None:
            if frame.kind in UNDECIDED:
                self._decide("tuple" if frame.kind == "group" else "set")
            self._state = self._value
            return at + 1
        if frame.ends_at(char):
            return self._end_container(at)
        raise self._wrong(self._what(char), at)

    def _end_container(self, at: int) -> int:
        frame = self._stack[-1]
        self._newlines = 0
        self._state = self._after
        if frame.kind == "group" and frame.items:
            self._end_group(frame, at)
        else:
            if frame.kind in UNDECIDED:
                self._decide("tuple" if frame.kind == "group" else "set" if frame.items else "dict")
            self._close()
        return at if frame.closer == END else at + 1

    def _end_group(self, frame: Frame, at: int) -> None:
        """Parentheses around one value are none; a string in them may still go on after a `+`."""
        self._stack.pop()
        self._quiet -= frame.hush
        self._nodes -= 1
        self._is_bracketed = True
        value = frame.items[0]
        if isinstance(value, str):
            self._text, self._text_path = frame.joined or (Text(), None)
            self._text.write(value)
            self._state = self._after_string
        elif frame.joined is not None:
            raise self._wrong("only strings are joined with +", at)
        else:
            self._add(value)

    def _add(self, value: Any, *, is_shown: bool = False) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.kind == "object" and frame.named and not frame.is_keyed:
            raise self._wrong("an argument by position follows one by name", 0)
        super()._add(value, is_shown=is_shown)

    def _after_answer(self, at: int) -> int:
        char = self._char
        if char == END:
            self._state = self._over
            return at
        if char == ";":
            self._may_go_on = False
            return at + 1
        if char == "," and self._may_go_on:
            self._open_bare_tuple()
            return at + 1
        if self._is_bracketed and not self._is_fenced and self._newlines >= 2:
            self._prose = Finder(self._shape.start)
            self._state = self._in_prose
            return at
        raise self._wrong("there is text after the value", at)

    def _open_bare_tuple(self) -> None:
        """`1, 2` without parentheses: only the end completes it, and what was shown cannot be taken back."""
        frame = Frame("tuple", END)
        frame.items.append(self.value)
        frame.hush = int(not self._is_shown)
        self._quiet += 1
        self._stack.append(frame)
        self._without_brackets = 1
        self._state = self._value

    def _over(self, buffer: str, at: int) -> int:
        """What follows a block is not looked at; a fence that closes the value itself is the last of the text."""
        if not self._is_fenced and buffer[at:].strip("` \t\r\n\f" + END):
            raise self._wrong("there is text after the value", at)
        return len(buffer)

    def _in_prose(self, buffer: str, at: int) -> int:
        assert self._prose is not None
        self._prose.feed(buffer[at:].rstrip(END))
        if self._prose.found:
            raise self._wrong("there is a second value", at)
        return len(buffer)

    # Strings

    def _open_string(self, at: int, prefix: str) -> int:
        if prefix.lower() not in _PREFIXES:
            raise self._wrong(f"a string cannot be written with {prefix[:20]!r} before it", at)
        self._prefix = prefix.lower()
        self._state = self._opening
        return at

    def _opening(self, buffer: str, at: int) -> int:
        quote, ahead = buffer[at], buffer[at + 1 : at + 3]
        if not ahead or ahead == quote:
            return at
        is_bytes = "b" in self._prefix
        if self._text is None:
            self._text = Text(is_bytes)
        elif self._text.is_bytes != is_bytes:
            raise self._wrong("text and bytes are not joined", at)
        self._is_raw = "r" in self._prefix
        self._quote = quote * 3 if ahead == quote * 2 else quote
        self._state = self._string
        return at + len(self._quote)

    def _string(self, buffer: str, at: int) -> int:
        assert self._text is not None
        plain = _PLAIN[self._quote[0]].match(buffer, at)
        if plain is not None:
            if self._text.is_bytes and not plain[0].isascii():
                raise self._wrong("bytes hold ASCII only", at)
            self._text.write(plain[0])
            at = plain.end()
        if at == len(buffer):
            return at
        char = buffer[at]
        if char == END:
            raise self._wrong("a string is not closed", at)
        if char == "\\":
            return self._escape(buffer, at)
        if char == "\r":
            return self._carriage_return(buffer, at)
        if self._quote == char:
            self._held.add(char)
            self._state = self._closing
            return at + 1
        run = buffer[at : at + 3]
        if run == self._quote:
            self._state = self._after_string
            return at + 3
        if len(run) < 3 and self._quote.startswith(run):
            return at
        self._text.write(char)
        return at + 1

    def _carriage_return(self, buffer: str, at: int) -> int:
        assert self._text is not None
        if at + 1 < len(buffer):
            self._text.write("\n")
            at += 2 if buffer[at + 1] == "\n" else 1
        return at

    def _escape(self, buffer: str, at: int) -> int:
        assert self._text is not None
        if self._is_raw:
            if at + 1 == len(buffer):
                return at
            keeps = buffer[at + 1] in "'\"\\"
            self._text.write(buffer[at : at + 1 + keeps])
            return at + 1 + keeps
        found = escaped(buffer, at, is_bytes=self._text.is_bytes)
        if found is None:
            return at
        if found[0].startswith("\\" + END):
            raise self._wrong("a string is not closed", at)
        self._text.write(found[0])
        return found[1]

    def _closing(self, buffer: str, at: int) -> int:
        """A quote that may end the string is held back, and the blanks behind it, until what follows decides."""
        assert self._text is not None
        blank = _BLANKS.match(buffer, at)
        assert blank is not None
        self._held.add(blank[0])
        at = blank.end()
        self._char = buffer[at : at + 1]
        if self._char == self._fence[0]:
            self._meet_fence(buffer, at)
        if not self._char or _MAYBE_JOINT.match(buffer, at):
            return at
        if self._char in _AFTER_STRING or _STRING_START.match(buffer, at):
            self._held.take()
            self._state = self._after_string
        elif not _MAYBE_STRING_START.match(buffer, at):
            held = self._held.take().replace("\\\r\n", "").replace("\\\n", "")
            self._text.write(held.replace("\r\n", "\n").replace("\r", "\n"))
            self._state = self._string
        return at

    def _after_string(self, buffer: str, at: int) -> int:
        assert self._text is not None
        at = self._next(buffer, at)
        start = _STRING_START.match(buffer, at)
        if start is not None:
            return self._open_string(start.end() - 1, start[0][:-1])
        if not self._char or _MAYBE_STRING_START.match(buffer, at):
            return at
        if self._char == "+" and not self._text.is_bytes:
            self._state = self._plus
            return at + 1
        self._state = self._after
        self._end_text()
        return at

    def _plus(self, buffer: str, at: int) -> int:
        at = self._next(buffer, at)
        start = _STRING_START.match(buffer, at)
        if start is not None:
            return self._open_string(start.end() - 1, start[0][:-1])
        if not self._char or _MAYBE_STRING_START.match(buffer, at):
            return at
        if self._char != "(" or self._text is None:
            raise self._wrong("only strings are joined with +", at)
        frame = Frame("group", ")")
        frame.joined, self._text, self._text_path = (self._text, self._text_path), None, None
        self._open(frame)
        self._state = self._value
        return at + 1

    # Errors

    def _what(self, char: str) -> str:
        if char == END:
            return f"{self._stack[-1].kind} is not closed" if self._stack else "there is no value"
        return f"{char!r} cannot stand here"
