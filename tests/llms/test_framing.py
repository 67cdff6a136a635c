"""What the JSON values of a body are."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import IncompleteGenerationError, LMProtocolError, TransportError
from langfx_web.llms import framing
from langfx_web.llms.framing import DONE, Framing
from langfx_web.transport import cut_every


def values(body: bytes, size: int = 1000) -> tuple[str | None, list[Any]]:
    """Kind and values of a body that comes in chunks of this size."""
    reader = Framing()
    found = [value for chunk in cut_every(body, size) for value in reader.feed(chunk)]
    return reader.kind, [*found, *reader.close()]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("body", "kind", "found"),
    [
        (b'data: {"a":1}\n\ndata: [DONE]\n\n', "events", [{"a": 1}, DONE]),
        (b'\n: hi\n\ndata: {"a":1}', "events", [{"a": 1}]),
        (b'\xef\xbb\xbf {"a":\n1}', "document", [{"a": 1}]),
        (b'[{"a":1},\r\n{"a":2}]', "array", [{"a": 1}, {"a": 2}]),
        (b"  \n ", None, []),
        (b"", None, []),
    ],
)
def test_the_first_character_says_what_a_body_is(body: bytes, kind: str | None, found: list[Any], size: int) -> None:
    """Events, documents and arrays are told apart by what comes first, however it is cut."""
    assert values(body, size) == (kind, found)


def test_bug_007_a_frame_that_is_no_json_is_a_protocol_error_after_what_came_before() -> None:
    """A broken frame is not skipped, and does not take the ones before it away."""
    reader = Framing()
    events = reader.feed(b'data: {"a":1}\n\ndata: {not json\n\ndata: {"a":2}\n\n')
    assert next(events) == {"a": 1}
    with pytest.raises(LMProtocolError, match="no JSON"):
        next(events)


def test_an_error_event_is_an_error_whatever_its_data() -> None:
    """An event or a field named error is a failure even if its data does not say so."""
    assert values(b'event: error\ndata: {"message":"x"}\n\n')[1] == [{"error": {"message": "x"}}]
    assert values(b'error: {"message":"x"}\n\n')[1] == [{"error": {"message": "x"}}]
    assert values(b'event: error\ndata: {"type":"error","error":{}}\n\n')[1] == [{"type": "error", "error": {}}]


@pytest.mark.parametrize("body", [b'{"a":', b'[{"a":1}', b'data: {"a', b"data: \xe6\x97"])
def test_bug_002_a_body_that_ends_in_the_middle_is_incomplete(body: bytes) -> None:
    """A cut document or event is an incomplete answer, never a decoder's own error."""
    with pytest.raises(IncompleteGenerationError):
        values(body)


def test_a_web_page_is_no_answer() -> None:
    """HTML with a success status points at the address."""
    with pytest.raises(LMProtocolError, match="base_url"):
        values(b"\n<!doctype html>")


def test_a_document_has_a_limit() -> None:
    """A document over the limit is refused while it comes."""
    reader = Framing()
    reader.feed(b"{")
    with pytest.raises(TransportError) as raised:
        reader.feed(b" " * framing.MAX_DOCUMENT_BYTES)
    assert raised.value.code == "body_too_large"
