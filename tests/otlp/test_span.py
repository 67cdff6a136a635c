"""The JSON of spans."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from langfx_web.json_text import loads
from langfx_web.otlp.span import CLIENT, Span, SpanEvent, document, refused_spans

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
TRACE = "5b8efff798038103d269b633813fc60c"


def test_a_span_has_the_form_of_otlp() -> None:
    """Ids are hex, times and integers are decimal texts, kinds and states are numbers."""
    span = Span(
        trace_id=TRACE,
        span_id="eee19b7ec3c1b174",
        parent_id="eee19b7ec3c1b173",
        name="chat m",
        kind=CLIENT,
        start=AT,
        end=AT + timedelta(microseconds=1),
        attributes={"a": "text", "b": True, "c": 2**53 + 1, "d": 0.5, "e": ("x", "y")},
        events=[SpanEvent(at=AT, name="now", attributes={"f": 1})],
        is_error=True,
        status_message="no",
    )
    assert loads(span.encode()) == {
        "traceId": TRACE,
        "spanId": "eee19b7ec3c1b174",
        "parentSpanId": "eee19b7ec3c1b173",
        "name": "chat m",
        "kind": 3,
        "startTimeUnixNano": "1767323045678901000",
        "endTimeUnixNano": "1767323045678902000",
        "attributes": [
            {"key": "a", "value": {"stringValue": "text"}},
            {"key": "b", "value": {"boolValue": True}},
            {"key": "c", "value": {"intValue": "9007199254740993"}},
            {"key": "d", "value": {"doubleValue": 0.5}},
            {"key": "e", "value": {"arrayValue": {"values": [{"stringValue": "x"}, {"stringValue": "y"}]}}},
        ],
        "events": [
            {
                "timeUnixNano": "1767323045678901000",
                "name": "now",
                "attributes": [{"key": "f", "value": {"intValue": "1"}}],
            }
        ],
        "status": {"code": 2, "message": "no"},
    }


def test_a_root_without_failure_says_so_by_silence() -> None:
    """No parent, and a state that is not set."""
    plain = loads(Span(trace_id=TRACE, span_id="eee19b7ec3c1b174", name="a", kind=1, start=AT).encode())
    assert "parentSpanId" not in plain
    assert plain["status"] == {}
    assert plain["startTimeUnixNano"] == plain["endTimeUnixNano"]


def test_half_a_character_does_not_stop_a_span() -> None:
    """A name that a model made up becomes valid UTF-8."""
    span = Span(trace_id=TRACE, span_id="eee19b7ec3c1b174", name="execute_tool \ud83d", kind=1, start=AT)
    assert loads(span.encode())["name"] == "execute_tool ?"


def test_a_document_holds_the_spans_of_one_resource() -> None:
    """Many spans, one resource, one scope."""
    body = loads(document({"service.name": "shop"}, "langfx_web", [b'{"n":1}', b'{"n":2}']))
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    scope = {"scope": {"name": "langfx_web"}, "spans": [{"n": 1}, {"n": 2}]}
    assert body == {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        (b"{}", 0),
        (b"", 0),
        (b"<html>", 0),
        (b"[]", 0),
        (b'{"partialSuccess":{}}', 0),
        (b'{"partialSuccess":null}', 0),
        (b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', 3),
        (b'{"partialSuccess":{"rejectedSpans":2}}', 2),
        (b'{"partialSuccess":{"rejectedSpans":"-1"}}', 0),
        (b'{"partialSuccess":{"rejectedSpans":"many"}}', 0),
    ],
)
def test_a_collector_may_refuse_some(answer: bytes, count: int) -> None:
    """It says how many; an answer that is none counts as none refused."""
    assert refused_spans(answer) == count
