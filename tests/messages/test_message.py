"""Messages are immutable values: a role, ordered parts, equality by content."""

from __future__ import annotations

import pytest

from langfx_web.errors import InvalidValueError
from langfx_web.messages import (
    AIMessage,
    ComplexMessage,
    Message,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)

CALL = ToolCall("c1", "look", {"at": 1})


def test_a_str_is_a_text_and_text_leaves_out_the_rest() -> None:
    """`.text` joins the texts; thoughts and calls have views of their own."""
    message = AIMessage("Hel", Thought("hm"), "lo", CALL)
    assert message.text == "Hello"
    assert message.parts == (Text("Hel"), Thought("hm"), Text("lo"), CALL)
    assert message.thoughts == (Thought("hm"),)
    assert message.tool_calls == (CALL,)


def test_equality_is_by_content() -> None:
    """Class, parts and metadata count; id, source, result and usage do not."""
    assert UserMessage("a", id="1") == UserMessage("a", source=AIMessage("b"))
    assert UserMessage("a") != UserMessage("a", metadata={"k": 1})
    assert UserMessage("a") != SystemMessage("a")
    assert ToolMessage("a", call_id="1") != ToolMessage("a", call_id="1", is_error=True)


def test_messages_cannot_be_changed() -> None:
    """`replace` gives a changed copy; the original stays."""
    message = AIMessage("a", metadata={"k": [1]}, model="m")
    with pytest.raises(AttributeError):
        message.model = "n"
    with pytest.raises(TypeError):
        message.metadata["k"] = 2  # type: ignore[index]
    changed = message.replace(parts=["b"], finish_reason="stop")
    assert (changed.text, changed.model, changed.finish_reason, message.text) == ("b", "m", "stop", "a")


@pytest.mark.parametrize(
    "make",
    [
        lambda: UserMessage(CALL),
        lambda: SystemMessage(Thought("x")),
        lambda: UserMessage(3),
        lambda: ToolMessage("x", call_id=" "),
        lambda: ComplexMessage("x"),
        lambda: Thought(""),
        lambda: Thought("x", payload={"a": 1}),
        lambda: Text(1),
    ],
)
def test_parts_out_of_place_are_refused(make) -> None:
    """A role holds only the parts that it can say."""
    with pytest.raises(InvalidValueError) as caught:
        make()
    assert caught.value.code == "invalid_message"


@pytest.mark.parametrize("args", [("", "n", {}), ("i", "", {}), ("i", "n", [1]), ("i", "n", None)])
def test_malformed_calls_are_refused(args) -> None:
    """A call has an id, a name, and an arguments object or the text that was none."""
    with pytest.raises(InvalidValueError) as caught:
        ToolCall(*args)
    assert caught.value.code == "invalid_tool_call"


def test_transcripts_are_flat_and_keep_roles() -> None:
    """Nested transcripts are spliced in; neighbours of one role stay separate."""
    inner = ComplexMessage(UserMessage("a"), AIMessage("b"))
    outer = ComplexMessage(SystemMessage("s"), inner, UserMessage("c"))
    assert [message.role for message in outer.messages] == ["system", "user", "assistant", "user"]
    assert outer.text == "s\n\na\n\nb\n\nc"
    assert outer == ComplexMessage(*outer.messages)


def test_message_of_anything() -> None:
    """A str, parts, a message, or several messages."""
    assert Message.of("a") == UserMessage("a")
    assert Message.of(["a", Text("b")]) == UserMessage("a", "b")
    assert Message.of([UserMessage("a"), AIMessage("b")]) == ComplexMessage(UserMessage("a"), AIMessage("b"))
    message = AIMessage("x")
    assert Message.of(message) is message


def test_repr_shows_no_payload() -> None:
    """An opaque payload is named by its tag, never printed."""
    thought = Thought("", payload={"signature": "abc123"}, replay_compatibility="tag")
    assert "abc123" not in repr(AIMessage(thought))
    assert "tag" in repr(thought)
