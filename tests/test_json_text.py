"""JSON text in and out: strict, finite, bounded."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
import timeit
from datetime import date
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from langfx_web.errors import JSONTextError, NotPortableError
from langfx_web.json_text import MAX_DEPTH, check_depth, dumps, loads, plain

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_writing_then_reading_gives_the_value(value: object) -> None:
    """Every JSON value survives the way out and back."""
    assert loads(dumps(value)) == value


@given(VALUES)
def test_writing_agrees_with_the_standard_library(value: object) -> None:
    """The text is what `json` writes, compact and without ASCII escaping."""
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes anything but a value or a `JSONTextError`."""
    try:
        loads(text)
    except JSONTextError as error:
        assert error.code in ("json_invalid", "json_too_deep")


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e999",
        '{"a": -1e999}',
        "",
        "{",
        '{"a": }',
        '{"a":[1,]}',
        "{} x",
        "01",
        "'a'",
        b"\xff",
    ],
)
def test_what_is_not_json_is_refused(text: str | bytes) -> None:
    """Python's extensions to JSON are errors here."""
    with pytest.raises(JSONTextError) as caught:
        loads(text)
    assert caught.value.code == "json_invalid"


def test_platform_36_nesting_is_counted_outside_strings() -> None:
    """199 and 200 levels are read, 201 are not; brackets inside strings do not count."""
    assert loads("[" * 199 + "]" * 199) is not None
    assert loads("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    with pytest.raises(JSONTextError) as caught:
        loads("[" * 201 + "]" * 201)
    assert caught.value.code == "json_too_deep"
    brackets = "[{" * 5000 + '\\"'
    assert loads(json.dumps({"text": brackets})) == {"text": brackets}


def test_platform_36_a_flood_of_brackets_is_refused_before_it_is_parsed() -> None:
    """Six thousand open brackets end in an error, not in the interpreter's end."""
    for text in ("[" * 6000, '{"a":' * 6000, "[" * 1_000_000):
        with pytest.raises(JSONTextError) as caught:
            loads(text)
        assert caught.value.code == "json_too_deep"


def _cycle() -> list[object]:
    value: list[object] = []
    value.append({"again": value})
    return value


def _deep(levels: int) -> list[object]:
    outer: list[object] = []
    inner = outer
    for _ in range(levels - 1):
        inner.append([])
        inner = inner[0]
    return outer


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ({"x": {1, 2}}, "not_portable", ("x",)),
        ({"x": [1, 2 + 1j]}, "not_portable", ("x", 1)),
        ({1: "x"}, "not_portable", ()),
        ({"a": [float("nan")]}, "not_portable", ("a", 0)),
        ({"a": float("inf")}, "not_portable", ("a",)),
        ({"x": object()}, "not_portable", ("x",)),
        ({"x": b"bytes"}, "not_portable", ("x",)),
    ],
)
@pytest.mark.parametrize("write", [dumps, plain])
def test_what_json_cannot_say_is_named_by_its_path(
    write, value: object, code: str, path: tuple[str | int, ...]
) -> None:
    """The error leads to the part that has no JSON form."""
    with pytest.raises(NotPortableError) as caught:
        write(value)
    assert (caught.value.code, caught.value.path) == (code, path)


@pytest.mark.parametrize("write", [dumps, plain])
def test_cycles_and_depth_are_told_apart(write) -> None:
    """A value that contains itself is `not_portable`, one nested too deeply `message_too_deep`."""
    with pytest.raises(NotPortableError) as cyclic:
        write(_cycle())
    with pytest.raises(NotPortableError) as deep:
        write(_deep(300))
    assert (cyclic.value.code, deep.value.code) == ("not_portable", "message_too_deep")
    assert write(_deep(200))


class Colour(Enum):
    RED = "red"


class Level(int, Enum):
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int
    at: date


class Order(BaseModel):
    id: str
    points: list[Point]


def test_python_data_becomes_plain() -> None:
    """Dataclasses, models, enums, tuples and dates have the obvious JSON form; bytes go to the leaf hook."""
    value = {
        "order": Order(id="7", points=[Point(1, date(2024, 1, 31))]),
        "c": Colour.RED,
        "t": (1, Level.HIGH),
        "b": b"x",
    }
    assert plain(value, leaf=lambda item, path: item if isinstance(item, int) else list(path)) == {
        "order": {"id": "7", "points": [{"x": 1, "at": "2024-01-31"}]},
        "c": "red",
        "t": [1, 3],
        "b": ["b"],
    }


def _depth(text: str) -> int:
    """How deep the brackets outside strings nest, character by character."""
    deepest = depth = 0
    inside = escaped = False
    for character in text:
        if inside:
            inside, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            inside = True
        else:
            depth += (character in "[{") - (character in "]}")
            deepest = max(deepest, depth)
    return deepest


@given(VALUES, st.integers(0, 8))
def test_platform_36_the_depth_of_a_document_is_what_a_plain_count_says(value: object, limit: int) -> None:
    """Whatever its strings have in them."""
    text = json.dumps(value)
    try:
        check_depth(text, limit)
        assert _depth(text) <= limit
    except JSONTextError:
        assert _depth(text) > limit


@given(st.text('[]{}"\\a,'), st.integers(0, 4))
def test_platform_36_no_text_is_deeper_than_it_was_taken_for(text: str, limit: int) -> None:
    """Of a text that is not JSON, the part that a reader gets to counts: it stops at a backslash outside strings."""
    try:
        check_depth(text, limit)
    except JSONTextError:
        return
    pieces = re.split(r'("(?:[^"\\]|\\.)*(?:"|\Z|\\\Z))', text)
    readable = "".join(itertools.takewhile(lambda piece: piece[:1] == '"' or "\\" not in piece, pieces))
    assert _depth(readable) <= limit


def test_platform_36_counting_costs_less_than_reading() -> None:
    """At most one and a half times as much as the standard library takes to read the text."""
    rows = [{"id": number, "name": f"n {number}", "tags": ["a", "b\\"], "at": number * 1.5} for number in range(2000)]
    for value in (rows, [[[[number]]] for number in range(4000)]):
        text = json.dumps(value)
        reading = min(timeit.repeat(lambda text=text: json.loads(text), number=3, repeat=7))
        counting = min(timeit.repeat(lambda text=text: check_depth(text), number=3, repeat=7))
        assert counting <= 1.5 * reading
