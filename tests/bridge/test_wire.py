"""Messages as texts and buffers, against the golden ones that the page's tests read too."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from langfx_web.bridge import outlet
from langfx_web.bridge.dispatch import MAX_COMMANDS
from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.page import CREDENTIAL_TIMEOUT
from langfx_web.bridge.wire import COMMANDS, MAX_BLOBS, MAX_TEXT, portable, read
from langfx_web.errors import BridgeError, NotPortableError
from langfx_web.events import FieldEnd, GenerationComplete, ObjectStart, StringFieldDelta, TextDelta
from langfx_web.json_text import MAX_DEPTH
from langfx_web.messages import AIMessage
from langfx_web.messages.codec import encode
from langfx_web.protocols.frame import PartialList, PartialTuple
from langfx_web.schemas.tree import EnumNode

WIRE = Path(__file__).parents[1] / "wire"


def golden(name: str) -> list[Any]:
    return [pytest.param(entry, id=entry["name"]) for entry in json.loads((WIRE / name).read_text("utf-8"))]


def value_of(marked: Any) -> Any:
    """A golden value with its bytes and big integers in place."""
    if isinstance(marked, list):
        return [value_of(member) for member in marked]
    if isinstance(marked, dict):
        if set(marked) == {"!bytes"}:
            return base64.b64decode(marked["!bytes"])
        if set(marked) == {"!int"}:
            return int(marked["!int"])
        return {key: value_of(member) for key, member in marked.items()}
    return marked


@pytest.mark.parametrize("entry", golden("to_worker.json"))
def test_what_the_page_sends_is_read(entry) -> None:
    """Text and buffers become the messages, values with their bytes and big integers."""
    messages = list(read(entry["text"], [base64.b64decode(blob) for blob in entry["blobs"]]))
    assert messages == [value_of(message) for message in entry["messages"]]


@pytest.mark.parametrize("entry", golden("to_page.json"))
async def test_what_the_worker_sends_is_written(entry) -> None:
    """The same JSON value and the same buffers, in one post."""
    posts: list[tuple[str, list[bytes]]] = []
    outbox = Outbox(lambda text, buffers: posts.append((text, buffers)))
    for message in entry["messages"]:
        fields = value_of({key: member for key, member in message.items() if key not in ("kind", "id")})
        if message["kind"] == "items":
            for item in fields["items"]:
                outbox.say_item(message["id"], portable(item), 1)
        else:
            outbox.say(message["kind"], id=message.get("id"), **fields)
    outbox.flush()
    assert len(posts) == 1
    assert json.loads(posts[0][0]) == json.loads(entry["text"])
    assert posts[0][1] == [base64.b64decode(blob) for blob in entry["blobs"]]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("{", None),
        ("{}", None),
        ("[1]", None),
        ('[{"kind":"nonsense","id":4}]', 4),
        ('[{"kind":"call","id":4,"args":[]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":"x"}]', 4),
        ('[{"kind":"call","id":"4","target":"a:b","args":[]}]', None),
        ('[{"kind":"call","id":true,"target":"a:b","args":[]}]', None),
        ('[{"kind":"call","id":-1,"target":"a:b","args":[]}]', None),
        ('[{"kind":["call"],"id":4}]', 4),
        ('[{"kind":"credit","id":4,"items":true,"bytes":1}]', None),
        ('[{"kind":"tool_result","id":4}]', None),
        ('[{"kind":"call","id":4,"target":"a:b","args":[],"blobs":[["args",3]]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":[],"blobs":[[]]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":[0],"blobs":[["args",0]]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":[0],"blobs":7}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":[],"big":[["target",0]]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":["1_0"],"big":[["args",0]]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":[7],"big":[["args",0]]}]', 4),
        ('[{"kind":"call","id":4,"target":"a:b","args":["7"],"big":[["args",[0]]]}]', 4),
        pytest.param(
            f'[{{"kind":"call","id":4,"target":"a:b","args":["{"9" * 4301}"],"big":[["args",0]]}}]', 4, id="4301 digits"
        ),
    ],
)
def test_platform_29_messages_that_break_the_protocol_are_errors(text: str, id: int | None) -> None:
    """Each for its own command, where it is one and has an id: the id of an answer means something else."""
    (error,) = list(read(text, []))
    assert isinstance(error, BridgeError)
    assert (error.code, error.details.get("id")) == ("bridge_protocol", id)


def test_one_bad_message_does_not_spoil_its_post() -> None:
    """The good one beside it comes through."""
    found = list(read('[{"kind":"nonsense","id":1},{"kind":"cancel","id":2}]', []))
    assert isinstance(found[0], BridgeError)
    assert found[1] == {"kind": "cancel", "id": 2}


def test_a_bad_message_keeps_its_buffers_to_itself() -> None:
    """The next message of the post gets its own bytes."""
    bad = '{"kind":"call","id":1,"target":"a:b","args":[],"blobs":[["nowhere"],["args"]]}'
    good = '{"kind":"call","id":2,"target":"a:b","args":[null],"blobs":[["args",0]]}'
    found = list(read(f"[{bad},{good}]", [b"1", b"2", b"3"]))
    assert isinstance(found[0], BridgeError)
    assert not isinstance(found[1], BridgeError)
    assert found[1]["args"] == [b"3"]


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    data: bytes


def test_python_values_cross() -> None:
    """Dataclasses, enums, tuples, dates; bytes and big integers by their paths."""
    crossing = portable({"p": Point(2**70, b"ab"), "c": Colour.RED, "t": (1, None), "d": date(2024, 1, 31)})
    assert json.loads(crossing.text) == {
        "p": {"x": str(2**70), "data": None},
        "c": "red",
        "t": [1, None],
        "d": "2024-01-31",
    }
    assert (crossing.big, crossing.blobs, crossing.buffers) == ([("p", "x")], [("p", "data")], [b"ab"])


class Custom:
    """No JSON form."""


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"x": Custom()}, ("x",)),
        ({"x": {1, 2}}, ("x",)),
        ({1: "int key"}, ()),
        ({"x": 1 + 2j}, ("x",)),
        ([float("nan")], (0,)),
        pytest.param([0, 10**5000], (1,), id="5001 digits"),
    ],
)
def test_bug_089_values_that_cannot_cross_are_named_by_path(value, path) -> None:
    """A clear error on the Python side."""
    with pytest.raises(NotPortableError) as caught:
        portable(value)
    assert (caught.value.code, caught.value.path) == ("not_portable", path)


def test_platform_20_user_data_named_like_our_fields_is_just_data() -> None:
    """No marker inside values, so nothing can collide."""
    value = {"big": [["x"]], "blobs": [1], "$blob": 0}
    crossing = portable(value)
    assert (json.loads(crossing.text), crossing.big, crossing.blobs) == (value, (), ())


class Color(Enum):
    RED = "red"


@dataclasses.dataclass
class Visit:
    color: Color
    days: tuple[date, int]
    photo: bytes


PATH = ("notes", 0, "text")
EVENTS = [
    (TextDelta(delta='a"é'), {"type": "text_delta", "delta": 'a"é'}),
    (StringFieldDelta(PATH, "x"), {"type": "string_field_delta", "path": [*PATH], "delta": "x"}),
    (ObjectStart((), "list"), {"type": "object_start", "path": [], "kind": "list", "className": None}),
    (FieldEnd(PATH, "x"), {"type": "field_end", "path": [*PATH], "value": "x"}),
    (FieldEnd(("n",), PartialList([1, 2.5])), {"type": "field_end", "path": ["n"], "value": [1, 2.5]}),
]


@pytest.mark.parametrize(("event", "expected"), EVENTS, ids=lambda item: getattr(item, "type", ""))
def test_events_cross_in_their_plain_form(event: object, expected: dict[str, Any]) -> None:
    """A generator may yield the events of a streamed query as they are."""
    crossing = portable(event)
    assert (json.loads(crossing.text), crossing.big, crossing.blobs) == (expected, (), ())


def test_what_a_field_end_holds_crosses_as_values_do() -> None:
    """Large integers and bytes that a model wrote have their places in the message."""
    crossing = portable(FieldEnd((), PartialTuple([2**60, b"x", float("nan"), EnumNode("Color", "RED")])))
    assert json.loads(crossing.text)["value"] == [str(2**60), None, None, "Color.RED"]
    assert (crossing.big, crossing.blobs, crossing.buffers) == ([("value", 0)], [("value", 1)], [b"x"])


def test_the_value_of_a_whole_answer_crosses_as_its_type_does() -> None:
    """Dataclasses, Enums, tuples and dates have their forms, and what has none is refused with its path."""
    answer = AIMessage("…", finish_reason="stop")
    value = Visit(color=Color.RED, days=(date(2026, 1, 2), 2**60), photo=b"x")
    crossing = portable(GenerationComplete(value=value, message=answer, usage=None))
    assert json.loads(crossing.text) == {
        "type": "generation_complete",
        "value": {"color": "red", "days": ["2026-01-02", str(2**60)], "photo": None},
        "message": encode(answer),
        "usage": None,
    }
    assert (crossing.big, crossing.blobs) == ([("value", "days", 1)], [("value", "photo")])
    with pytest.raises(NotPortableError) as caught:
        portable(GenerationComplete(value=[1, {2}], message=answer))
    assert caught.value.path == ("value", 1)


def test_both_ends_have_the_same_kinds_and_fields() -> None:
    """The table of the page's commands in `worker/protocol.js` and the one that Python checks them by."""
    source = (WIRE.parents[1] / "worker" / "protocol.js").read_text("utf-8")
    table = source.partition("TO_WORKER = Object.freeze({")[2].partition("});")[0]
    entries = re.split(r"\n  (\w+): ", table)[1:]
    page = {
        kind: set(re.findall(r'"(\w+\??)"', fields)) for kind, fields in zip(entries[::2], entries[1::2], strict=True)
    }
    python = {kind: {*required, *(f"{name}?" for name in optional)} for kind, (required, optional) in COMMANDS.items()}
    assert {kind: {name.rstrip("?") for name in fields} for kind, fields in page.items()} == {
        kind: {name.rstrip("?") for name in fields} for kind, fields in python.items()
    }
    for kind, fields in page.items():
        assert {name for name in fields if name.endswith("?")} <= python[kind], kind


FIELD = r"(\w+): ([\d_ *]+),"


def _power(text: str) -> int:
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent or 1)


def test_both_ends_have_the_same_limits() -> None:
    """What one end sends, the other takes."""
    source = (WIRE.parents[1] / "worker" / "protocol.js").read_text("utf-8")
    table = source.partition("LIMITS = Object.freeze({")[2].partition("});")[0]
    factors = {
        name: value.replace("_", "").replace(" ** ", "^").split(" * ") for name, value in re.findall(FIELD, table)
    }
    limits = {name: math.prod(_power(factor) for factor in value) for name, value in factors.items()}
    assert limits["text"] == MAX_TEXT
    assert limits["blobs"] == MAX_BLOBS
    assert limits["depth"] == MAX_DEPTH
    assert limits["commands"] == MAX_COMMANDS
    assert (limits["windowItems"], limits["windowBytes"]) == (outlet.MAX_ITEMS, outlet.MAX_SIZE)
    assert limits["credentials"] == CREDENTIAL_TIMEOUT * 1000
