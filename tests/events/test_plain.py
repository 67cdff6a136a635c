"""Events: the type follows from the class name, the plain form is camelCase and reads back."""

from __future__ import annotations

import asyncio
import inspect
import re
from types import MappingProxyType

import pytest

from langfx_web import events
from langfx_web.errors import MappingError, OutputSyntaxError, RateLimitError, ToolArgumentError
from langfx_web.json_text import PlainForm
from langfx_web.messages import AIMessage, ToolCall
from langfx_web.protocols.frame import PartialList, PartialSet
from langfx_web.schemas import UNKNOWN
from langfx_web.usage import Usage

CLASSES = [
    value
    for _, value in inspect.getmembers(events, inspect.isclass)
    if hasattr(value, "type") and not issubclass(value, PlainForm)
]
"""Those of sessions write themselves, and are read when first used."""

EXAMPLES = [
    events.TextDelta(delta="a"),
    events.ThoughtDelta(delta="b"),
    events.ToolStart(id="1", execution_id="exe_1", name="n", checksum="c", started_at="t", input={"a": 1}),
    events.ToolEnd(
        id="1", execution_id="e", name="n", checksum="c", is_error=True, ended_at="t", duration_ms=3, error_code="x"
    ),
    events.GateOpen(id="g", reason="Why?", payload=None, schema={"type": "boolean"}, expires_at="t"),
    events.GateClosed(id="g", outcome="declined"),
    events.TurnStart(session_id=None, input="hi"),
    events.TurnEnd(stop_reason="end_turn", usage=Usage(input_tokens=1)),
    events.TurnEnd(
        stop_reason="error", error=events.ErrorInfo(name="N", message="m", code="c", retryable=True), repeated=True
    ),
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_type_follows_from_the_class_name(kind) -> None:
    """`TextDelta` is `text_delta`, and so on for all."""
    assert kind.type == re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: event.type)
def test_plain_form_and_back(event) -> None:
    """A stored line, with its cursor and message id, reads back as the event."""
    line = events.encode(event) | {"cursor": 3, "messageId": "m", "epoch": 1}
    assert events.decode(line) == event


def test_plain_form_leaves_out_what_is_not_there() -> None:
    """Optional fields without a value are absent; keys are camelCase."""
    assert events.encode(EXAMPLES[3]) == {
        "type": "tool_end",
        "id": "1",
        "executionId": "e",
        "name": "n",
        "checksum": "c",
        "isError": True,
        "endedAt": "t",
        "durationMs": 3,
        "errorCode": "x",
    }


ANSWER = AIMessage("[1]", finish_reason="stop")
SAID = {"role": "assistant", "parts": [{"type": "text", "text": "[1]"}], "finishReason": "stop"}
FAULT = MappingError.of(OutputSyntaxError("no value", offset=1), ANSWER)
QUERY_EVENTS = [
    (events.ObjectStart(("a", 0), "object", "Note"), {"path": ["a", 0], "kind": "object", "className": "Note"}),
    (events.ObjectStart((), "list"), {"path": [], "kind": "list", "className": None}),
    (events.FieldStart(("a",)), {"path": ["a"]}),
    (events.StringFieldDelta(("a",), "é"), {"path": ["a"], "delta": "é"}),
    (events.FieldEnd(("a",), None), {"path": ["a"], "value": None}),
    (events.ObjectEnd(()), {"path": []}),
    (
        events.GenerationComplete(value=[1], message=ANSWER, usage=None),
        {"value": [1], "message": SAID, "usage": None},
    ),
    (
        events.ParsingFailed(error=FAULT, message=ANSWER),
        {
            "error": {
                "code": "mapping_failed",
                "name": "MappingError",
                "message": FAULT.message,
                "retryable": False,
                "details": {"offset": 1, "excerpt": "[1]", "cause": "output_syntax"},
            },
            "message": SAID,
        },
    ),
    (
        events.GenerationFailed(error=RateLimitError("slow down")),
        {
            "error": {
                "code": "rate_limit",
                "name": "RateLimitError",
                "message": "slow down",
                "retryable": True,
                "details": {},
            }
        },
    ),
    (events.GenerationCancelled(reason="enough"), {"reason": "enough"}),
    (events.ToolCallStart(id="1", name="n"), {"id": "1", "name": "n"}),
    (events.ToolCallDelta(id="1", text="{"), {"id": "1", "text": "{"}),
    (
        events.ToolCallEnd(call=ToolCall("1", "n", {"a": 1})),
        {"call": {"type": "tool_call", "id": "1", "name": "n", "args": {"a": 1}}},
    ),
]


@pytest.mark.parametrize(("event", "fields"), QUERY_EVENTS, ids=lambda item: getattr(item, "type", ""))
def test_plain_form_of_what_a_query_shows(event, fields) -> None:
    """Every field is there, also where it is None; a path is a list, an error a value."""
    assert events.encode(event) == {"type": event.type, **fields}


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (events.StringFieldDelta((), "a"), True),
        (events.FieldEnd((), "a"), True),
        (events.FieldEnd((), 2**60), False),
        (events.FieldEnd((), PartialList(["a", b"b"])), False),
        (events.GenerationComplete(value=b"b", message=ANSWER), False),
        (EXAMPLES[2], False),
    ],
)
def test_what_needs_no_search_is_known(event, expected) -> None:
    """Bytes, large integers and what an author's type holds may only be where it says no."""
    assert events.has_texts_only(event) is expected


def test_every_event_has_a_plain_form() -> None:
    """Nothing that is shown to a program is without one, and no two have the same type."""
    assert set(CLASSES) == events.EVENTS
    assert len({kind.type for kind in CLASSES}) == len(CLASSES)


def test_a_partial_value_is_made_of_plain_ones() -> None:
    """Objects become their fields with the class beside, containers lists and objects; nothing fails."""
    inner = events.PartialObject("Tag", MappingProxyType({"name": "x", "weight": float("inf")}))
    odd = MappingProxyType({1: UNKNOWN, "set": PartialSet([1, 1]), "huge": 10**5000})
    note = events.PartialObject("Note", MappingProxyType({"tags": PartialList([inner]), "odd": odd, "data": b"x"}))
    assert events.encode(events.FieldEnd((0,), note)) == {
        "type": "field_end",
        "path": [0],
        "value": {
            "tags": [{"name": "x", "weight": None}],
            "odd": {"1": "UNKNOWN", "set": [1, 1], "huge": None},
            "data": b"x",
        },
        "className": "Note",
    }


def test_errors_have_their_facts() -> None:
    """Ours with code and details; what has no JSON form stays behind; a foreign one is internal."""
    error = ToolArgumentError("bad", tool="t", details={"problems": [], "object": object()})
    assert events.encode_error(error) == {
        "code": "tool_arguments_invalid",
        "name": "ToolArgumentError",
        "message": "bad",
        "retryable": False,
        "details": {"problems": []},
    }
    foreign = events.encode_error(RuntimeError("the key sk-abcdefgh"))
    assert (foreign["code"], foreign["message"]) == ("internal", "the key ***")
    assert events.encode_error(asyncio.CancelledError())["code"] == "cancelled"
