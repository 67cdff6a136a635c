"""The bytes of a journal's records: versioned JSON, checked in plain code when read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langfx_web.durable.inputs import message_of
from langfx_web.durable.records import (
    CallResult,
    CallStart,
    Claim,
    Input,
    Record,
    RecordedCall,
    Reply,
    Settings,
    TurnEnd,
    TurnStart,
)
from langfx_web.errors import InvalidValueError, JournalInvalidError, JournalVersionError, JSONTextError
from langfx_web.events import ErrorInfo
from langfx_web.json_text import dumps, loads
from langfx_web.llms import ModelSettings
from langfx_web.messages import AIMessage, Part, codec
from langfx_web.usage import Usage

VERSION = 1

Kind = TypeVar("Kind")


def encode(record: Record, *, at: str) -> bytes:
    """The bytes of a record; `at` is the time, for display."""
    plain = {"v": VERSION, "kind": record.kind, "at": at, **_plain(record)}
    return json_bytes({key: value for key, value in plain.items() if value is not None})


def decode(data: bytes, *, seq: int) -> Record:
    """Read a record; `journal_invalid` names its place, `journal_version` is one of a newer release."""
    try:
        plain = loads(data)
    except JSONTextError as error:
        raise _invalid(seq, str(error)) from error
    if not isinstance(plain, dict):
        raise _invalid(seq, "it is not an object")
    fields = _Fields(plain, seq)
    if fields.number("v") > VERSION:
        raise JournalVersionError(f"record {seq} was written by a newer release", details={"seq": seq})
    read = _READERS.get(fields.text("kind"))
    if read is None:
        raise _invalid(seq, f"there is no kind {plain['kind']!r:.60}")
    fields.text("at")
    try:
        return read(fields)
    except (InvalidValueError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise _invalid(seq, f"its content is malformed: {error}") from error


def json_bytes(value: object) -> bytes:
    """A JSON value as UTF-8; half a surrogate pair, which UTF-8 has no form for, becomes U+FFFD."""
    return utf8(dumps(value))


def utf8(text: str) -> bytes:
    """JSON text as UTF-8, as `json_bytes` gives it."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def error_to_plain(error: ErrorInfo) -> dict[str, Any]:
    """The plain form of an error that is a value."""
    return {"name": error.name, "message": error.message, "code": error.code, "retryable": error.retryable}


def _plain(record: Record) -> dict[str, Any]:
    match record:
        case Input():
            model = record.settings.model
            settings = {"model": model and model.to_plain(), "instructions": record.settings.instructions}
            return {
                "type": record.type,
                "message_id": record.message_id,
                "origin": record.origin,
                "nonce": record.nonce,
                "prompt": record.prompt,
                "target": record.target,
                "context": record.context,
                "settings": {key: value for key, value in settings.items() if value is not None} or None,
            }
        case Claim():
            return {"holder": record.holder, "epoch": record.epoch, "cursor": record.cursor}
        case TurnStart():
            return {
                "message_id": record.message_id,
                "model": record.model,
                "tools": record.tools,
                "cursor": record.cursor,
            }
        case Reply():
            return {
                "step": record.step,
                "message": codec.encode(record.message),
                "calls": [_plain_call(call) for call in record.calls],
                "cursor": record.cursor,
            }
        case CallStart():
            return {"execution_ids": list(record.execution_ids), "cursor": record.cursor}
        case CallResult():
            return {**_plain_result(record), "cursor": record.cursor}
        case TurnEnd():
            return {
                "message_id": record.message_id,
                "stop_reason": record.stop_reason,
                "usage": record.usage and record.usage.to_plain(),
                "error": record.error and error_to_plain(record.error),
                "partial": record.partial,
                "results": [_plain_result(result) for result in record.results],
                "cursor": record.cursor,
            }


def _plain_call(call: RecordedCall) -> dict[str, Any]:
    return {
        "execution_id": call.execution_id,
        "call_id": call.call_id,
        "idempotent": call.idempotent,
        "writes": call.writes,
    }


def _plain_result(result: CallResult) -> dict[str, Any]:
    return {
        "execution_id": result.execution_id,
        "parts": [codec.encode_part(part) for part in result.parts],
        "is_error": result.is_error,
    }


class _Fields:
    """The fields of one record, each read as what it must be."""

    def __init__(self, plain: Mapping[str, Any], seq: int) -> None:
        self._plain = plain
        self._seq = seq

    def text(self, key: str) -> str:
        return self._of(key, str)

    def number(self, key: str) -> int:
        value = self._of(key, int)
        if isinstance(value, bool) or value < 0:
            raise _invalid(self._seq, f"{key!r} must be a number from 0 on")
        return value

    def flag(self, key: str) -> bool:
        return self._of(key, bool)

    def object(self, key: str) -> dict[str, Any]:
        found: dict[str, Any] = self._of(key, dict)
        return found

    def optional_text(self, key: str) -> str | None:
        return None if self._plain.get(key) is None else self.text(key)

    def optional_object(self, key: str) -> dict[str, Any] | None:
        return None if self._plain.get(key) is None else self.object(key)

    def value(self, key: str) -> Any:
        return self._plain.get(key)

    def texts(self, key: str) -> tuple[str, ...]:
        items = self._of(key, list)
        if not all(isinstance(item, str) for item in items):
            raise _invalid(self._seq, f"{key!r} must be texts")
        return tuple(items)

    def each(self, key: str) -> list[_Fields]:
        items = self._of(key, list)
        if not all(isinstance(item, dict) for item in items):
            raise _invalid(self._seq, f"{key!r} must be objects")
        return [_Fields(item, self._seq) for item in items]

    def within(self, key: str) -> _Fields:
        return _Fields(self.optional_object(key) or {}, self._seq)

    def prompt(self, key: str) -> str | dict[str, Any]:
        value = self._plain.get(key)
        if not isinstance(value, (str, dict)):
            raise _invalid(self._seq, f"{key!r} must be a text or a message")
        message_of(value)
        return value

    def parts(self, key: str) -> tuple[Part, ...]:
        return tuple(codec.decode_part(item) for item in self._of(key, list))

    def refuse(self, message: str) -> JournalInvalidError:
        return _invalid(self._seq, message)

    def _of(self, key: str, kind: type[Kind]) -> Kind:
        value = self._plain.get(key)
        if not isinstance(value, kind):
            raise _invalid(self._seq, f"{key!r} must be of type {kind.__name__}, not {type(value).__name__}")
        return value


def _read_input(fields: _Fields) -> Input:
    settings = fields.within("settings")
    common: dict[str, Any] = {
        "message_id": fields.text("message_id"),
        "origin": fields.text("origin"),
        "nonce": fields.text("nonce"),
        "context": fields.optional_object("context"),
        "settings": Settings(
            model=ModelSettings.of(settings.value("model")), instructions=settings.optional_text("instructions")
        ),
    }
    match fields.text("type"):
        case "prompt":
            return Input(type="prompt", prompt=fields.prompt("prompt"), **common)
        case "cancel":
            return Input(type="cancel", target=fields.optional_text("target"), **common)
        case other:
            raise fields.refuse(f"there is no input of type {other!r:.60}")


def _read_claim(fields: _Fields) -> Claim:
    return Claim(holder=fields.text("holder"), epoch=fields.number("epoch"), cursor=fields.number("cursor"))


def _read_turn_start(fields: _Fields) -> TurnStart:
    return TurnStart(
        message_id=fields.text("message_id"),
        model=fields.optional_text("model"),
        tools=fields.text("tools"),
        cursor=fields.number("cursor"),
    )


def _read_reply(fields: _Fields) -> Reply:
    message = codec.decode(fields.object("message"))
    if not isinstance(message, AIMessage):
        raise fields.refuse("a reply must be an assistant's message")
    calls = tuple(
        RecordedCall(
            execution_id=call.text("execution_id"),
            call_id=call.text("call_id"),
            idempotent=call.flag("idempotent"),
            writes=call.flag("writes"),
        )
        for call in fields.each("calls")
    )
    if [call.call_id for call in calls] != [call.id for call in message.tool_calls]:
        raise fields.refuse("the calls are not those of the reply")
    return Reply(step=fields.number("step"), message=message, calls=calls, cursor=fields.number("cursor"))


def _read_call_start(fields: _Fields) -> CallStart:
    return CallStart(execution_ids=fields.texts("execution_ids"), cursor=fields.number("cursor"))


def _read_call_result(fields: _Fields) -> CallResult:
    return _result(fields, cursor=fields.number("cursor"))


def _read_turn_end(fields: _Fields) -> TurnEnd:
    usage = fields.optional_object("usage")
    return TurnEnd(
        message_id=fields.text("message_id"),
        stop_reason=fields.text("stop_reason"),
        usage=None if usage is None else Usage.from_plain(usage),
        error=_error(fields),
        partial=fields.text("partial"),
        results=tuple(_result(result, cursor=0) for result in fields.each("results")),
        cursor=fields.number("cursor"),
    )


def _result(fields: _Fields, *, cursor: int) -> CallResult:
    return CallResult(
        execution_id=fields.text("execution_id"),
        parts=fields.parts("parts"),
        is_error=fields.flag("is_error"),
        cursor=cursor,
    )


def _error(fields: _Fields) -> ErrorInfo | None:
    if fields.optional_object("error") is None:
        return None
    error = fields.within("error")
    return ErrorInfo(
        name=error.text("name"),
        message=error.text("message"),
        code=error.text("code"),
        retryable=error.flag("retryable"),
    )


_READERS: dict[str, Callable[[_Fields], Record]] = {
    "input": _read_input,
    "claim": _read_claim,
    "turn_start": _read_turn_start,
    "reply": _read_reply,
    "call_start": _read_call_start,
    "call_result": _read_call_result,
    "turn_end": _read_turn_end,
}


def _invalid(seq: int, what: str) -> JournalInvalidError:
    return JournalInvalidError(f"record {seq} of the journal cannot be read: {what}", seq=seq)
