"""What the nodes of a trace are written with, and read from: strict, and safe on a text from anywhere.

A value of the program is written as `{"json": …}` where JSON has all of it, else as `{"type": …}` with what can be
shown of it, and comes back as a `TracedObject`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from langfx_web.errors import InvalidValueError, LangfxError, NotPortableError
from langfx_web.events.turn import ErrorInfo
from langfx_web.json_text import camel, dumps, is_json, plain
from langfx_web.masking import masked
from langfx_web.messages import AIMessage, Message, Modality
from langfx_web.messages.codec import decode as decode_message
from langfx_web.messages.codec import encode as encode_message
from langfx_web.messages.unloaded import without_bytes
from langfx_web.usage import COUNTS, Usage

DEEPEST = 100
"""Levels of a value that are written; the text around it has some of its own."""

LONGEST_TEXT = 2000
"""Characters of what is shown of an object that has no JSON form."""

MOST_TOLD = 16 * 1024
"""Characters of one value in an event: a trace may hold large ones, but whoever watches is told of each twice."""

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedObject:
    """What stands in a loaded trace for an object of the program: its class, and its fields or its text."""

    type: str
    value: Any = None
    text: str | None = None


def invalid(why: str) -> InvalidValueError:
    """The error of a text that is no trace."""
    return InvalidValueError(f"not a trace: {why}", code="invalid_trace")


class Fields:
    """The members of an object, each read once and as what it must be; `end` refuses those that nobody asked for."""

    def __init__(self, members: object, what: str) -> None:
        if not isinstance(members, dict):
            raise invalid(f"{what} is no object")
        self._members = dict(members)
        self._what = what

    def take(self, name: str, *kinds: type) -> Any:
        """A member that is there and of one of these kinds; a bool is no number."""
        value = self._members.pop(name, _MISSING)
        if value is _MISSING:
            raise invalid(f"{self._what} has no {name}")
        if not isinstance(value, kinds) or (isinstance(value, bool) and not {bool, object} & set(kinds)):
            raise invalid(f"{name} of {self._what} cannot be a {type(value).__name__}")
        return value

    def count(self, name: str) -> int:
        """A member that is an int of at least 0."""
        value: int = self.take(name, int)
        if value < 0:
            raise invalid(f"{name} of {self._what} is negative")
        return value

    def one_of(self, name: str, known: Sequence[str]) -> Any:
        """A member that is one of these texts."""
        value = self.take(name, str)
        if value not in known:
            raise invalid(f"{name} of {self._what} is {value[:40]!r}")
        return value

    def maybe(self, name: str, read: Callable[[Any], Read]) -> Read | None:
        """A member that is null, or what `read` makes of it."""
        value = self.take(name, object)
        return None if value is None else read(value)

    def has(self, name: str) -> bool:
        """Whether a member is there and not read yet."""
        return name in self._members

    def end(self) -> None:
        """Refuse a member that was not read."""
        for name in self._members:
            raise invalid(f"{self._what} has an unknown member {name[:40]!r}")


_MISSING = object()


def plain_value(value: object) -> dict[str, Any]:
    """A value of the program, as itself or clearly marked as not."""
    if isinstance(value, TracedObject):
        return _marked(value.type, value.value, value.text)
    if is_json(value, DEEPEST) and _is_writable(value):
        return {"json": value}
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    try:
        members = plain(value, max_depth=DEEPEST)
    except Exception:  # noqa: BLE001  # objects of the program may raise anything
        return _marked(name, None, _text(value))
    return _marked(name, members, None) if _is_writable(members) else _marked(name, None, _text(value))


def read_value(written: object) -> Any:
    """Read the form of `plain_value`."""
    fields = Fields(written, "a value")
    if fields.has("json"):
        value = fields.take("json", object)
        fields.end()
        return value
    kind = fields.take("type", str)
    value = fields.take("value", object) if fields.has("value") else None
    text = fields.take("text", str) if fields.has("text") else None
    fields.end()
    return TracedObject(type=kind, value=value, text=text)


def plain_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the program by name."""
    return {str(name): plain_value(value) for name, value in members.items()}


def read_members(written: object) -> dict[str, Any]:
    """Read the form of `plain_members`."""
    if not isinstance(written, dict):
        raise invalid("values by name are no object")
    return {name: read_value(value) for name, value in written.items()}


def told_value(value: object, most: int = MOST_TOLD) -> dict[str, Any]:
    """`plain_value`, or its class and the beginning of its text where that is longer."""
    written = plain_value(value)
    shown = written.get("json", written.get("value"))
    text = shown if isinstance(shown, str) else dumps(shown)
    if len(text) <= most:
        return written
    return _marked(written.get("type", type(value).__qualname__), None, text[:most])


def told_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """`plain_members`, which share the room that one value has."""
    written = plain_members(members)
    if not written or len(dumps(written)) <= MOST_TOLD:
        return written
    return {str(name): told_value(value, MOST_TOLD // len(written)) for name, value in members.items()}


def told_message(message: Message) -> dict[str, Any]:
    """`plain_message`, or the beginning of its text where that is longer."""
    written = plain_message(message)
    if len(dumps(written)) <= MOST_TOLD:
        return written
    return {"role": message.role, "parts": [{"type": "text", "text": _writable(message.text[:MOST_TOLD])}]}


def plain_message(message: Message) -> dict[str, Any]:
    """A message; one that has no JSON form as its text, and media without their bytes."""
    plain = encode_message(without_bytes(message))
    if is_json(plain, DEEPEST) and _is_writable(plain):
        return plain
    return {"role": "user", "parts": [{"type": "text", "text": _writable(message.text)}]}


def read_message(written: object) -> Message:
    """Read the form of `plain_message`."""
    if not isinstance(written, dict):
        raise invalid("a message is no object")
    if written.get("usage") is not None:
        read_usage(written["usage"])
    try:
        message = decode_message(written)
    except (LangfxError, TypeError, ValueError, KeyError) as error:
        raise invalid(f"a message cannot be read: {error}") from error
    if any(isinstance(part, Modality) and part.data is not None for part in message.parts):
        raise invalid("a message has the bytes of media")
    return message


def read_answer(written: object) -> AIMessage:
    """Read a message that a model said."""
    message = read_message(written)
    if not isinstance(message, AIMessage):
        raise invalid(f"a response is of the role {message.role}")
    return message


def read_messages(written: object) -> tuple[Message, ...]:
    """Read several messages."""
    if not isinstance(written, list):
        raise invalid("a request is no list of messages")
    return tuple(read_message(each) for each in written)


def read_usage(written: object) -> Usage:
    """Read `Usage.to_plain`, whose counts are numbers and not below 0."""
    fields = Fields(written, "usage")
    counts: dict[str, Any] = {name: fields.maybe(camel(name), _count) for name in COUNTS}
    usage = Usage(**counts, num_requests=fields.count("numRequests"), lower_bound=fields.take("lowerBound", bool))
    fields.end()
    return usage


def plain_error(error: ErrorInfo) -> dict[str, Any]:
    """An error of a node."""
    return {
        "name": error.name,
        "message": _writable(error.message),
        "code": error.code,
        "retryable": error.retryable,
    }


def read_error(written: object) -> ErrorInfo:
    """Read the form of `plain_error`."""
    fields = Fields(written, "an error")
    texts = {name: fields.take(name, str) for name in ("name", "message", "code")}
    error = ErrorInfo(**texts, retryable=fields.take("retryable", bool))
    fields.end()
    return error


def read_moment(written: object) -> datetime:
    """Read an ISO time that says its zone."""
    try:
        moment = datetime.fromisoformat(written) if isinstance(written, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise invalid(f"{str(written)[:40]!r} is no moment")
    return moment


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise invalid(f"a count cannot be {str(value)[:40]!r}")
    return value


def _marked(kind: str, value: Any, text: str | None) -> dict[str, Any]:
    shown = {"value": value, "text": text}
    return {"type": kind, **{name: member for name, member in shown.items() if member is not None}}


def _text(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  # as above
        text = f"a {type(value).__name__}"
    return _writable(masked(text)[:LONGEST_TEXT])


def _is_writable(value: object) -> bool:
    """Whether a JSON value can be a text in UTF-8: no half characters, no integers that Python will not write."""
    try:
        dumps(value).encode()
    except (NotPortableError, ValueError):
        return False
    return True


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
