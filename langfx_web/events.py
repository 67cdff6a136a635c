"""Everything a turn, a run or an answer produces while it happens; `type` follows from the class name.

A turn's events have a plain camelCase form (`encode`), which is what journals store and pages see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.json_text import Path, camel
from langfx_web.messages import ToolCall
from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer's visible text."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDelta:
    """A piece of readable reasoning."""

    type: ClassVar[Literal["thought_delta"]] = "thought_delta"
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart:
    """A tool begins to run. `id` is the model's call id, `execution_id` stays the same over reruns of the call.

    `started_at` is ISO 8601 in UTC; over 64 KiB of JSON, `input` is None and `input_preview` has its beginning.
    """

    type: ClassVar[Literal["tool_start"]] = "tool_start"
    id: str
    execution_id: str
    name: str
    checksum: str
    started_at: str
    input: Any = None
    rerun: bool = False
    input_truncated: bool | None = None
    input_preview: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd:
    """A tool call has its result, which may be an error; a refused call has a `tool_end` and no `tool_start`.

    `content` is the text the model gets, cut at 64 KiB; `duration_ms` is 0 for a call that was not run.
    """

    type: ClassVar[Literal["tool_end"]] = "tool_end"
    id: str
    execution_id: str
    name: str
    checksum: str
    is_error: bool
    ended_at: str
    duration_ms: int
    content: str | None = None
    content_truncated: bool | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart:
    """A turn begins; `input` is the prompt's text, or a preview of it."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"
    session_id: str | None
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """An error as a value: what a turn's end carries in place of an exception."""

    name: str
    message: str
    code: str
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """A turn is over; `stop_reason` says how, `error` is set where that is `error` or `refused`."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    stop_reason: str
    usage: Usage | None = None
    error: ErrorInfo | None = None
    repeated: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStart:
    """A model begins to write a tool call; for display only."""

    type: ClassVar[Literal["tool_call_start"]] = "tool_call_start"
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """A piece of a tool call's argument text; for display only."""

    type: ClassVar[Literal["tool_call_delta"]] = "tool_call_delta"
    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEnd:
    """A model has finished writing a tool call; it may run only after the answer's final chunk."""

    type: ClassVar[Literal["tool_call_end"]] = "tool_call_end"
    call: ToolCall


class _Partial:
    """What the events of a value share: compared by class and fields. Plain classes, since thousands are made."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return [getattr(self, name) for name in self.__slots__] == [getattr(other, name) for name in self.__slots__]

    __hash__ = None  # type: ignore[assignment]  # values inside may be mappings

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


class PartialObject(_Partial):
    """An object as a model wrote it, unvalidated: nothing of its class was run. `fields` is read-only."""

    __slots__ = ("class_name", "fields")

    def __init__(self, class_name: str, fields: Mapping[str, Any]) -> None:
        self.class_name = class_name
        self.fields = fields


class ObjectStart(_Partial):
    """A container opens at `path`; `kind` is object, dict, list, tuple or set, `class_name` that of an object."""

    __slots__ = ("class_name", "kind", "path")
    type: ClassVar[Literal["object_start"]] = "object_start"

    def __init__(self, path: Path, kind: str, class_name: str | None = None) -> None:
        self.path = path
        self.kind = kind
        self.class_name = class_name


class FieldStart(_Partial):
    """A member begins; `path` has its names, keys and indices, and is `()` for an answer that is no container."""

    __slots__ = ("path",)
    type: ClassVar[Literal["field_start"]] = "field_start"

    def __init__(self, path: Path) -> None:
        self.path = path


class StringFieldDelta(_Partial):
    """A piece of a member's text, decoded; the pieces of a member joined are its value."""

    __slots__ = ("delta", "path")
    type: ClassVar[Literal["string_field_delta"]] = "string_field_delta"

    def __init__(self, path: Path, delta: str) -> None:
        self.path = path
        self.delta = delta


class FieldEnd(_Partial):
    """A member is complete; `value` is immutable and not validated: it authorises nothing."""

    __slots__ = ("path", "value")
    type: ClassVar[Literal["field_end"]] = "field_end"

    def __init__(self, path: Path, value: Any) -> None:
        self.path = path
        self.value = value


class ObjectEnd(_Partial):
    """The container at `path` is complete."""

    __slots__ = ("path",)
    type: ClassVar[Literal["object_end"]] = "object_end"

    def __init__(self, path: Path) -> None:
        self.path = path


ValueEvent: TypeAlias = ObjectStart | FieldStart | StringFieldDelta | FieldEnd | ObjectEnd
"""How a typed answer arrives, before anything of it is validated."""

TurnEvent: TypeAlias = TextDelta | ThoughtDelta | ToolStart | ToolEnd | TurnStart | TurnEnd
"""What a turn emits, in order; the last one is a `TurnEnd`."""

ToolCallProgress: TypeAlias = ToolCallStart | ToolCallDelta | ToolCallEnd
"""How a tool call arrives from a model."""

_TURN_EVENTS: dict[str, type[Any]] = {
    kind.type: kind for kind in (TextDelta, ThoughtDelta, ToolStart, ToolEnd, TurnStart, TurnEnd)
}
_NAMES = {kind: tuple((item.name, camel(item.name)) for item in fields(kind)) for kind in _TURN_EVENTS.values()}
"""Fields of each event with their plain names; looked up once, as there is an event for every few letters."""

_ALWAYS = frozenset({"input", "session_id", "usage"})
"""Fields that stay in the plain form when they are None."""


def encode(event: TurnEvent) -> dict[str, Any]:
    """The plain form: `type`, then the fields in camelCase, those that are None left out."""
    plain: dict[str, Any] = {"type": event.type}
    for name, plain_name in _NAMES[type(event)]:
        value = getattr(event, name)
        if isinstance(value, Usage):
            value = value.to_plain()
        elif isinstance(value, ErrorInfo):
            value = {"name": value.name, "message": value.message, "code": value.code, "retryable": value.retryable}
        if value is not None or name in _ALWAYS:
            plain[plain_name] = value
    return plain


def decode(plain: dict[str, Any]) -> TurnEvent:
    """Read the form of `encode`; keys that are not the event's own (a stored line's cursor, say) are passed over."""
    kind = _TURN_EVENTS[plain["type"]]
    values = {name: plain[plain_name] for name, plain_name in _NAMES[kind] if plain_name in plain}
    if values.get("usage") is not None:
        values["usage"] = Usage.from_plain(values["usage"])
    if values.get("error") is not None:
        values["error"] = ErrorInfo(**values["error"])
    event: TurnEvent = kind(**values)
    return event
