"""The plain form of messages: equal after the way back, closed against unknown keys."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.errors import ImageError, InvalidValueError
from langfx_web.json_text import dumps, loads
from langfx_web.messages import (
    PDF,
    AIMessage,
    Audio,
    CachePoint,
    ComplexMessage,
    Image,
    Mime,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
    Video,
)
from langfx_web.messages.codec import decode, encode
from langfx_web.usage import Usage
from tests.messages.pictures import GIF, PNG
from tests.messages.test_modality import LABELLED, NO_IMAGES

MESSAGES = [
    SystemMessage("s", CachePoint()),
    UserMessage("a", "b", metadata={"k": [1, None]}, id="m1"),
    UserMessage(Image.from_bytes(PNG, source_ref="r"), PDF.from_uri("https://a/b"), CachePoint("1h")),
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
    ToolMessage("r", Image(source_ref="r"), call_id="1", name="n", is_error=True),
]

# Every kind of part, and every role with all that it can say.
words = st.text(max_size=8)
names = st.text(min_size=1, max_size=8).filter(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, values, max_size=3)
refs = st.none() | st.just("shot-7")
said = st.builds(Text, words)
media = st.one_of(
    st.builds(Image.from_bytes, st.sampled_from([PNG, GIF]), source_ref=refs),
    st.builds(Audio.from_bytes, st.binary(max_size=9), st.just("audio/wav"), source_ref=refs),
    st.builds(PDF.from_bytes, st.binary(max_size=9)),
    st.builds(Mime.from_bytes, st.binary(max_size=9), st.just("text/csv")),
    st.builds(Video.from_uri, st.just("https://a/b"), st.none() | st.just("video/mp4")),
    st.builds(Image, source_ref=names.filter(str.isprintable)),
)
points = st.builds(CachePoint, st.none() | st.sampled_from(["5m", "1h"]))
thoughts = st.builds(Thought, names, id=st.none() | names) | st.builds(
    Thought, words, payload=objects.filter(bool), replay_compatibility=names
)
calls = st.builds(ToolCall, names, names, objects) | st.builds(ToolCall, names, names, st.none(), raw_args=words)


def role(kind: Any, *parts: st.SearchStrategy[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Messages of a role that hold these parts."""
    held = st.lists(st.one_of(*parts), max_size=5)
    common = st.fixed_dictionaries({"metadata": objects, "id": st.none() | names, **fields})
    return st.builds(lambda held, common: kind(*held, **common), held, common)


counts = st.none() | st.builds(Usage, input_tokens=st.integers(0, 9), raw=st.none())
messages = st.one_of(
    role(SystemMessage, said, points),
    role(UserMessage, said, media, points),
    role(AIMessage, said, thoughts, calls, media, usage=counts, finish_reason=st.none() | names, model=names),
    role(ToolMessage, said, media, points, call_id=names, name=st.none() | names, is_error=st.booleans()),
)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.role)
def test_there_and_back(message) -> None:
    """Through JSON text and back every field is the same."""
    back = decode(loads(dumps(encode(message))))
    assert back == message
    assert back._fields() == message._fields() | {"metadata": back.metadata}


@given(messages)
def test_langfx_02_every_message_comes_back_equal(message: Any) -> None:
    """Whatever its role and parts: as JSON text, and with the bytes of its media left as bytes."""
    for back in (decode(loads(dumps(encode(message)))), decode(encode(message, bytes_as_text=False))):
        assert back == message
        assert (back.id, getattr(back, "usage", None)) == (message.id, getattr(message, "usage", None))


def test_langfx_02_the_plain_form_of_media() -> None:
    """Base64 in JSON, bytes on the way to a page; an address or a reference as it is; what is None is left out."""
    message = UserMessage(Image.from_bytes(PNG), PDF.from_uri("https://a/b"), Image(source_ref="r"), CachePoint("5m"))
    assert encode(message)["parts"] == [
        {"type": "image", "mimeType": "image/png", "data": b64encode(PNG).decode()},
        {"type": "pdf", "mimeType": "application/pdf", "uri": "https://a/b"},
        {"type": "image", "ref": "r"},
        {"type": "cache_point", "ttl": "5m"},
    ]
    assert encode(message, bytes_as_text=False)["parts"][0]["data"] == PNG


def test_langfx_02_both_spellings_are_read() -> None:
    """snake_case is read as camelCase is, but not both at once."""
    plain = {"type": "audio", "data": b"x"}
    camel, snake = ({"role": "user", "parts": [{**plain, key: "audio/wav"}]} for key in ("mimeType", "mime_type"))
    assert decode(camel) == decode(snake) == UserMessage(Audio.from_bytes(b"x", "audio/wav"))
    with pytest.raises(InvalidValueError, match="two spellings"):
        decode({"role": "tool", "parts": [], "callId": "1", "call_id": "2"})
    assert decode({"role": "tool", "parts": ["x"], "call_id": "1"}) == ToolMessage("x", call_id="1")
    assert decode({"role": "tool", "parts": ["x"], "callId": "1"}) == ToolMessage("x", call_id="1")


@pytest.mark.parametrize(("data", "declared", "found"), LABELLED)
def test_bug_093_a_stored_image_is_of_the_type_it_is(data: bytes, declared: str | None, found: str) -> None:
    """Whatever the label says that it was stored or sent under."""
    for form in (data, b64encode(data).decode()):
        part = {"type": "image", "mimeType": declared, "data": form}
        assert decode({"role": "user", "parts": [part]}) == UserMessage(Image.from_bytes(data, found))


@pytest.mark.parametrize(("data", "declared", "found"), NO_IMAGES)
def test_bug_093_what_is_no_image_cannot_be_read_as_one(data: bytes, declared: str, found: str) -> None:
    """So no conversation gets it from a page or a store."""
    with pytest.raises(ImageError, match=found):
        decode({"role": "tool", "callId": "1", "parts": [{"type": "image", "mimeType": declared, "data": data}]})


@pytest.mark.parametrize(
    "plain",
    [
        {"role": "user", "parts": [], "extra": 1},
        {"role": ["user"], "parts": []},
        {"role": "user", "parts": [], "id": 7},
        {"role": "user", "parts": [], "metadata": "ab"},
        {"role": "tool", "parts": [], "callId": "1", "isError": "no"},
        {"role": "assistant", "parts": [], "usage": 7},
        {"role": "assistant", "parts": [], "usage": {"tokens": 7}},
        {"role": "assistant", "parts": [{"type": "thought", "content": 7}]},
        {"role": "user", "parts": [{"type": {}}]},
        {"role": "user", "parts": [{"type": "image", "uri": "https://a/b", "alt": "x"}]},
        {"role": "user", "parts": [{"type": "text", "text": "a", "ref": "x"}]},
        {"role": "system", "parts": [{"type": "image", "uri": "https://a/b"}]},
        {"role": "user", "parts": [{"type": "cache_point", "ttl": 5}]},
        {"role": "wizard", "parts": []},
        {"role": "user", "parts": [{"type": "text", "text": "a", "bold": True}]},
        {"role": "user", "parts": [{"type": "hologram"}]},
        {"role": "user", "parts": "a"},
        {"role": "user", "parts": [{"type": "text"}]},
        {"role": "tool", "parts": []},
        [],
    ],
)
def test_langfx_02_malformed_forms_are_refused(plain) -> None:
    """An unknown role, kind or key is an error that says so."""
    with pytest.raises(InvalidValueError) as caught:
        decode(plain)
    assert caught.value.code == "invalid_message"


def test_a_transcript_has_no_plain_form() -> None:
    """Its messages do."""
    with pytest.raises(InvalidValueError):
        encode(ComplexMessage(UserMessage("a")))


KEYS = st.sampled_from(
    [
        "type",
        "text",
        "content",
        "payload",
        "replayCompatibility",
        "id",
        "name",
        "args",
        "rawArgs",
        "ttl",
        "mimeType",
        "data",
        "uri",
        "ref",
        "usage",
        "finishReason",
        "model",
        "callId",
        "isError",
        "metadata",
        "role",
        "x",
    ]
)
KINDS = st.sampled_from(
    ["text", "thought", "tool_call", "image", "audio", "pdf", "mime", "cache_point", "user", "tool"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | words | KINDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
part_like = st.dictionaries(KEYS, anything, max_size=4).flatmap(
    lambda fields: st.builds(lambda kind: {**fields, "type": kind}, KINDS)
)


@given(
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(part_like | anything, max_size=3) | anything,
    st.dictionaries(KEYS, anything, max_size=4),
)
def test_langfx_02_anything_else_is_refused(role: str, parts: Any, fields: dict[str, Any]) -> None:
    """What comes from a page or a file is a message that can be written again, or an error that says what is wrong."""
    try:
        message = decode({**fields, "role": role, "parts": parts})
    except (InvalidValueError, ImageError):
        return
    assert decode(loads(dumps(encode(message)))) == message
