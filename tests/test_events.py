"""Events: the type follows from the class name, the plain form is camelCase and reads back."""

from __future__ import annotations

import inspect
import re

import pytest

from langfx_web import events
from langfx_web.usage import Usage

CLASSES = [value for _, value in inspect.getmembers(events, inspect.isclass) if hasattr(value, "type")]

EXAMPLES = [
    events.TextDelta(delta="a"),
    events.ThoughtDelta(delta="b"),
    events.ToolStart(id="1", execution_id="exe_1", name="n", checksum="c", started_at="t", input={"a": 1}),
    events.ToolEnd(
        id="1", execution_id="e", name="n", checksum="c", is_error=True, ended_at="t", duration_ms=3, error_code="x"
    ),
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
