"""Messages are immutable values: a role, ordered parts, equality by content."""

from __future__ import annotations

import copy

import pytest

from langfx_web.errors import InvalidValueError
from langfx_web.messages import (
    AIMessage,
    CachePoint,
    ComplexMessage,
    Image,
    Message,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from tests.messages.pictures import PNG

CALL = ToolCall("c1", "look", {"at": 1})
PICTURE = Image.from_bytes(PNG)


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


def test_a_copy_of_a_message_is_the_message() -> None:
    """It cannot change, so that whoever keeps copies of values can keep messages too."""
    message = AIMessage("a", CALL, metadata={"k": [1]}, source=UserMessage("q"))
    assert copy.copy(message) is message
    assert copy.deepcopy({"last": [message]}) == {"last": [message]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: UserMessage(CALL),
        lambda: SystemMessage(Thought("x")),
        lambda: SystemMessage(PICTURE),
        lambda: AIMessage(CachePoint()),
        lambda: UserMessage(3),
        lambda: UserMessage(b"x"),
        lambda: UserMessage("x", metadata={"a": object()}),
        lambda: UserMessage("x", metadata={"a": [float("nan")]}),
        lambda: UserMessage("x", metadata={1: 2}),
        lambda: Message.of(3),
        lambda: Message.of(b"x"),
        lambda: Message.of({"role": "user"}),
        lambda: Message.of([UserMessage("a"), "b"]),
        lambda: CachePoint(" "),
        lambda: CachePoint(5),
        lambda: ToolMessage("x", call_id=" "),
        lambda: ComplexMessage("x"),
        lambda: Thought(""),
        lambda: Thought("x", payload={"a": 1}),
        lambda: Text(1),
    ],
)
def test_langfx_01_parts_out_of_place_are_refused(make) -> None:
    """A role holds only the parts that it can say."""
    with pytest.raises(InvalidValueError) as caught:
        make()
    assert caught.value.code == "invalid_message"


@pytest.mark.parametrize(
    "args",
    [
        ("", "n", {}),
        (" ", "n", {}),
        (7, "n", {}),
        ("i", "", {}),
        ("i", "n", [1]),
        ("i", "n", None),
        ("i", "n", {"a": {1}}),
        ("i", "n", {"a": float("inf")}),
        ("i", "n", {1: "a"}),
    ],
)
def test_langfx_01_malformed_calls_are_refused(args) -> None:
    """A call has an id, a name, and a JSON object of arguments or the text that was none."""
    with pytest.raises(InvalidValueError) as caught:
        ToolCall(*args)
    assert caught.value.code == "invalid_tool_call"


def test_the_arguments_of_a_call_are_copied_in() -> None:
    """What happens to the original does not happen to them; unreadable text is kept only without arguments."""
    args = {"at": [1]}
    call = ToolCall("c1", "look", args, raw_args="{")
    args["at"].append(2)
    assert (call.args, call.raw_args) == ({"at": [1]}, None)
    assert ToolCall("c1", "look", None, raw_args="{").raw_args == "{"
    with pytest.raises(InvalidValueError):
        ToolCall("c1", "look", None, raw_args=7)  # type: ignore[arg-type]


def test_metadata_is_copied_in_and_read_only_at_any_depth() -> None:
    """It stays what it was when the message was made."""
    inner = {"tags": ["a"]}
    message = UserMessage("x", metadata=inner)
    inner["tags"].append("b")
    assert message.metadata == {"tags": ["a"]}
    with pytest.raises(TypeError):
        message.metadata["tags"].append("c")
    assert message.replace(parts=["y"]).metadata == {"tags": ["a"]}


def test_media_are_parts_of_what_users_tools_and_models_say() -> None:
    """In order, with a view of their own; they are no text."""
    for message in (
        UserMessage("a", PICTURE, "b", CachePoint()),
        ToolMessage("a", PICTURE, "b", CachePoint("1h"), call_id="c1"),
        AIMessage("a", PICTURE, "b"),
    ):
        assert (message.text, message.modalities) == ("ab", (PICTURE,))
    assert SystemMessage("a", CachePoint()).text == "a"


def test_langfx_03_transcripts_are_flat_and_keep_roles() -> None:
    """Nested transcripts are spliced in; neighbours of one role stay separate."""
    inner = ComplexMessage(UserMessage("a"), AIMessage("b"))
    outer = ComplexMessage(SystemMessage("s"), inner, UserMessage("c"))
    assert [message.role for message in outer.messages] == ["system", "user", "assistant", "user"]
    assert outer.text == "s\n\na\n\nb\n\nc"
    assert outer == ComplexMessage(*outer.messages)


def test_langfx_03_the_text_of_a_transcript_has_no_thoughts_and_no_calls() -> None:
    """They, and media, have views that go through all its messages."""
    talk = ComplexMessage(
        UserMessage("a", PICTURE), AIMessage(Thought("hm"), "b", CALL), ToolMessage("c", call_id="c1")
    )
    assert talk.text == "a\n\nb\n\nc"
    assert (talk.thoughts, talk.tool_calls, talk.modalities) == ((Thought("hm"),), (CALL,), (PICTURE,))
    assert talk.replace(metadata={"k": 1}).messages == talk.messages


def test_message_of_anything() -> None:
    """A str, parts, a message, or several messages."""
    assert Message.of("a") == UserMessage("a")
    assert Message.of(PICTURE) == UserMessage(PICTURE)
    assert Message.of(["a", Text("b"), PICTURE]) == UserMessage("a", "b", PICTURE)
    assert Message.of([UserMessage("a"), AIMessage("b")]) == ComplexMessage(UserMessage("a"), AIMessage("b"))
    message = AIMessage("x")
    assert Message.of(message) is message


def test_repr_shows_no_payload() -> None:
    """An opaque payload is named by its tag, never printed."""
    thought = Thought("", payload={"signature": "abc123"}, replay_compatibility="tag")
    assert "abc123" not in repr(AIMessage(thought))
    assert "tag" in repr(thought)
