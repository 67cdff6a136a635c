"""Records and their bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.durable import codec
from langfx_web.durable.records import (
    CallResult,
    CallStart,
    Claim,
    Input,
    Record,
    RecordedCall,
    Reply,
    Settings,
    TurnEnd,
    TurnStart,
)
from langfx_web.errors import JournalInvalidError, JournalVersionError
from langfx_web.events import ErrorInfo
from langfx_web.llms import ModelSettings
from langfx_web.messages import AIMessage, Text, Thought, ToolCall
from langfx_web.usage import Usage

AT = "2026-01-01T00:00:00.000+00:00"
RECORDS: list[Record] = [
    Input(type="prompt", message_id="m", origin="w", nonce="w:1", prompt="hé"),
    Input(
        type="prompt",
        message_id="m",
        origin="w",
        nonce="w:1",
        prompt={"role": "user", "parts": [{"type": "text", "text": "hi"}]},
        context={"user": [1, None, {"a": 0.5}]},
        settings=Settings(model=ModelSettings("fast"), instructions="Be brief."),
    ),
    Input(type="cancel", message_id="c", origin="w", nonce="w:2", target="m"),
    Input(type="cancel", message_id="c", origin="w", nonce="w:2"),
    Claim(holder="w", epoch=3, cursor=9),
    TurnStart(message_id="m", model="fast", tools="abc", cursor=9),
    Reply(
        step=1,
        message=AIMessage(
            Thought("hm", payload={"sig": "x"}, replay_compatibility="t"),
            Text("ok"),
            ToolCall("c1", "pay", {"n": 1}),
            ToolCall("c2", "pay", None, raw_args="{"),
            usage=Usage(input_tokens=1),
            finish_reason="tool_calls",
        ),
        calls=(
            RecordedCall(execution_id="e1", call_id="c1", idempotent=False, writes=True),
            RecordedCall(execution_id="e2", call_id="c2", idempotent=True, writes=False),
        ),
        cursor=10,
    ),
    CallStart(execution_ids=("e1", "e2"), cursor=11),
    CallResult(execution_id="e1", parts=(Text("paid"),), is_error=False, cursor=12),
    TurnEnd(
        message_id="m",
        stop_reason="error",
        usage=Usage(output_tokens=3, lower_bound=True),
        error=ErrorInfo(name="RateLimitError", message="slow", code="rate_limit", retryable=True),
        partial="half",
        results=(CallResult(execution_id="e2", parts=(Text("no"),), is_error=True),),
        cursor=13,
    ),
    TurnEnd(message_id="m", stop_reason="end_turn"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.kind)
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    """Nothing is lost or changed between writing and reading."""
    data = codec.encode(record, at=AT)
    assert codec.decode(data, seq=1) == record
    assert codec.encode(codec.decode(data, seq=1), at=AT) == data


@given(st.text(min_size=1), st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_any_text_comes_back(text: str, context: dict[str, Any]) -> None:
    """Whatever a user writes is stored as it is."""
    record = Input(type="prompt", message_id="m", origin="w", nonce="n", prompt=text, context=context)
    assert codec.decode(codec.encode(record, at=AT), seq=1) == record


def test_half_a_surrogate_pair_is_replaced() -> None:
    """UTF-8 has no form for it, and a journal must never fail over it; whole pairs given in halves are joined."""
    record = CallResult(execution_id="e", parts=(Text("a\ud83d b \ud83d\ude00"),))
    read = codec.decode(codec.encode(record, at=AT), seq=1)
    assert read == CallResult(execution_id="e", parts=(Text("a� b 😀"),))


WRONG: list[Any] = [None, 7, -1, 1.5, True, "text", [], [7], {}, {"a": 1}]


def _variants(plain: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, wrong) for key in plain if key not in ("v", "at", "metadata") for wrong in WRONG]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.kind)
def test_a_wrong_typed_field_never_gets_in(record: Record) -> None:
    """Row 89: a field of another type is either refused with the record's number, or read as a valid record."""
    plain = json.loads(codec.encode(record, at=AT))
    refused = 0
    for key, wrong in _variants(plain):
        data = json.dumps({**plain, key: wrong}).encode()
        try:
            read = codec.decode(data, seq=7)
        except JournalInvalidError as error:
            assert error.seq == 7
            refused += 1
        else:
            assert codec.decode(codec.encode(read, at=AT), seq=7) == read
    assert refused >= 5 * (len(plain) - 2)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.kind)
def test_a_cut_record_is_refused(record: Record) -> None:
    """Row 89: no beginning of a record passes for a record."""
    data = codec.encode(record, at=AT)
    for end in range(len(data)):
        with pytest.raises(JournalInvalidError):
            codec.decode(data[:end], seq=1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"null",
        b"[]",
        b'{"v":1}',
        b'{"v":1,"kind":"nothing","at":""}',
        b'{"v":0.5,"kind":"claim"}',
        b'{"v":true,"kind":"claim"}',
        b'{"v":1,"kind":"claim","at":"","holder":"w","epoch":NaN,"cursor":0}',
        b'{"v":1,"kind":"claim","holder":"w","epoch":1,"cursor":0}',
        b'{"v":1,"kind":"input","at":"","type":"wish","message_id":"m","origin":"w","nonce":"n"}',
        b'{"v":1,"kind":"input","at":"","type":"prompt","message_id":"m","origin":"w","nonce":"n"}',
    ],
)
def test_garbled_bytes_are_refused(data: bytes) -> None:
    """Row 89: what is no record is `journal_invalid` at its place."""
    with pytest.raises(JournalInvalidError) as caught:
        codec.decode(data, seq=4)
    assert (caught.value.seq, caught.value.code) == (4, "journal_invalid")


def test_a_reply_names_its_own_calls() -> None:
    """The recorded calls are those of the message, in its order."""
    reply = RECORDS[6]
    plain = json.loads(codec.encode(reply, at=AT))
    plain["calls"].reverse()
    with pytest.raises(JournalInvalidError):
        codec.decode(json.dumps(plain).encode(), seq=1)


def test_a_record_of_a_newer_release() -> None:
    """Row 90: it is told apart from damage, whatever else is in it."""
    with pytest.raises(JournalVersionError) as caught:
        codec.decode(b'{"v":2,"kind":"something new"}', seq=4)
    assert caught.value.code == "journal_version"
