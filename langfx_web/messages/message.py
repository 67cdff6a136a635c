"""Messages: a role and an ordered tuple of parts; transcripts are several of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias

from langfx_web.errors import InvalidValueError
from langfx_web.messages.calls import ToolCall
from langfx_web.messages.parts import Text, Thought
from langfx_web.usage import Usage

Part: TypeAlias = Text | Thought | ToolCall
"""Everything a message can hold."""


class Message:
    """What one role says: an immutable, ordered tuple of parts.

    A str in `content` becomes a `Text`. `metadata` holds JSON values and is read-only. `id` is set when the message
    enters a conversation, `result` where a query made a typed value, `source` where it was made from another message.
    Two messages are equal if class, parts and metadata are; `id`, `result` and `source` do not count.
    """

    __slots__ = ("id", "metadata", "parts", "result", "source")

    role: ClassVar[str] = ""
    allowed: ClassVar[tuple[type, ...]] = (Text,)

    parts: tuple[Part, ...]
    metadata: Mapping[str, Any]
    id: str | None
    result: Any
    source: Message | None

    def __init__(
        self,
        *content: str | Part,
        metadata: Mapping[str, Any] | None = None,
        source: Message | None = None,
        result: Any = None,
        id: str | None = None,
    ) -> None:
        self._set(
            parts=tuple(self._part(item) for item in content),
            metadata=MappingProxyType(dict(metadata or {})),
            source=source,
            result=result,
            id=id,
        )

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _part(self, item: str | Part) -> Part:
        part: Part = Text(item) if isinstance(item, str) else item
        if not isinstance(part, self.allowed):
            raise InvalidValueError(
                f"a {self.role or 'bare'} message cannot hold a {type(item).__name__}", code="invalid_message"
            )
        return part

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: use .replace({name}=…)")

    @property
    def text(self) -> str:
        """The text parts joined; thoughts and calls are never in it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        """The reasoning parts, in order."""
        return tuple(part for part in self.parts if isinstance(part, Thought))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    def replace(self, **changes: Any) -> Self:
        """A copy in which the named fields are changed; `parts` takes a sequence of parts."""
        fields = self._fields() | changes
        return type(self)(*fields.pop("parts"), **fields)

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("parts", "metadata", "source", "result", "id")}

    def _compared(self) -> tuple[object, ...]:
        return (self.parts, dict(self.metadata))

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self._compared() == other._compared()

    __hash__ = None  # type: ignore[assignment]  # parts may hold JSON objects

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(_shown(part)) for part in self.parts)})"

    @staticmethod
    def of(value: str | Part | Message | Sequence[Any]) -> Message:
        """A message as it is; a str or parts as a `UserMessage`; a sequence of messages as a `ComplexMessage`."""
        if isinstance(value, Message):
            return value
        if isinstance(value, (str, Text, Thought, ToolCall)):
            return UserMessage(value)
        items = list(value)
        if items and all(isinstance(item, Message) for item in items):
            return ComplexMessage(*items)
        return UserMessage(*items)


class SystemMessage(Message):
    """Instructions from the application."""

    __slots__ = ()
    role = "system"


class UserMessage(Message):
    """What the user says."""

    __slots__ = ()
    role = "user"


class AIMessage(Message):
    """What a model answered: its parts, and how and at what cost the answer ended."""

    __slots__ = ("finish_reason", "model", "raw_finish_reason", "response_id", "usage")
    role = "assistant"
    allowed = (Text, Thought, ToolCall)

    usage: Usage | None
    finish_reason: str | None
    raw_finish_reason: str | None
    model: str | None
    response_id: str | None

    def __init__(
        self,
        *content: str | Part,
        usage: Usage | None = None,
        finish_reason: str | None = None,
        raw_finish_reason: str | None = None,
        model: str | None = None,
        response_id: str | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(*content, **fields)
        self._set(
            usage=usage,
            finish_reason=finish_reason,
            raw_finish_reason=raw_finish_reason,
            model=model,
            response_id=response_id,
        )

    def _fields(self) -> dict[str, Any]:
        names = ("usage", "finish_reason", "raw_finish_reason", "model", "response_id")
        return super()._fields() | {name: getattr(self, name) for name in names}


class ToolMessage(Message):
    """The answer to one tool call; `is_error` tells the model that the call failed."""

    __slots__ = ("call_id", "is_error", "name")
    role = "tool"

    call_id: str
    name: str | None
    is_error: bool

    def __init__(
        self, *content: str | Part, call_id: str, name: str | None = None, is_error: bool = False, **fields: Any
    ) -> None:
        if not isinstance(call_id, str) or not call_id.strip():
            raise InvalidValueError("a tool message needs the id of its call", code="invalid_message")
        super().__init__(*content, **fields)
        self._set(call_id=call_id, name=name, is_error=is_error)

    def _fields(self) -> dict[str, Any]:
        return super()._fields() | {"call_id": self.call_id, "name": self.name, "is_error": self.is_error}

    def _compared(self) -> tuple[object, ...]:
        return (*super()._compared(), self.call_id, self.is_error)


class ComplexMessage(Message):
    """A transcript: several messages in order, roles as they are; nested transcripts are spliced in."""

    __slots__ = ("messages",)
    role = "transcript"

    messages: tuple[Message, ...]

    def __init__(self, *messages: Message, metadata: Mapping[str, Any] | None = None, **fields: Any) -> None:
        super().__init__(metadata=metadata, **fields)
        self._set(messages=tuple(_flatten(messages)))

    @property
    def text(self) -> str:
        """The texts of the messages, joined by blank lines."""
        return "\n\n".join(message.text for message in self.messages)

    def replace(self, **changes: Any) -> Self:
        """A copy in which the named fields are changed."""
        fields = {name: value for name, value in self._fields().items() if name != "parts"} | changes
        return type(self)(*fields.pop("messages", self.messages), **fields)

    def _compared(self) -> tuple[object, ...]:
        return (self.messages, dict(self.metadata))

    def __repr__(self) -> str:
        return f"ComplexMessage({', '.join(map(repr, self.messages))})"


def _flatten(messages: Sequence[Message]) -> Iterator[Message]:
    for message in messages:
        if isinstance(message, ComplexMessage):
            yield from message.messages
        elif isinstance(message, Message) and message.role:
            yield message
        else:
            raise InvalidValueError(
                f"a transcript holds messages, not a {type(message).__name__}", code="invalid_message"
            )


def _shown(part: Part) -> str | Part:
    return part.text if isinstance(part, Text) else part
