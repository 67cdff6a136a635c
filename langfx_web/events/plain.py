"""Events as plain values: what journals store and pages see; camelCase keys, `type` first.

A typed value (`GenerationComplete.value`) stays as it is: what carries the event writes it as it writes such values.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from langfx_web.errors import LangfxError, NotPortableError
from langfx_web.events.query import (
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
)
from langfx_web.events.turn import (
    ErrorInfo,
    GateClosed,
    GateOpen,
    TextDelta,
    ThoughtDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallProgress,
    ToolCallStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnEvent,
    TurnStart,
)
from langfx_web.json_text import PlainForm, camel, dumps
from langfx_web.masking import said_by
from langfx_web.messages.codec import encode as encode_message
from langfx_web.messages.codec import encode_part
from langfx_web.usage import Usage

_TURN_EVENTS: dict[str, type[Any]] = {
    kind.type: kind for kind in (TextDelta, ThoughtDelta, ToolStart, ToolEnd, GateOpen, GateClosed, TurnStart, TurnEnd)
}
_NAMES = {kind: tuple((item.name, camel(item.name)) for item in fields(kind)) for kind in _TURN_EVENTS.values()}
"""Fields of each event with their plain names; looked up once, as there is an event for every few letters."""

_ALWAYS = frozenset({"input", "payload", "session_id", "usage"})
"""Fields that stay in the plain form when they are None."""

_MOST_BITS = 14_000
"""Python writes no longer integers as text."""


def encode(event: TurnEvent | QueryEvent | ToolCallProgress | PlainForm) -> dict[str, Any]:
    """The plain form: `type`, then the fields in camelCase; of a turn's events those that are None are left out.

    What a model wrote in a `field_end` becomes plain: objects as their fields, with the class beside the value as
    `className`; numbers that JSON cannot have as null, other things as their text.
    """
    return event.to_plain() if isinstance(event, PlainForm) else _ENCODERS[type(event)](event)


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


def _turn_event(event: Any) -> dict[str, Any]:
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


def encode_error(error: BaseException) -> dict[str, Any]:
    """An exception as a value: code, name, message, retryable, and those of its details that are JSON."""
    details: dict[str, Any] = {}
    name, code, retryable, message = type(error).__name__, "internal", False, said_by(error)
    if isinstance(error, LangfxError):
        details = {key: value for key, value in error.details.items() if _is_plain(value)}
        code, retryable, message = error.code, error.retryable, error.message
    elif isinstance(error, asyncio.CancelledError):
        name, code, message = "AbortError", "cancelled", "cancelled"
    return {"code": code, "name": name, "message": message, "retryable": retryable, "details": details}


def _is_plain(value: object) -> bool:
    try:
        dumps(value)
    except NotPortableError:
        return False
    return True


def _delta(event: TextDelta | ThoughtDelta) -> dict[str, Any]:
    return {"type": event.type, "delta": event.delta}


def _path(event: FieldStart | ObjectEnd) -> dict[str, Any]:
    return {"type": event.type, "path": list(event.path)}


def _string_field_delta(event: StringFieldDelta) -> dict[str, Any]:
    return {"type": event.type, "path": list(event.path), "delta": event.delta}


def _object_start(event: ObjectStart) -> dict[str, Any]:
    return {"type": event.type, "path": list(event.path), "kind": event.kind, "className": event.class_name}


def _field_end(event: FieldEnd) -> dict[str, Any]:
    plain = {"type": event.type, "path": list(event.path), "value": _shown(event.value)}
    if isinstance(event.value, PartialObject):
        plain["className"] = event.value.class_name
    return plain


def _shown(value: Any) -> Any:
    """What a model wrote, as it can cross; it is no promise, so nothing in it is an error."""
    if type(value) is str:
        return value
    match value:
        case None | bool() | str() | bytes():
            return value
        case int():
            return value if value.bit_length() < _MOST_BITS else None
        case float():
            return value if math.isfinite(value) else None
        case PartialObject():
            return {str(name): _shown(member) for name, member in value.fields.items()}
        case Mapping():
            return {str(key): _shown(member) for key, member in value.items()}
        case tuple():
            return [_shown(member) for member in value]
    return str(value)


def _complete(event: GenerationComplete) -> dict[str, Any]:
    usage = None if event.usage is None else event.usage.to_plain()
    return {"type": event.type, "value": event.value, "message": encode_message(event.message), "usage": usage}


def _parsing_failed(event: ParsingFailed) -> dict[str, Any]:
    return {"type": event.type, "error": encode_error(event.error), "message": encode_message(event.message)}


def _failed(event: GenerationFailed) -> dict[str, Any]:
    return {"type": event.type, "error": encode_error(event.error)}


def _cancelled(event: GenerationCancelled) -> dict[str, Any]:
    return {"type": event.type, "reason": event.reason}


def _call_start(event: ToolCallStart) -> dict[str, Any]:
    return {"type": event.type, "id": event.id, "name": event.name}


def _call_delta(event: ToolCallDelta) -> dict[str, Any]:
    return {"type": event.type, "id": event.id, "text": event.text}


def _call_end(event: ToolCallEnd) -> dict[str, Any]:
    return {"type": event.type, "call": encode_part(event.call)}


_ENCODERS: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    **dict.fromkeys((ToolStart, ToolEnd, GateOpen, GateClosed, TurnStart, TurnEnd), _turn_event),
    **dict.fromkeys((TextDelta, ThoughtDelta), _delta),
    **dict.fromkeys((FieldStart, ObjectEnd), _path),
    StringFieldDelta: _string_field_delta,
    ObjectStart: _object_start,
    FieldEnd: _field_end,
    GenerationComplete: _complete,
    ParsingFailed: _parsing_failed,
    GenerationFailed: _failed,
    GenerationCancelled: _cancelled,
    ToolCallStart: _call_start,
    ToolCallDelta: _call_delta,
    ToolCallEnd: _call_end,
}

EVENTS = frozenset(_ENCODERS)
"""Every class that `encode` takes."""

_TEXTS_ONLY = frozenset({TextDelta, ThoughtDelta, ObjectStart, FieldStart, StringFieldDelta, ObjectEnd})


def has_texts_only(event: Any) -> bool:
    """Whether the plain form is made of texts and paths alone, as that of most events is."""
    kind = type(event)
    return kind in _TEXTS_ONLY or (kind is FieldEnd and type(event.value) is str)
