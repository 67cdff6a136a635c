"""How much of a conversation may be in one event: so much text, and never bytes or a thought's opaque payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from langfx_web.json_text import dumps
from langfx_web.messages import (
    Message,
    Modality,
    Part,
    Text,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
)
from langfx_web.observation.events import (
    ObservedCall,
    ObservedMedia,
    ObservedMessage,
    ObservedPart,
    ObservedText,
    ObservedThought,
    ObservedTool,
)

MAX_TEXT = 64 * 1024
"""UTF-8 bytes of text in one event."""
MAX_ITEMS = 128
"""Entries of a collection in one event."""
MAX_SCHEMA = 8 * 1024
"""UTF-8 bytes of the schema of one tool."""


Item = TypeVar("Item")


class Content:
    """The texts of one event, in the order in which they are put in: what comes first is kept first.

    `is_truncated` says that something was cut or left out.
    """

    def __init__(self) -> None:
        self.is_truncated = False
        self._left = MAX_TEXT

    def text(self, text: str) -> str:
        """The text, or as much of its beginning as fits; half a character counts as none."""
        # A character has one byte at least, so that no more is encoded than could fit.
        data = text[: self._left + 1].encode("utf-8", "replace")
        kept = data[: self._left].decode("utf-8", "ignore")
        self.is_truncated |= len(data) > self._left
        self._left -= min(len(data), self._left)
        return kept

    def json(self, value: object) -> str:
        """A JSON value as text, or as much of its beginning as fits."""
        return self.text(dumps(value))

    def messages(self, messages: Sequence[Message]) -> tuple[ObservedMessage, ...]:
        """The messages in their order; the newest are kept first."""
        newest = messages[-MAX_ITEMS:]
        self.is_truncated |= len(newest) < len(messages)
        kept: list[ObservedMessage] = []
        for message in reversed(newest):
            if not self._left:
                self.is_truncated = True
                break
            kept.append(self.message(message))
        return tuple(reversed(kept))

    def message(self, message: Message) -> ObservedMessage:
        """One message with as many of its parts as fit."""
        parts = tuple(seen for part in self._few(message.parts) if (seen := self._part(part)) is not None)
        if isinstance(message, ToolMessage):
            return ObservedMessage(role=message.role, parts=parts, call_id=message.call_id, is_error=message.is_error)
        return ObservedMessage(role=message.role, parts=parts)

    def tools(self, tools: Sequence[ToolDeclaration]) -> tuple[ObservedTool, ...]:
        """The tools; the descriptions of all are kept before the schema of any."""
        described = [(tool, self.text(tool.description)) for tool in self._few(tools) if self._has_room(tool.name)]
        return tuple(
            ObservedTool(name=tool.name, description=description, input_schema=self._schema(tool))
            for tool, description in described
        )

    def _part(self, part: Part) -> ObservedPart | None:
        match part:
            case Text(text=text) if text:
                return ObservedText(text=kept) if (kept := self.text(text)) else None
            case Thought(content=text) if text:
                return ObservedThought(text=kept) if (kept := self.text(text)) else None
            case ToolCall(id=id, name=name, args=args, raw_args=raw) if self._has_room(id + name):
                arguments = self.text(raw or "") if args is None else self.json(args)
                return ObservedCall(call_id=id, name=name, arguments=arguments)
            case Modality(type=kind, mime_type=mime, data=data):
                return ObservedMedia(kind=kind, mime_type=mime, size=None if data is None else len(data))
        return None

    def _schema(self, tool: ToolDeclaration) -> str | None:
        text = dumps(dict(tool.input_schema))
        return text if self._has_room(text, MAX_SCHEMA) else None

    def _has_room(self, text: str, most: int = MAX_TEXT) -> bool:
        """Whether a text that must be whole is taken."""
        size = len(text.encode("utf-8", "replace"))
        if size > min(most, self._left):
            self.is_truncated = True
            return False
        self._left -= size
        return True

    def _few(self, items: Sequence[Item]) -> Sequence[Item]:
        self.is_truncated |= len(items) > MAX_ITEMS
        return items[:MAX_ITEMS]
