"""What both tolerant readers share: open containers, the value that grows, its events, limits.

A reader is fed the value's text in pieces of any size. Each of its states is a method that looks at the text from a
position and returns how far it got; staying where it was means that it needs more. `END` is put after the last piece.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeAlias

from langfx_web.errors import OutputLimitError, OutputMismatchError, OutputSyntaxError, OutputValidationError
from langfx_web.events import FieldEnd, FieldStart, ObjectEnd, ObjectStart, PartialObject, StringFieldDelta, ValueEvent
from langfx_web.json_text import Path
from langfx_web.protocols.frame import END, UNDECIDED, Frame, PartialList, PartialSet, PartialTuple, partial, tree
from langfx_web.protocols.limits import ParseLimits
from langfx_web.protocols.text import Text

MAX_DIGITS = 4300
"""Characters of a number."""

State: TypeAlias = Callable[[str, int], int]


class TolerantReader:
    """Reads one value from pieces of text.

    With `loud`, `events` gets what happens and containers become partial values; without, they become trees. After an
    error, which is kept in `error`, nothing more is read. The value is in `value` after `finish`.
    """

    def __init__(self, *, limits: ParseLimits, loud: bool) -> None:
        self.events: list[ValueEvent] = []
        self.error: OutputValidationError | None = None
        self.value: Any = None
        self._build = partial if loud else tree
        self._quiet = 0 if loud else 1
        self._limits = limits
        self._without_brackets = 0
        self._stack: list[Frame] = []
        self._text: Text | None = None
        self._text_path: Path | None = None
        self._has_value = False
        self._is_shown = False
        self._is_bracketed = False
        self._nodes = 0
        self._rest = ""
        self._offset = 0
        self._state: State = self._value

    def feed(self, text: str) -> None:
        """Read on."""
        if self.error is not None:
            return
        if END in text:
            at = self._offset + len(self._rest) + text.index(END)
            text = text[: text.index(END)]
            self._read(text)
            self._fail(OutputSyntaxError("the answer has a zero byte", offset=at))
        else:
            self._read(text)
        self._show_text()

    def finish(self) -> None:
        """The text is complete: what is open now stays open."""
        if self.error is None:
            self._read(END)
        if self.error is None and not self._quiet and not self._is_shown:
            self._replay((), self.value)

    def _read(self, text: str) -> None:
        buffer = self._rest + text
        at, end = 0, len(buffer)
        try:
            while at < end:
                state = self._state
                reached = state(buffer, at)
                if reached == at and self._state is state:
                    break
                at = reached
        except OutputValidationError as error:
            self._fail(error)
        self._rest = buffer[at:]
        self._offset += at

    def _fail(self, error: OutputValidationError) -> None:
        if self.error is None:
            self.error = error
            self._quiet += 1

    def _wrong(self, message: str, at: int) -> OutputSyntaxError:
        return OutputSyntaxError(message, offset=self._offset + at)

    # Containers

    def _open(self, frame: Frame) -> None:
        bound = self._limits.max_depth
        if len(self._stack) - self._without_brackets >= bound:
            raise OutputLimitError(f"the answer nests more than {bound} levels deep", limit="max_depth")
        frame.hush = int(self._is_in_key()) + int(frame.kind in UNDECIDED)
        self._quiet += frame.hush
        self._stack.append(frame)
        if not self._quiet:
            self._show(frame)

    def _decide(self, kind: str) -> None:
        """What the innermost bracket is has turned out; its first member, kept back until now, is shown."""
        frame = self._stack[-1]
        frame.kind = kind
        frame.hush -= 1
        self._quiet -= 1
        if not self._quiet:
            self._show(frame)
            for index, item in enumerate(frame.items):
                self._replay((*frame.path, index), item)

    def _close(self) -> None:
        frame = self._stack.pop()
        self._quiet -= frame.hush
        value = self._build(frame)
        if frame.is_shown:
            self.events.append(ObjectEnd(frame.path))
            if self._stack:
                self.events.append(FieldEnd(frame.path, value))
        self._is_bracketed = True
        self._add(value, is_shown=frame.is_shown)

    def _add(self, value: Any, *, is_shown: bool = False) -> None:
        """A value is complete: it is the next member of the innermost container, a key of it, or the answer."""
        if self._is_in_key():
            self._set_key(value)
            return
        self._nodes += 1
        if self._nodes > self._limits.max_nodes:
            raise OutputLimitError(f"the answer has more than {self._limits.max_nodes} values", limit="max_nodes")
        if not self._stack:
            self.value, self._has_value, self._is_shown = value, True, is_shown
            return
        frame = self._stack[-1]
        if not is_shown and not self._quiet:
            self._replay((*frame.path, frame.step()), value)
        frame.add(value)

    def _set_key(self, key: Any) -> None:
        """The next member's key or name; a second one of the same name is refused."""
        frame = self._stack[-1]
        try:
            if key in frame.named:
                raise self._wrong(f"the key {key!r} is given twice", 0)
        except TypeError:
            raise OutputMismatchError(f"{type(key).__name__} cannot be a key", offset=self._offset) from None
        frame.key = key
        frame.is_keyed = True

    def _is_in_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].kind == "dict" and not self._stack[-1].is_keyed

    # Text

    def _end_text(self) -> None:
        """The string value is complete."""
        assert self._text is not None
        self._text.end()
        self._show_text()
        value = self._text.value()
        path, self._text, self._text_path = self._text_path, None, None
        if path is not None:
            self.events.append(FieldEnd(path, value))
        self._add(value, is_shown=path is not None)

    # Events

    def _show(self, frame: Frame) -> None:
        if len(self._stack) > 1:
            parent = self._stack[-2]
            frame.path = (*parent.path, parent.step())
            self.events.append(FieldStart(frame.path))
        frame.is_shown = True
        self.events.append(ObjectStart(frame.path, frame.kind, frame.class_name))

    def _show_text(self) -> None:
        """Show what has come of a string, once in a feed; a string that is the whole answer, or a key, is kept back."""
        if self._text is None or self._quiet or not self._stack or self._text.is_bytes or self._is_in_key():
            return
        if self._text_path is None:
            self._text_path = (*self._stack[-1].path, self._stack[-1].step())
            self.events.append(FieldStart(self._text_path))
        delta = self._text.take()
        if delta:
            self.events.append(StringFieldDelta(self._text_path, delta))

    def _replay(self, path: Path, value: Any) -> None:
        """Show a value that is complete."""
        if isinstance(value, (PartialList, PartialTuple, PartialSet)):
            self._replay_members(path, value, value.kind, None, enumerate(value))
        elif isinstance(value, PartialObject):
            self._replay_members(path, value, "object", value.class_name, value.fields.items())
        elif isinstance(value, MappingProxyType):
            self._replay_members(path, value, "dict", None, value.items())
        else:
            self.events.append(FieldStart(path))
            if isinstance(value, str) and value:
                self.events.append(StringFieldDelta(path, value))
            self.events.append(FieldEnd(path, value))

    def _replay_members(self, path: Path, value: Any, kind: str, class_name: str | None, members: Any) -> None:
        if path:
            self.events.append(FieldStart(path))
        self.events.append(ObjectStart(path, kind, class_name))
        for key, member in members:
            self._replay((*path, key if isinstance(key, (str, int)) else str(key)), member)
        self.events.append(ObjectEnd(path))
        if path:
            self.events.append(FieldEnd(path, value))

    # The grammar

    def _value(self, buffer: str, at: int) -> int:
        """The state in which a value is expected."""
        raise NotImplementedError
