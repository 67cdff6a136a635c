"""Framing of server-sent events."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.errors import TransportError
from langfx_web.transport import ServerEvent, SSEDecoder, cut_at, cut_every

STREAM = (
    b"\xef\xbb\xbf: hello\r\n\r\nevent: a\r\ndata: {\r\ndata:  1}\r\nid: 7\r\n\r\n"
    b"retry: 3000\n\nid\n\ndata\n\nunknown: x\ndata:na\xc3\xafve \xf0\x9f\x91\xa9\n\n"
    b"data: a\xe2\x80\xa8b\xc2\x85c\r\rdata: : keep-alive\n\ndata:: ka\n\nevent: ping\n\nerror: {}\n\ndata: [DONE]\n\n"
)
EVENTS = [
    ServerEvent("a", "{\n 1}", "7"),
    ServerEvent("", "naïve 👩", ""),
    ServerEvent("", "a\u2028b\x85c", ""),
    ServerEvent("error", "{}", ""),
    ServerEvent("", "[DONE]", ""),
]


def decode(chunks: list[bytes]) -> list[ServerEvent]:
    """All events of a stream that comes in these chunks."""
    decoder = SSEDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)] + decoder.close()


def reference(body: bytes) -> list[ServerEvent]:
    """The rules once more, for a whole body and without thought for speed."""
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    events, name, data, last_id = [], "", [], ""
    for line in re.split(r"\r\n|\n|\r", text)[:-1]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            joined = "\n".join(data)
            if joined.lstrip() and not joined.lstrip().startswith(":"):
                events.append(ServerEvent(name, joined, last_id))
            name, data = "", []
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "error":
            name = "error"
            data.append(value)
        elif field == "id" and "\0" not in value:
            last_id = value
    return events


def test_every_split_point_gives_the_same_events() -> None:
    """Wherever the network cuts a stream in two, its events are the same."""
    for offset in range(len(STREAM) + 1):
        assert decode(cut_at(STREAM, [offset])) == EVENTS, offset


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_small_chunks_give_the_same_events(size: int) -> None:
    """Characters, line ends and byte-order marks survive any chunk size."""
    assert decode(cut_every(STREAM, size)) == EVENTS


SOME_LINES = [
    "data: x",
    "data:y",
    "data",
    "data: :",
    "data: é👩\u2028",
    "data:  two",
    "data : x",
    "id: 1",
    "id",
    "id: \0",
]
MORE_LINES = ["event: e", "event", "error: z", ": c", "retry: 1", "nothing", "", "", ""]
LINES = st.sampled_from([*SOME_LINES, *MORE_LINES]).map(str.encode)


@given(st.lists(st.tuples(LINES | st.binary(max_size=6), st.sampled_from([b"\n", b"\r\n", b"\r"]))), st.data())
def test_agrees_with_the_plain_reference(lines: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    """Any lines, ended and cut in any way, give what reading the whole body line by line gives."""
    body = b"".join(line + end for line, end in lines)
    offsets = data.draw(st.lists(st.integers(0, len(body)), max_size=8))
    decoder = SSEDecoder()
    assert [event for chunk in cut_at(body, offsets) for event in decoder.feed(chunk)] == reference(body)


def test_bug_001_only_the_first_byte_order_mark_is_removed() -> None:
    """A mark at byte 0 does not hide the first event, and one inside data stays."""
    body = b'\xef\xbb\xbfdata: "first"\n\ndata: "\xef\xbb\xbfkept"\n\n'
    for chunks in ([body], cut_every(body, 1)):
        assert [event.data for event in decode(chunks)] == ['"first"', '"\ufeffkept"']


def test_bug_002_bad_bytes_become_one_replacement_character() -> None:
    """Bytes that are no UTF-8 cost one character, not the event or what follows."""
    body = b"data: a\xe6\x97b\n\ndata: ok\n\n"
    assert [event.data for event in decode(cut_every(body, 1))] == ["a\ufffdb", "ok"]


def test_bug_004_only_cr_and_lf_end_a_line() -> None:
    """Characters that Python calls line ends stay inside the data."""
    assert [event.data for event in decode([STREAM])][2] == "a\u2028b\x85c"


def test_bug_005_blocks_without_data_are_no_events() -> None:
    """Comments, ids, retries and names alone dispatch nothing."""
    assert decode([b": hi\n\nretry: 1\n\nid: 7\n\nevent: ping\n\ndata\n\ndata:\n\n\n"]) == []


def test_bug_007_keep_alives_sent_as_data_are_comments() -> None:
    """Data that begins with a colon is a gateway's keep-alive."""
    assert decode([b"data: : PROCESSING\n\ndata:: ka\n\ndata:   : x\n\n"]) == []


def test_bug_009_data_lines_join_and_lose_one_space() -> None:
    """Several data lines are one value; exactly one space after the colon belongs to the framing."""
    assert [event.data for event in decode([b"data:{\ndata:  1,\ndata\ndata: 2}\n\n"])] == ["{\n 1,\n\n2}"]


@pytest.mark.parametrize(
    ("rest", "data", "truncated"),
    [(b"data: [DONE]", ["[DONE]"], False), (b'data: {"a":1}\n', ['{"a":1}'], False), (b'data: {"a', [], True)],
)
def test_the_end_of_the_stream_completes_only_what_is_whole(rest: bytes, data: list[str], truncated: bool) -> None:
    """A last event without its blank line counts if it is whole; else the stream says that it was cut."""
    decoder = SSEDecoder()
    assert decoder.feed(rest) == []
    assert [event.data for event in decoder.close()] == data
    assert decoder.truncated is truncated


def test_bug_010_an_event_without_end_is_refused_and_let_go() -> None:
    """An event over the limit ends in `event_too_large`, not in the memory of the tab."""
    decoder = SSEDecoder(max_event_bytes=1000)
    decoder.feed(b"data: " + b"x" * 900)
    with pytest.raises(TransportError) as raised:
        decoder.feed(b"x" * 200)
    assert (raised.value.code, raised.value.retryable) == ("event_too_large", False)
    assert decoder.close() == []


def test_bug_010_many_data_lines_count_towards_the_limit() -> None:
    """The limit is on the event, however many lines it has."""
    decoder = SSEDecoder(max_event_bytes=1000)
    with pytest.raises(TransportError, match="larger than 1000 bytes"):
        decoder.feed(b"data: 0123456789\n" * 100 + b"\n")


def test_bug_010_time_is_linear_in_the_size_of_an_event() -> None:
    """Eight times the data in small chunks takes about eight times as long, far from the square of it."""

    def took(size: int, chunk: int) -> float:
        chunks = cut_every(b"data: " + b"x" * size + b"\n\n", chunk)
        start = time.process_time()
        assert len(decode(chunks)) == 1
        return time.process_time() - start

    for chunk, size in ((1024, 2**20), (1, 2**15)):
        assert min(took(8 * size, chunk) for _ in range(3)) < 24 * min(took(size, chunk) for _ in range(5)) + 0.01
