"""Reading an answer as it arrives, also one whose value stands in an object that was put around it."""

from __future__ import annotations

from typing import Any, Protocol

from langfx_web.errors import OutputLimitError
from langfx_web.events import FieldEnd, FieldStart, ObjectStart, ValueEvent
from langfx_web.protocols import protocol
from langfx_web.queries.inquiry import Inquiry
from langfx_web.schemas import Schema

KEY = "value"
"""Where the value stands in such an object."""


class AnswerReader(Protocol):
    """What a protocol's reader is to a stream."""

    @property
    def limit_error(self) -> OutputLimitError | None: ...

    def feed(self, text: str) -> list[ValueEvent]: ...

    def finish(self) -> list[ValueEvent]: ...


def reader_of(question: Inquiry) -> AnswerReader | None:
    """A reader for the question's answer; None where the text is the answer."""
    if question.schema is None:
        return None
    if question.native is None:
        return question.protocol.reader(question.schema, limits=question.limits)
    reader = protocol("json").reader(Schema.of(dict[str, Any]), limits=question.limits)
    return Unwrapping(reader) if question.native.wrapped else reader


class Unwrapping:
    """A reader of `{"value": …}` that shows the value alone, as if nothing were around it."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader = reader
        self._is_container = False

    @property
    def limit_error(self) -> OutputLimitError | None:
        """As of the reader."""
        return self._reader.limit_error

    def feed(self, text: str) -> list[ValueEvent]:
        """The next piece of the answer."""
        return self._inner(self._reader.feed(text))

    def finish(self) -> list[ValueEvent]:
        """The answer is complete."""
        return self._inner(self._reader.finish())

    def _inner(self, events: list[ValueEvent]) -> list[ValueEvent]:
        shown: list[ValueEvent] = []
        for place, event in enumerate(events):
            if event.path[:1] != (KEY,):
                continue
            event.path = event.path[1:]
            if not event.path and isinstance(event, FieldStart):
                following = events[place + 1 : place + 2]
                self._is_container = bool(following) and isinstance(following[0], ObjectStart)
            # A container that is the whole answer has no field around it.
            if event.path or not self._is_container or not isinstance(event, (FieldStart, FieldEnd)):
                shown.append(event)
        return shown
