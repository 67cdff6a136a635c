"""Messages: a role and an ordered tuple of parts; transcripts are several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

from langfx_web.errors import InvalidValueError, NotPortableError
from langfx_web.messages.calls import ToolCall
from langfx_web.messages.frozen import NOTHING, frozen
from langfx_web.messages.modality import Modality
from langfx_web.messages.parts import CachePoint, Text, Thought
from langfx_web.usage import Usage

Part: TypeAlias = Text | Thought | ToolCall | Modality | CachePoint
"""Everything a message can hold."""


class Message:
    """What one role says: an immutable, ordered tuple of parts.

    A str in `content` becomes a `Text`. `metadata` holds JSON values, copied in and read-only at any depth. `id` is set
    when the message enters a conversation, `result` where a query made a typed value, `source` where it was made from
    another message. Two messages are equal if class, parts and metadata are; `id`, `result` and `source` do not count.
    `invalid_message` names a part that the role cannot say, and metadata that is no JSON.
    """

    __slots__ = ("id", "metadata", "modalities", "parts", "result", "source", "tool_calls")

    role: ClassVar[str] = ""
    allowed: ClassVar[tuple[type, ...]] = (Text,)

    parts: tuple[Part, ...]
    modalities: tuple[Modality, ...]
    """The media, in order."""
    tool_calls: tuple[ToolCall, ...]
    """The tool calls, in order."""
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
        put = object.__setattr__
        self._put_parts(tuple(map(self._part, content)))
        put(self, "metadata", _metadata(metadata) if metadata else NOTHING)
        put(self, "source", source)
        put(self, "result", result)
        put(self, "id", id)

    def _put_parts(self, parts: tuple[Part, ...]) -> None:
        # Long conversations are looked through for both before each request.
        put = object.__setattr__
        put(self, "parts", parts)
        put(self, "modalities", tuple([part for part in parts if isinstance(part, Modality)]))
        put(self, "tool_calls", tuple([part for part in parts if isinstance(part, ToolCall)]))

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

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @property
    def text(self) -> str:
        """The text parts joined; thoughts and calls are never in it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def thoughts(self) -> tuple[Thought, ...]:
        """The reasoning parts, in order."""
        return tuple(part for part in self.parts if isinstance(part, Thought))

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
    def of(value: str | Part | Message | Iterable[Any]) -> Message:
        """A message as it is; a str or parts as a `UserMessage`; several messages as a `ComplexMessage`."""
        if isinstance(value, Message):
            return value
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return UserMessage(value)  # type: ignore[arg-type]  # which refuses what is no part
        items = list(value)
        if items and all(isinstance(item, Message) for item in items):
            return ComplexMessage(*items)
        return UserMessage(*items)


class SystemMessage(Message):
    """Instructions from the application."""

    __slots__ = ()
    role = "system"
    allowed = (Text, CachePoint)


class UserMessage(Message):
    """What the user says."""

    __slots__ = ()
    role = "user"
    allowed = (Text, Modality, CachePoint)


class AIMessage(Message):
    """What a model answered: its parts, and how and at what cost the answer ended."""

    __slots__ = ("finish_reason", "model", "raw_finish_reason", "response_id", "usage")
    role = "assistant"
    allowed = (Text, Thought, ToolCall, Modality)

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
    allowed = (Text, Modality, CachePoint)

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
    """A transcript: several messages in order, roles as they are; nested transcripts are spliced in.

    `parts`, and the views of them, are those of all messages.
    """

    __slots__ = ("messages",)
    role = "transcript"

    messages: tuple[Message, ...]

    def __init__(self, *messages: Message, metadata: Mapping[str, Any] | None = None, **fields: Any) -> None:
        super().__init__(metadata=metadata, **fields)
        flat = tuple(_flatten(messages))
        self._set(messages=flat)
        self._put_parts(tuple(part for message in flat for part in message.parts))

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


def _metadata(given: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        kept: Mapping[str, Any] = frozen(dict(given))
    except NotPortableError as error:
        raise InvalidValueError(f"metadata must be JSON: {error}", code="invalid_message") from error
    return kept


def _shown(part: Part) -> str | Part:
    return part.text if isinstance(part, Text) else part
