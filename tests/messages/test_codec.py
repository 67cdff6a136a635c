"""The plain form of messages: equal after the way back, closed against unknown keys."""

from __future__ import annotations

import pytest

from langfx_web.errors import InvalidValueError
from langfx_web.json_text import dumps, loads
from langfx_web.messages import AIMessage, ComplexMessage, SystemMessage, Thought, ToolCall, ToolMessage, UserMessage
from langfx_web.messages.codec import decode, encode
from langfx_web.usage import Usage

MESSAGES = [
    SystemMessage("s"),
    UserMessage("a", "b", metadata={"k": [1, None]}, id="m1"),
    AIMessage(
        "t",
        Thought("why", payload={"v": 1}, replay_compatibility="tag"),
        ToolCall("1", "n", {"a": None}),
        ToolCall("2", "n", None, raw_args='{"a"'),
        usage=Usage(input_tokens=1),
        finish_reason="stop",
        raw_finish_reason="end_turn",
        model="m",
        response_id="r",
    ),
    ToolMessage("r", call_id="1", name="n", is_error=True),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.role)
def test_there_and_back(message) -> None:
    """Through JSON text and back every field is the same."""
    back = decode(loads(dumps(encode(message))))
    assert back == message
    assert back._fields() == message._fields() | {"metadata": back.metadata}


def test_both_spellings_are_read() -> None:
    """snake_case is read as camelCase is."""
    assert decode({"role": "tool", "parts": ["x"], "call_id": "1"}) == ToolMessage("x", call_id="1")
    assert decode({"role": "tool", "parts": ["x"], "callId": "1"}) == ToolMessage("x", call_id="1")


@pytest.mark.parametrize(
    "plain",
    [
        {"role": "user", "parts": [], "extra": 1},
        {"role": "wizard", "parts": []},
        {"role": "user", "parts": [{"type": "text", "text": "a", "bold": True}]},
        {"role": "user", "parts": [{"type": "hologram"}]},
        {"role": "user", "parts": "a"},
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": "tool", "parts": []},
        [],
    ],
)
def test_malformed_forms_are_refused(plain) -> None:
    """An unknown role, kind or key is an error that says so."""
    with pytest.raises(InvalidValueError) as caught:
        decode(plain)
    assert caught.value.code == "invalid_message"


def test_a_transcript_has_no_plain_form() -> None:
    """Its messages do."""
    with pytest.raises(InvalidValueError):
        encode(ComplexMessage(UserMessage("a")))
