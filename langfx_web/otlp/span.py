"""A span, and the JSON that OTLP has for it.

The form is that of `opentelemetry.proto.trace.v1`: ids as lower-case hex, 64-bit numbers as decimal text, enums as
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from langfx_web.errors import JSONTextError
from langfx_web.json_text import dumps, loads

Value: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = dict[str, Value]

INTERNAL = 1
CLIENT = 3
_ERROR = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """A moment within a span."""

    at: datetime
    name: str
    attributes: Attributes


@dataclass(slots=True, kw_only=True)
class Span:
    """A piece of work: whose part it is, when it was, and what is known of it.

    `kind` is `INTERNAL` or `CLIENT`. `status_message` counts only where `is_error`.
    """

    trace_id: str
    span_id: str
    name: str
    kind: int
    start: datetime
    parent_id: str | None = None
    end: datetime | None = None
    attributes: Attributes = field(default_factory=dict)
    events: list[SpanEvent] = field(default_factory=list)
    is_error: bool = False
    status_message: str | None = None

    def encode(self) -> bytes:
        """The finished span as JSON in UTF-8."""
        plain: dict[str, Any] = {
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "name": self.name,
            "kind": self.kind,
            "startTimeUnixNano": _nanos(self.start),
            "endTimeUnixNano": _nanos(self.end or self.start),
            "attributes": attributes(self.attributes),
            "events": [
                {"timeUnixNano": _nanos(event.at), "name": event.name, "attributes": attributes(event.attributes)}
                for event in self.events
            ],
            "status": {},
        }
        if self.parent_id is not None:
            plain["parentSpanId"] = self.parent_id
        if self.is_error:
            plain["status"] = {"code": _ERROR, "message": self.status_message or ""}
        return _utf8(dumps(plain))


def document(resource: Mapping[str, Value], scope: str, spans: Iterable[bytes]) -> bytes:
    """The body of one request: encoded spans of one resource, made by one instrumentation `scope`."""
    head = _utf8(dumps({"attributes": attributes(resource)}))
    name = _utf8(dumps({"name": scope}))
    listed = b",".join(spans)
    return b'{"resourceSpans":[{"resource":%b,"scopeSpans":[{"scope":%b,"spans":[%b]}]}]}' % (head, name, listed)


def refused_spans(answer: bytes) -> int:
    """How many spans the answer to a request says were refused; 0 where it is no such answer."""
    try:
        return max(0, int(loads(answer)["partialSuccess"]["rejectedSpans"]))
    except (JSONTextError, KeyError, TypeError, ValueError):
        return 0


def attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    """Attributes as a list of keys with typed values."""
    return [{"key": key, "value": _typed(value)} for key, value in values.items()]


def _typed(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
    return {"arrayValue": {"values": [_typed(item) for item in value]}}


def _nanos(at: datetime) -> str:
    return str((at - _EPOCH) // timedelta(microseconds=1) * 1000)


def _utf8(text: str) -> bytes:
    # A name that a model made up may have half a surrogate pair in it.
    return text.encode("utf-8", "replace")
