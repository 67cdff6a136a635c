"""Messages as plain JSON values and back: the form that the bridge, the journal and exports share.

Keys are camelCase going out; both spellings are read; an unknown key is refused. `result` and `source` stay behind.
The bytes of media are base64, or bytes where they go to a page; both are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langfx_web.errors import InvalidValueError
from langfx_web.messages.calls import ToolCall
from langfx_web.messages.message import AIMessage, Message, Part, SystemMessage, ToolMessage, UserMessage
from langfx_web.messages.modality import PDF, Audio, Image, Mime, Modality, Video, base64_bytes
from langfx_web.messages.parts import CachePoint, Text, Thought
from langfx_web.usage import Usage

_SNAKE = {
    "mimeType": "mime_type",
    "ref": "source_ref",
    "rawArgs": "raw_args",
    "replayCompatibility": "replay_compatibility",
    "callId": "call_id",
    "isError": "is_error",
    "finishReason": "finish_reason",
    "rawFinishReason": "raw_finish_reason",
    "responseId": "response_id",
}
_CAMEL = {snake: camel for camel, snake in _SNAKE.items()}

_MEDIA = ("mime_type", "data", "uri", "source_ref")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "args": object,
    "data": (str, bytes),
    "is_error": bool,
    "metadata": Mapping,
    "payload": object,
    "usage": Mapping,
}
"""What a field has to be that is no text."""

_PART_FIELDS: dict[str, tuple[Callable[..., Part], tuple[str, ...]]] = {
    "text": (Text, ("text",)),
    "thought": (Thought, ("content", "payload", "replay_compatibility", "id")),
    "tool_call": (ToolCall, ("id", "name", "args", "raw_args")),
    "cache_point": (CachePoint, ("ttl",)),
    **{kind.type: (kind, _MEDIA) for kind in (Image, Audio, Video, PDF, Mime)},
}
_MESSAGE_FIELDS: dict[str, tuple[type[Message], tuple[str, ...]]] = {
    "system": (SystemMessage, ()),
    "user": (UserMessage, ()),
    "assistant": (AIMessage, ("usage", "finish_reason", "raw_finish_reason", "model", "response_id")),
    "tool": (ToolMessage, ("call_id", "name", "is_error")),
}


def encode(message: Message, *, bytes_as_text: bool = True) -> dict[str, Any]:
    """The plain form of one message; without `bytes_as_text` the `data` of media stays bytes."""
    if message.role not in _MESSAGE_FIELDS:
        raise InvalidValueError("only single messages have a plain form", code="invalid_message")
    plain: dict[str, Any] = {
        "role": message.role,
        "parts": [encode_part(part, bytes_as_text=bytes_as_text) for part in message.parts],
    }
    for name in _MESSAGE_FIELDS[message.role][1]:
        value: Any = getattr(message, name)
        if value is not None and value is not False:
            plain[_CAMEL.get(name, name)] = value.to_plain() if isinstance(value, Usage) else value
    if message.metadata:
        plain["metadata"] = dict(message.metadata)
    if message.id is not None:
        plain["id"] = message.id
    return plain


def decode(plain: Mapping[str, Any]) -> Message:
    """Read the form of `encode`; `invalid_message` names an unknown role, kind or key."""
    fields = _snake(plain, "message")
    role = fields.pop("role", None)
    if not isinstance(role, str) or role not in _MESSAGE_FIELDS:
        raise InvalidValueError(f"there is no message role {role!r}", code="invalid_message")
    kind, names = _MESSAGE_FIELDS[role]
    parts = fields.pop("parts", [])
    if not isinstance(parts, list):
        raise InvalidValueError("a message's parts must be a list", code="invalid_message")
    _check(fields, ("metadata", "id", *names), f"{role} message")
    try:
        if "usage" in fields:
            fields["usage"] = Usage.from_plain(fields["usage"])
        return kind(*(decode_part(part) for part in parts), **fields)
    except (TypeError, KeyError) as error:
        raise InvalidValueError(f"not a {role} message: {error}", code="invalid_message") from error


def encode_part(part: Part, *, bytes_as_text: bool = True) -> dict[str, Any]:
    """The plain form of one part; fields that are None are left out."""
    plain: dict[str, Any] = {"type": part.type}
    for name in _PART_FIELDS[part.type][1]:
        value: Any = getattr(part, name)
        if value is not None:
            plain[_CAMEL.get(name, name)] = value
    if isinstance(part, Modality) and part.data is not None and bytes_as_text:
        plain["data"] = part.base64
    return plain


def decode_part(plain: Any) -> Part:
    """Read the form of `encode_part`; a str is a text."""
    if isinstance(plain, str):
        return Text(plain)
    fields = _snake(plain, "part")
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in _PART_FIELDS:
        raise InvalidValueError(f"there is no message part {kind!r}", code="invalid_message")
    build, names = _PART_FIELDS[kind]
    _check(fields, names, f"{kind} part")
    if kind == "tool_call":
        fields.setdefault("args", None)
    if names is _MEDIA and isinstance(fields.get("data"), str):
        fields["data"] = base64_bytes(fields["data"])
    try:
        return build(**fields)
    except TypeError as error:
        raise InvalidValueError(f"not a {kind} part: {error}", code="invalid_message") from error


def _snake(plain: Any, what: str) -> dict[str, Any]:
    """The fields that are not null, by our spelling."""
    if not isinstance(plain, Mapping):
        raise InvalidValueError(f"a {what} must be an object, not {type(plain).__name__}", code="invalid_message")
    fields = {_SNAKE.get(str(key), str(key)): value for key, value in plain.items()}
    if len(fields) != len(plain):
        raise InvalidValueError(f"a {what} gives one field in two spellings", code="invalid_message")
    return {name: value for name, value in fields.items() if value is not None}


def _check(fields: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for name, value in fields.items():
        if name not in known:
            raise InvalidValueError(f"a {what} has no field {name!r}", code="invalid_message")
        if not isinstance(value, _KINDS.get(name, str)):
            kind = type(value).__name__
            raise InvalidValueError(f"a {what}: the field {name!r} cannot be a {kind}", code="invalid_message")
