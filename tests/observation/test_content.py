"""How much of a conversation an event may carry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from langfx_web.json_text import dumps, loads
from langfx_web.messages import (
    AIMessage,
    CachePoint,
    Image,
    Message,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.observation import (
    Content,
    ObservedCall,
    ObservedMedia,
    ObservedMessage,
    ObservedText,
    ObservedThought,
    ObservedTool,
)

KIB = 1024
PIXEL = b"\x89PNG\r\n\x1a\n" + bytes(30)


def test_a_conversation_is_seen_without_bytes_and_payloads() -> None:
    """What people can read is there; an image is its type and size, and a provider's payload is not there at all."""
    content = Content()
    seen = content.messages(
        [
            UserMessage("Look.", Image.from_bytes(PIXEL), Image.from_uri("https://a.example/b.png"), CachePoint()),
            AIMessage(
                Thought("Hm.", payload={"signature": "opaque"}, replay_compatibility="wire"),
                Thought(payload="hidden", replay_compatibility="wire"),
                "Well.",
                ToolCall("c1", "get", {"a": 1}),
                ToolCall("c2", "get", None, raw_args="{oops"),
            ),
            ToolMessage("Nothing.", call_id="c1", name="get", is_error=True),
        ]
    )
    assert seen == (
        ObservedMessage(
            role="user",
            parts=(
                ObservedText(text="Look."),
                ObservedMedia(kind="image", mime_type="image/png", size=len(PIXEL)),
                ObservedMedia(kind="image", mime_type=None, size=None),
            ),
        ),
        ObservedMessage(
            role="assistant",
            parts=(
                ObservedThought(text="Hm."),
                ObservedText(text="Well."),
                ObservedCall(call_id="c1", name="get", arguments='{"a":1}'),
                ObservedCall(call_id="c2", name="get", arguments="{oops"),
            ),
        ),
        ObservedMessage(role="tool", parts=(ObservedText(text="Nothing."),), call_id="c1", is_error=True),
    )
    assert not content.is_truncated


def test_64_kib_fit_and_one_byte_more_is_marked() -> None:
    """The bound is bytes of UTF-8, and no half character is left at the cut."""
    exact, over = Content(), Content()
    assert exact.text("é" * 32 * KIB) == "é" * 32 * KIB
    assert not exact.is_truncated
    assert over.text("a" + "é" * 32 * KIB) == "a" + "é" * (32 * KIB - 1)
    assert over.is_truncated
    assert exact.text("") == ""
    assert not exact.is_truncated
    assert exact.text("more") == ""
    assert exact.is_truncated


def test_the_newest_messages_are_kept_first() -> None:
    """Where not all fit, the oldest are cut and left out, and the order stays."""
    content = Content()
    seen = content.messages([UserMessage("a" * 40 * KIB), UserMessage("b" * 40 * KIB), UserMessage("c" * 4 * KIB)])
    assert [len(part.text) for message in seen for part in message.parts if isinstance(part, ObservedText)] == [
        20 * KIB,
        40 * KIB,
        4 * KIB,
    ]
    assert content.is_truncated
    full = Content()
    assert len(full.messages([UserMessage("a"), UserMessage("b" * 64 * KIB)])) == 1
    assert full.is_truncated


def test_collections_have_128_entries() -> None:
    """Of messages the last 128, of the parts of one and of tools the first."""
    content = Content()
    seen = content.messages([UserMessage(f"{number}") for number in range(130)])
    assert [seen[0].parts[0], seen[-1].parts[0]] == [ObservedText(text="2"), ObservedText(text="129")]
    assert (len(seen), content.is_truncated) == (128, True)
    parts = Content()
    assert len(parts.message(UserMessage(*["x"] * 129)).parts) == 128
    assert parts.is_truncated
    tools = Content()
    assert len(tools.tools([_tool(f"t{number}") for number in range(129)])) == 128
    assert tools.is_truncated


def test_a_schema_is_whole_or_not_there() -> None:
    """Half a schema says nothing; it has 8 KiB at most, and descriptions of all tools come before any schema."""
    content = Content()
    exact, over = _schema_of(8 * KIB), _schema_of(8 * KIB + 1)
    assert content.tools([_tool("a", exact), _tool("b", over), _tool("c")]) == (
        ObservedTool(name="a", description="d", input_schema=dumps(exact)),
        ObservedTool(name="b", description="d", input_schema=None),
        ObservedTool(name="c", description="d", input_schema="{}"),
    )
    assert content.is_truncated
    full = Content()
    full.text("x" * (64 * KIB - 10))
    assert full.tools([_tool("a", {"type": "object"}), _tool("b")]) == (
        ObservedTool(name="a", description="d", input_schema=None),
        ObservedTool(name="b", description="d", input_schema="{}"),
    )


@given(
    st.lists(
        st.lists(st.text(st.characters(), max_size=40).map(lambda text: text * 1500), min_size=1, max_size=4),
        max_size=12,
    )
)
def test_no_event_has_more_than_64_kib(said: list[list[str]]) -> None:
    """Whatever was said, what is kept is a beginning of each text, within the bound, and the mark tells of the rest."""
    messages: list[Message] = [UserMessage(*texts) for texts in said]
    content = Content()
    seen = content.messages(messages)
    kept = [part.text for message in seen for part in message.parts if isinstance(part, ObservedText)]
    whole = ["".join(texts).encode("utf-8", "replace").decode() for texts in said]
    shown = ["".join(part.text for part in message.parts if isinstance(part, ObservedText)) for message in seen]
    assert sum(len(text.encode()) for text in kept) <= 64 * KIB
    assert all(text.startswith(part) for part, text in zip(reversed(shown), reversed(whole), strict=False))
    assert content.is_truncated == (shown != whole)


def _tool(name: str, schema: dict[str, object] | None = None) -> ToolDeclaration:
    return ToolDeclaration(name=name, description="d", input_schema=schema or {})


def _schema_of(size: int) -> dict[str, object]:
    schema: dict[str, object] = loads('{"x":"' + "y" * (size - 8) + '"}')
    assert len(dumps(schema)) == size
    return schema
