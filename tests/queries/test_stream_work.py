"""The work of a streamed query stays in proportion to its answer, and so does what it keeps."""

from __future__ import annotations

import asyncio
import json
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

import langfx_web as lf
from tests.protocols.wanted import pieces
from tests.queries.test_stream_values import Pieces


class Row(BaseModel):
    """One of many objects."""

    id: int
    name: str
    tags: list[str]


def rows(size: int) -> str:
    """So many characters of objects, roughly."""
    return json.dumps([{"id": number, "name": f"name {number}", "tags": ["a", "bb"]} for number in range(size // 50)])


CALL = "Row(1, tags=[], name='a')"
WORKLOADS: dict[str, tuple[Any, Any, Callable[[int], str]]] = {
    "many objects": (list[Row], "json", rows),
    "one long string": (dict[str, str], "json", lambda size: json.dumps({"a": "line é\n" * (size // 8)})),
    "calls": (list[Row], "python", lambda size: f"[{', '.join([CALL] * (size // 25))}]"),
    "a text": (None, "python", lambda size: "words " * (size // 6)),
    "prose before it": (list[Row], "json", lambda size: "Some words.\n" * (size // 12) + "[]"),
}


def calls(work: Callable[[], object]) -> int:
    """Functions that the work calls, those of the interpreter included."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


async def read(parts: list[str], schema: Any, name: Any) -> str:
    """Read all of a stream, and keep nothing but the type of its end."""
    kind = ""
    async for event in lf.query_stream("?", schema, lm=Pieces(parts), protocol=name):
        kind = event.type
    return kind


@pytest.mark.parametrize("workload", WORKLOADS)
def test_twice_the_answer_is_twice_the_work(workload: str) -> None:
    """In pieces of 64 characters, and all of the query counted."""
    schema, name, make = WORKLOADS[workload]
    small, large = [list(pieces(make(size), 64)) for size in (25_000, 50_000)]
    asyncio.run(read(small, schema, name))
    counts = [calls(lambda parts=parts: asyncio.run(read(parts, schema, name))) for parts in (small, large)]
    assert len(large) < 2.1 * len(small)
    assert counts[1] <= 2.2 * counts[0]


@pytest.mark.parametrize("workload", ["one long string", "a text", "prose before it"])
def test_a_stream_keeps_a_small_multiple_of_its_text(workload: str) -> None:
    """At most four times the answer, beside what the model gave, where its events are dropped; here in 8 characters."""
    schema, name, make = WORKLOADS[workload]
    text = make(100_000)
    parts = list(pieces(text, 8))
    asyncio.run(read(parts[:100], schema, name))
    tracemalloc.start()
    try:
        asyncio.run(read(parts, schema, name))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 4 * len(text) + 100_000
