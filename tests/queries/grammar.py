"""A plain reading of a streamed query's events, by the order that they are promised in."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.events import (
    FieldEnd,
    FieldStart,
    GenerationCancelled,
    GenerationComplete,
    GenerationFailed,
    ObjectEnd,
    ObjectStart,
    ParsingFailed,
    PartialObject,
    QueryEvent,
    StringFieldDelta,
    TerminalEvent,
    TextDelta,
    ThoughtDelta,
)
from langfx_web.json_text import Path

TERMINALS = (GenerationComplete, ParsingFailed, GenerationFailed, GenerationCancelled)


class Stopped(Exception):
    """The answer stopped in the middle of its value."""


class Recogniser:
    """Takes the events of one stream, in order, and fails at the first that may not stand where it does.

    answer := value terminal; value := scalar | container; scalar := field_start string_field_delta* field_end;
    container := object_start member* object_end; member := field_start (string_field_delta* | container) field_end
    """

    def __init__(self, events: Iterable[QueryEvent]) -> None:
        self._left = deque(event for event in events if not isinstance(event, (TextDelta, ThoughtDelta)))

    def answer(self) -> tuple[Any, TerminalEvent]:
        """The value as it was shown, None where it was not shown whole, and how the stream ended."""
        try:
            value = self._field(()) if isinstance(self._next, FieldStart) else self._container(())
        except Stopped:
            value = None
        terminal = self._left.popleft()
        assert isinstance(terminal, TERMINALS), terminal
        assert not self._left, self._left
        return value, terminal

    @property
    def _next(self) -> QueryEvent:
        if isinstance(self._left[0], TERMINALS):
            raise Stopped
        return self._left[0]

    def _take(self, kind: Any, path: Path) -> Any:
        event = self._next
        assert isinstance(event, kind), event
        assert event.path == path
        return self._left.popleft()

    def _field(self, path: Path) -> Any:
        self._take(FieldStart, path)
        if path and isinstance(self._next, ObjectStart):
            value = self._container(path)
        else:
            deltas = []
            while isinstance(self._next, StringFieldDelta):
                deltas.append(self._take(StringFieldDelta, path).delta)
            assert all(deltas), "an empty delta"
            end = self._next
            assert isinstance(end, FieldEnd), end
            assert ("".join(deltas) == end.value) if isinstance(end.value, str) else not deltas
            value = end.value
        end = self._take(FieldEnd, path)
        assert comparable(end.value) == comparable(value)
        return end.value

    def _container(self, path: Path) -> Any:
        start = self._take(ObjectStart, path)
        assert (start.class_name is not None) <= (start.kind == "object")
        members: dict[Any, Any] = {}
        while isinstance(following := self._next, FieldStart):
            step = following.path[-1]
            members[step] = self._field((*path, step))
        self._take(ObjectEnd, path)
        if start.class_name is not None:
            return PartialObject(start.class_name, members)
        return members if start.kind in ("object", "dict") else tuple(members.values())


def comparable(value: Any) -> str:
    """A partial value as a text, so that 1, 1.0 and True differ and NaN does not; keys as paths have them."""

    def plain(value: Any) -> Any:
        if isinstance(value, PartialObject):
            return value.class_name, plain(value.fields)
        if isinstance(value, Mapping):
            return {str(key): plain(member) for key, member in value.items()}
        return list(map(plain, value)) if isinstance(value, tuple) else value

    return repr(plain(value))
