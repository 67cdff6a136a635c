"""Streamed queries of the page's modules: their events arrive as plain objects, and leaving them ends the request."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bridge.fake_page import FakePage

NOTES = """
import asyncio
from dataclasses import dataclass
from datetime import date
from enum import Enum
import langfx_web as lf
from langfx_web.transport import HANG, MockResponse
from tests.llms.messages_wire import end, ok, opened, start, text, text_delta

class Mood(Enum):
    GOOD = "good"

@dataclass
class Note:
    text: str
    mood: Mood
    days: tuple[date, int]

ANSWER = "Note(text='hé', mood=Mood.GOOD, days=('2026-01-02', 9007199254740993))"

def asked(answer, **options):
    return lf.query_stream("Note it.", Note, lm=lf.testing.StaticResponse(answer, chunk_size=5), **options)

async def yielded(answer=ANSWER):
    async for event in asked(answer):
        yield event

def returned(answer=ANSWER):
    return asked(answer)

def failing(): return lf.query_stream("?", lm=lf.testing.StaticResponse(lf.errors.RateLimitError("wait")))
def bad(): return lf.query_stream("{{x}}", lm=lf.testing.Echo())

begun = start() + opened(0, type="text", text="") + text_delta(0, "[1, 2, ")
transport = lf.testing.MockTransport([ok(begun, HANG) for _ in range(2)] + [ok(begun, text_delta(0, "3]") + end())])
wire = lf.llms.Anthropic("m", api_key="test-key-1234", transport=transport)

async def hanging():
    async for event in lf.query_stream("?", list[int], lm=wire):
        yield event

def paced():
    slow = lf.testing.MockTransport([ok(begun, 0.02, text_delta(0, "3]") + end())])
    return lf.query_stream("?", list[int], lm=lf.llms.Anthropic("m", api_key="test-key-1234", transport=slow))

def hanging_itself(): return lf.query_stream("?", list[int], lm=wire)
def state(): return [transport.aborted, transport.open]
"""


@pytest.fixture
async def notes(page: FakePage) -> FakePage:
    """A page whose worker is ready."""
    assert (await page.setup({"query_notes": NOTES}))["kind"] == "ready"
    return page


async def items(page: FakePage, function: str, *args: Any) -> list[Any]:
    """All items of a stream, with the deltas of a text joined."""
    id_ = page.command("stream", target=f"query_notes:{function}", args=list(args))
    end = await page.end(id_)
    assert end["kind"] == "end", end
    found: list[Any] = []
    for item in page.items(id_):
        if item["type"] == "string_field_delta" and found[-1]["type"] == "string_field_delta":
            found[-1]["delta"] += item["delta"]
        else:
            found.append(item)
    return found


@pytest.mark.parametrize("function", ["yielded", "returned"])
async def test_events_arrive_as_plain_objects(notes: FakePage, function: str) -> None:
    """Yielded one by one, or the stream as a whole; the value as values of its type cross."""
    *shown, terminal = await items(notes, function)
    assert shown == [
        {"type": "object_start", "path": [], "kind": "object", "className": "Note"},
        {"type": "field_start", "path": ["text"]},
        {"type": "string_field_delta", "path": ["text"], "delta": "hé"},
        {"type": "field_end", "path": ["text"], "value": "hé"},
        {"type": "field_start", "path": ["mood"]},
        {"type": "field_end", "path": ["mood"], "value": "Mood.GOOD"},
        {"type": "field_start", "path": ["days"]},
        {"type": "object_start", "path": ["days"], "kind": "tuple", "className": None},
        {"type": "field_start", "path": ["days", 0]},
        {"type": "string_field_delta", "path": ["days", 0], "delta": "2026-01-02"},
        {"type": "field_end", "path": ["days", 0], "value": "2026-01-02"},
        {"type": "field_start", "path": ["days", 1]},
        {"type": "field_end", "path": ["days", 1], "value": "9007199254740993"},
        {"type": "object_end", "path": ["days"]},
        {"type": "field_end", "path": ["days"], "value": ["2026-01-02", "9007199254740993"]},
        {"type": "object_end", "path": []},
    ]
    assert terminal["type"] == "generation_complete"
    assert terminal["value"] == {"text": "hé", "mood": "good", "days": ["2026-01-02", "9007199254740993"]}
    assert terminal["message"]["parts"][0]["text"].startswith("Note(text='hé'")
    large = [path for message in notes.messages for path in message.get("big", [])]
    assert [path[2:] for path in large] == [["value"], ["value", 1], ["value", "days", 1]]


async def test_failures_arrive_as_values(notes: FakePage) -> None:
    """An answer of another type, a failed request; what is wrong with the call is its error."""
    [*_, parsing] = await items(notes, "yielded", "Note(text='a', mood='bad', days=())")
    assert (parsing["type"], parsing["error"]["code"]) == ("parsing_failed", "mapping_failed")
    assert parsing["error"]["details"]["problems"]
    [failed] = await items(notes, "failing")
    assert failed == {
        "type": "generation_failed",
        "error": {
            "code": "rate_limit",
            "name": "RateLimitError",
            "message": "wait",
            "retryable": True,
            "details": {},
        },
    }
    end = await notes.ask("stream", target="query_notes:bad", args=[])
    assert (end["kind"], end["error"]["code"]) == ("error", "template_variable_missing")


async def test_langfx_42_leaving_on_the_page_ends_the_request(notes: FakePage) -> None:
    """Cancelled while it waits for the model, in either way of streaming."""
    for count, function in enumerate(("hanging", "hanging_itself"), 1):
        id_ = notes.command("stream", target=f"query_notes:{function}", args=[])
        await notes.wait(lambda message, id_=id_: message["kind"] == "items" and message["id"] == id_)
        notes.tell("cancel", id=id_)
        assert (await notes.end(id_))["error"]["code"] == "cancelled"
        assert (await notes.ask("call", target="query_notes:state", args=[]))["value"] == [count, 0]
    assert (await items(notes, "hanging"))[-1]["value"] == [1, 2, 3]


async def test_platform_21_all_events_of_a_network_chunk_go_in_one_post(notes: FakePage) -> None:
    """Nothing between the transport and the page waits for each event; the last one waits for pydantic."""
    id_ = notes.command("stream", target="query_notes:paced", args=[])
    await notes.end(id_)
    found = [
        [item["type"] for message in messages if message["kind"] == "items" for item in message["items"]]
        for messages, _ in notes.posts
    ]
    first, second, *rest = [types for types in found if types]
    assert first == ["object_start", *["field_start", "field_end"] * 2]
    assert second[:3] == ["field_start", "field_end", "object_end"]
    assert second[3:] + [kind for types in rest for kind in types] == ["generation_complete"]
