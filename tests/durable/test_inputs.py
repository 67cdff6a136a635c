"""What may be handed to a conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.durable.inputs import (
    MAX_INPUT,
    check_cursor,
    check_message_id,
    check_session_id,
    check_size,
    message_of,
    plain_prompt,
    shown,
)
from langfx_web.errors import ImageError, InputTooLargeError, InvalidValueError
from langfx_web.json_text import dumps, loads
from langfx_web.llms.media import MAX_IMAGE
from langfx_web.messages import AIMessage, Image, Text, Thought, UserMessage
from tests.messages.pictures import PNG


def code_of(call: Any, *args: Any) -> str:
    """The code of the error that a call raises."""
    with pytest.raises(InvalidValueError) as caught:
        call(*args)
    return caught.value.code


@pytest.mark.parametrize("id", ["a", "A-1_b.c", "x" * 128, "...", "0"])
def test_session_ids(id: str) -> None:
    """1 to 128 letters, digits, dots, underscores and hyphens."""
    assert check_session_id(id) == id


@pytest.mark.parametrize("id", ["", "x" * 129, " ", "a b", ".", "..", "ü", "a/b", "a\n", 7, None])
def test_wrong_session_ids(id: Any) -> None:
    """Row 6: anything else is `invalid_session_id`."""
    assert code_of(check_session_id, id) == "invalid_session_id"


@pytest.mark.parametrize("id", ["m", "!", "~" * 256, "a/b:c"])
def test_message_ids(id: str) -> None:
    """1 to 256 printable ASCII characters without blanks."""
    assert check_message_id(id) == id


@pytest.mark.parametrize("id", ["", "x" * 257, "a b", "ü", "a\n", "\x7f", 7, None])
def test_wrong_message_ids(id: Any) -> None:
    """Anything else is `invalid_message_id`."""
    assert code_of(check_message_id, id) == "invalid_message_id"


@pytest.mark.parametrize("cursor", [-1, 1.5, "1", None, True])
def test_wrong_cursors(cursor: Any) -> None:
    """Row 3: only an int from 0 on is a cursor."""
    assert check_cursor(0) == 0
    assert code_of(check_cursor, cursor) == "invalid_cursor"


@given(st.text().filter(str.strip))
def test_a_text_is_a_prompt(text: str) -> None:
    """It is stored as it is, and shown whole."""
    assert plain_prompt(text) == shown(text) == text
    assert message_of(text) == UserMessage(text)


@pytest.mark.parametrize(
    "given_", [UserMessage("a", "b"), [Text("a"), "b"], ["a", {"type": "text", "text": "b"}], iter(["a", "b"])]
)
def test_parts_are_a_prompt(given_: Any) -> None:
    """A user message, parts, plain parts or any mix of them are the same prompt; a preview of its text is shown."""
    plain = plain_prompt(given_)
    assert message_of(plain) == UserMessage("a", "b")
    assert shown(plain) == "ab"


def test_a_long_prompt_of_parts_is_shown_cut() -> None:
    """120 characters are shown of what is not one text."""
    assert shown(plain_prompt([Text("x" * 200)])) == "x" * 120


@pytest.mark.parametrize(
    "given_",
    [
        "",
        " \n",
        [],
        [Text("")],
        None,
        7,
        b"bytes",
        [7],
        {"type": "text", "text": "x"},
        [{"type": "text"}],
        [{"type": "nothing", "text": "x"}],
        [Thought("hm")],
        AIMessage("x"),
    ],
)
def test_what_is_no_prompt(given_: Any) -> None:
    """Row 11: empty or malformed input is `invalid_input`."""
    assert code_of(plain_prompt, given_) == "invalid_input"


def test_a_picture_is_a_prompt() -> None:
    """Without a text, too; bytes are stored as base64, and the text alone is shown."""
    plain = plain_prompt(["a ", {"type": "image", "data": PNG}])
    assert message_of(loads(dumps(plain))) == UserMessage("a ", Image.from_bytes(PNG))
    assert shown(plain) == "a "
    assert message_of(plain_prompt([Image.from_uri("https://a/b")])) == UserMessage(Image.from_uri("https://a/b"))


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"type": "image", "data": b"<html>"}, "invalid_image"),
        ({"type": "image", "data": PNG + bytes(MAX_IMAGE)}, "image_too_large"),
    ],
)
def test_bug_093_what_could_never_be_sent_is_not_stored(part: Any, code: str) -> None:
    """Bytes that are no image, and too many of them; those with a reference to the original may be dropped later."""
    with pytest.raises(ImageError) as caught:
        plain_prompt(["a", part])
    assert caught.value.code == code
    assert plain_prompt(["a", {"type": "image", "data": PNG + bytes(MAX_IMAGE), "ref": "r"}])


def test_a_prompt_is_copied() -> None:
    """Row 10: what is changed after the call changes nothing of what was handed in."""
    inner = {"tags": ["a"]}
    plain = plain_prompt(UserMessage("x", metadata=inner))
    inner["tags"].append("b")
    assert message_of(plain).metadata == {"tags": ["a"]}


def test_the_size_of_an_input() -> None:
    """Rows 11 and 91: 8 MiB of JSON are taken, a byte more is `input_too_large`."""
    check_size("x" * (MAX_INPUT - 4 - 2), None)
    with pytest.raises(InputTooLargeError) as caught:
        check_size("x" * (MAX_INPUT - 4 - 1), None)
    assert caught.value.code == "input_too_large"
    with pytest.raises(InputTooLargeError):
        check_size("ü" * (MAX_INPUT // 2))


def test_half_a_surrogate_pair_is_no_input() -> None:
    """Row 11: what has no UTF-8 form cannot be stored as it is."""
    assert code_of(check_size, "a\ud83d") == "invalid_input"
