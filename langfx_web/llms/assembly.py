"""An answer's log → the parts of its message."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from langfx_web.events import ToolCallDelta, ToolCallEnd, ToolCallStart
from langfx_web.llms.delta import Boundary, ThoughtEnd
from langfx_web.llms.sampling import ChunkDelta
from langfx_web.messages import Part, Text, Thought, ToolCall


class Run:
    """Text, or readable reasoning, that came without anything between: its pieces are not kept apart."""

    __slots__ = ("_written", "is_thought", "length")

    def __init__(self, *, is_thought: bool) -> None:
        self.is_thought = is_thought
        self.length = 0
        self._written = io.StringIO()

    def add(self, piece: str) -> None:
        """Put a piece at the end."""
        self._written.write(piece)
        self.length += len(piece)

    def text(self, count: int) -> str:
        """The first so many characters."""
        text = self._written.getvalue()
        return text if count >= self.length else text[:count]


Entry: TypeAlias = Run | ChunkDelta | ThoughtEnd | Boundary
"""What an answer's log holds: what was shown, and what closes parts."""


def assemble(log: Iterable[Entry], size: int) -> list[Part]:
    """The parts that so much of a log makes. A call that was not closed has no `args`, whatever its text."""
    building = _Parts()
    for entry in log:
        if size <= 0:
            break
        if isinstance(entry, Run):
            building.add_text(entry.text(size), entry.is_thought)
            size -= entry.length
        else:
            building.add(entry)
            size -= 1
    return building.finished()


class _Parts:
    def __init__(self) -> None:
        self._parts: list[Part | None] = []
        self._text = ""
        self._thought = ""
        self._open: dict[str, tuple[int, str, list[str]]] = {}

    def add_text(self, text: str, is_thought: bool) -> None:
        """Text, or reasoning; whatever was there of the other is a part."""
        if is_thought:
            self._flush_text()
            self._thought += text
        else:
            self._flush()
            self._text += text

    def add(self, entry: ChunkDelta | ThoughtEnd | Boundary) -> None:
        if isinstance(entry, ThoughtEnd):
            self._flush_text()
            content, self._thought = self._thought, ""
            if content or entry.payload is not None:
                tag = None if entry.payload is None else entry.tag
                self._parts.append(Thought(content, payload=entry.payload, replay_compatibility=tag))
            return
        self._flush()
        if isinstance(entry, ChunkDelta):
            self._add_whole(entry)

    def _add_whole(self, entry: ChunkDelta) -> None:
        match entry.tool_call:
            case ToolCallStart(id=id, name=name):
                self._open[id] = (len(self._parts), name, [])
                self._parts.append(None)
            case ToolCallDelta(id=id, text=text):
                self._open[id][2].append(text)
            case ToolCallEnd(call=call):
                self._parts[self._open.pop(call.id)[0]] = call
            case None if entry.part is not None:
                self._parts.append(entry.part)

    def _flush_text(self) -> None:
        if self._text:
            self._parts.append(Text(self._text))
            self._text = ""

    def _flush(self) -> None:
        self._flush_text()
        if self._thought:
            self._parts.append(Thought(self._thought))
            self._thought = ""

    def finished(self) -> list[Part]:
        self._flush()
        for id, (place, name, pieces) in self._open.items():
            self._parts[place] = ToolCall(id, name, None, raw_args="".join(pieces))
        return [part for part in self._parts if part is not None]


def in_place(parts: list[Part], places: Mapping[str, int]) -> list[Part]:
    """The parts with the calls among them in the order of their places, where the wire gave all of them one."""
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if len(calls) < 2 or any(call.id not in places for call in calls):
        return parts
    ordered = iter(sorted(calls, key=lambda call: places[call.id]))
    return [next(ordered) if isinstance(part, ToolCall) else part for part in parts]
