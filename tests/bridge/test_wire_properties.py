"""Any value crosses unchanged, both ways and however posts are cut, compared with a page that is as plain as can be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.wire import SAFE_INTEGER, portable, read
from langfx_web.errors import BridgeError

KEYS = st.sampled_from(["big", "blobs", "$blob", "kind", "id", "value", "__proto__", ""]) | st.text(max_size=5)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**52, 2**80).flatmap(lambda number: st.sampled_from([number, -number]))
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=10)
    | st.binary(max_size=10)
)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))


def page_reads(posts: list[tuple[str, list[bytes]]]) -> list[dict[str, Any]]:
    """What a page makes of posts."""
    messages = []
    for text, buffers in posts:
        left = list(buffers)
        for message in json.loads(text):
            for path in message.pop("big", []):
                holder, key = _place(message, path)
                holder[key] = int(holder[key])
            for path in message.pop("blobs", []):
                holder, key = _place(message, path)
                holder[key] = left.pop(0)
            messages.append(message)
        assert left == []
    return messages


def _place(message: Any, path: list[Any]) -> tuple[Any, Any]:
    for step in path[:-1]:
        message = message[step]
    return message, path[-1]


def page_writes(message: dict[str, Any]) -> tuple[str, list[bytes]]:
    """A post as a page makes it."""
    big: list[list[Any]] = []
    blobs: list[list[Any]] = []
    buffers: list[bytes] = []

    def plain(value: Any, path: list[Any]) -> Any:
        if isinstance(value, dict):
            return {key: plain(member, [*path, key]) for key, member in value.items()}
        if isinstance(value, list):
            return [plain(member, [*path, index]) for index, member in enumerate(value)]
        if isinstance(value, bytes):
            blobs.append(path)
            buffers.append(value)
            return None
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) > SAFE_INTEGER:
            big.append(path)
            return str(value)
        return value

    text = {**plain(message, []), **({"big": big} if big else {}), **({"blobs": blobs} if blobs else {})}
    return json.dumps([text]), buffers


def posts_of(say: Callable[[Outbox], None]) -> list[tuple[str, list[bytes]]]:
    """What goes to the page when something is said within one turn of a loop."""
    posts: list[tuple[str, list[bytes]]] = []

    async def turn() -> None:
        outbox = Outbox(lambda text, buffers: posts.append((text, buffers)))
        say(outbox)
        outbox.flush()

    asyncio.run(turn())
    return posts


@given(VALUES)
def test_platform_18_a_result_is_what_was_returned(value: Any) -> None:
    """Bytes, large integers and awkward names included."""
    posts = posts_of(lambda outbox: outbox.say("result", id=1, value=value))
    assert page_reads(posts) == [{"kind": "result", "id": 1, "value": value}]


@given(st.lists(st.tuples(st.integers(1, 3), VALUES), max_size=8), st.sets(st.integers(0, 8)))
def test_platform_18_streams_are_whole_wherever_posts_are_cut(items: list[tuple[int, Any]], cuts: set[int]) -> None:
    """Items of several streams between each other, with a flush at any set of places."""

    def say(outbox: Outbox) -> None:
        for position, (id_, value) in enumerate(items):
            if position in cuts:
                outbox.flush()
            item = portable(value)
            outbox.say_item(id_, item, item.size)

    read_back = [(message["id"], item) for message in page_reads(posts_of(say)) for item in message["items"]]
    assert read_back == items


@given(VALUES)
def test_platform_18_arguments_are_what_was_given(value: Any) -> None:
    """As a page would send them."""
    message = {"kind": "call", "id": 3, "target": "m:f", "args": [value]}
    text, buffers = page_writes(message)
    assert list(read(text, buffers)) == [message]


NAMES = st.sampled_from(["kind", "id", "big", "blobs", "args", "target"])
JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["call", "cancel", "a:b", "7", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner),
)


@given(JSON)
def test_platform_29_any_json_is_a_message_or_an_error(value: Any) -> None:
    """Nothing that a post may hold makes anything else."""
    for found in read(json.dumps(value), [b"x"]):
        assert isinstance(found, (dict, BridgeError))


@given(st.text())
def test_platform_29_any_text_is_a_post_or_an_error(text: str) -> None:
    """Of the protocol, not of Python."""
    for found in read(text, []):
        assert isinstance(found, (dict, BridgeError))
