"""Values as examples show them, and the way back."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from langfx_web.errors import OutputMismatchError
from langfx_web.events import FieldEnd
from langfx_web.protocols import protocol
from langfx_web.schemas import UNKNOWN, Schema, Unknown
from tests.protocols.wanted import events, pieces


class Color(Enum):
    RED = "red"
    BLUE = 2


class Pair(NamedTuple):
    left: int
    right: str = "r"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


class Leaf(BaseModel):
    text: str
    points: list[Point] = []
    when: date | None = None
    color: Color = Color.RED
    price: Decimal = Decimal(1)
    kind: Literal["a", 1, None] = None
    long_name: bool = Field(default=False, alias="longName")


class Tree(BaseModel):
    leaf: Leaf
    trees: list[Tree] = []
    table: dict[str, int | str] = {}
    pairs: dict[int, Pair] = {}
    flags: set[int] = set()
    place: tuple[int, str] = (0, "")


POINTS = st.builds(Point, x=st.integers(), y=st.floats(allow_nan=False, allow_infinity=False))
PAIRS = st.builds(Pair, st.integers(), st.text())
LEAVES = st.builds(
    lambda name, **fields: Leaf(longName=name, **fields),
    st.booleans(),
    text=st.text(),
    points=st.lists(POINTS, max_size=2),
    when=st.none() | st.dates(),
    color=st.sampled_from(Color),
    price=st.decimals(allow_nan=False, allow_infinity=False, places=2),
    kind=st.sampled_from(["a", 1, None]),
)
TREES = st.recursive(
    st.builds(Tree, leaf=LEAVES),
    lambda inner: st.builds(
        Tree,
        leaf=LEAVES,
        trees=st.lists(inner, max_size=2),
        table=st.dictionaries(st.text(), st.integers() | st.text(), max_size=2),
        pairs=st.dictionaries(st.integers(), PAIRS, max_size=2),
        flags=st.sets(st.integers(), max_size=3),
        place=st.tuples(st.integers(), st.text()),
    ),
    max_leaves=3,
)
CASES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Tree, TREES),
    (list[Point], st.lists(POINTS, max_size=3)),
    (dict[str, list[int]], st.dictionaries(st.text(), st.lists(st.integers()), max_size=3)),
    (
        int | float | bool | None,
        st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none(),
    ),
    (tuple[Color, ...], st.lists(st.sampled_from(Color)).map(tuple)),
    (set[str], st.sets(st.text(), max_size=3)),
    (frozenset[int], st.frozensets(st.integers(), max_size=3)),
    (date, st.dates()),
    (Point | Leaf, POINTS | LEAVES),
]


@pytest.mark.parametrize("place", range(len(CASES)))
@pytest.mark.parametrize("name", ["python", "json"])
def test_langfx_19_what_is_written_is_read_again(name: str, place: int) -> None:
    """Values of many types, written by a protocol, come back equal and of the same types."""
    type_, values = CASES[place]
    schema = Schema(type_)

    @settings(max_examples=25, deadline=None)
    @given(values)
    def check(value: Any) -> None:
        text = protocol(name).write(value, schema)
        found = protocol(name).read(text, schema)
        assert found == value
        assert type(found) is type(value)
        if name == "python":
            assert protocol(name).read(f"Here it is:\n\n{text}\nBye.", schema) == value

    check()


class Row(TypedDict):
    id: int
    note: str | None


@dataclasses.dataclass(frozen=True)
class Mark:
    at: tuple[int, ...] = ()
    by: bytes = b""


class Bare(BaseModel):
    pass


FINITE = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text() | st.sampled_from(["```", "it's", '"', "\\", "\n", "'''", "UNKNOWN", "output = 1", "null", "1", "\0"])
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    int: st.integers(),
    float: FINITE,
    bool: st.booleans(),
    str: WORDS,
    date: st.dates(),
    datetime: st.datetimes() | st.datetimes(timezones=st.just(UTC)),
    time: st.times(),
    timedelta: st.timedeltas(),
    UUID: st.uuids(),
    IPv4Address: st.ip_addresses(v=4),
    Path: st.just(Path("a/b c")),
    Color: st.sampled_from(Color),
    Literal["a", 1, True]: st.sampled_from(["a", 1, True]),
    Mark: st.builds(Mark, at=st.lists(st.integers(), max_size=2).map(tuple), by=WORDS.map(str.encode)),
}
OTHERS: dict[Any, st.SearchStrategy[Any]] = {
    None: st.none(),
    Decimal: st.decimals(allow_nan=False, allow_infinity=False, places=3),
    bytes: WORDS.map(str.encode),
    Point: POINTS,
    Pair: PAIRS,
    Bare: st.builds(Bare),
    Row: st.fixed_dictionaries({"id": st.integers(), "note": st.none() | WORDS}),
    int | str | None: st.integers() | WORDS | st.none(),
    int | float: st.integers() | FINITE,
    Color | Unknown: st.sampled_from([*Color, UNKNOWN]),
    Point | Leaf | None: POINTS | LEAVES | st.none(),
    Any: st.recursive(st.none() | st.booleans() | st.integers() | FINITE | WORDS, st.lists, max_leaves=5),
}


@st.composite
def pairs_of_type_and_values(draw: st.DrawFn, depth: int = 3) -> tuple[Any, st.SearchStrategy[Any]]:
    """A type, and what makes its values."""
    kinds = ["scalar", "other", "list", "tuple", "places", "dict", "set", "optional", "class", "dataclass"]
    kind = draw(st.sampled_from(kinds if depth else kinds[:2]))
    known = SCALARS if kind in ("scalar", "set") else OTHERS
    key = draw(st.sampled_from(list(known)))
    if kind in ("scalar", "other"):
        return key, known[key]
    if kind == "set":
        return frozenset[key], st.frozensets(known[key], max_size=3)
    (first, ones), (second, others) = [draw(pairs_of_type_and_values(depth=depth - 1)) for _ in range(2)]
    match kind:
        case "list":
            return list[first], st.lists(ones, max_size=3)
        case "tuple":
            return tuple[first, ...], st.lists(ones, max_size=3).map(tuple)
        case "places":
            return tuple[first, second], st.tuples(ones, others)
        case "dict":
            of = draw(st.sampled_from(list(SCALARS)))
            return dict[of, first], st.dictionaries(SCALARS[of], ones, max_size=3)
        case "optional":
            return first and first | None, st.none() | (ones if first else st.nothing())
        case "class":
            type_ = create_model("Made", one=(first, ...), two=(second, Field(alias="Two")))
            return type_, st.builds(lambda one, two: type_(one=one, Two=two), ones, others)
    made = dataclasses.make_dataclass("Done", [("one", first), ("two", second)])
    return made, st.builds(made, ones, others)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(["python", "json"]))
def test_langfx_19_values_of_random_schemas_are_read_again(data: st.DataObject, name: str) -> None:
    """Whatever the type and its value, what a protocol writes it reads as the same, at once and in pieces."""
    type_, values = data.draw(pairs_of_type_and_values().filter(lambda pair: pair[0] is not str))
    value = data.draw(values)
    schema = Schema(type_)
    text = protocol(name).write(value, schema)
    found = protocol(name).read(text, schema)
    assert found == value
    assert type(found) is type(value)
    assert events(pieces(text, 7), schema, name=name) == events([text], schema, name=name)


def test_an_example_in_python() -> None:
    """One argument a line, scalars and lists of scalars inline."""
    value = Tree(leaf=Leaf(text="it's é", points=[Point(x=1)]), table={"a": 1}, flags={2, 1}, place=(1, "b"))
    assert protocol("python").write(value, Schema(Tree)).splitlines() == [
        "```python",
        "output = Tree(",
        "  leaf=Leaf(",
        '    text="it\'s é",',
        "    points=[",
        "      Point(",
        "        x=1,",
        "        y=0.0",
        "      )",
        "    ],",
        "    when=None,",
        "    color=Color.RED,",
        "    price='1',",
        "    kind=None,",
        "    long_name=False",
        "  ),",
        "  trees=[],",
        "  table={'a': 1},",
        "  pairs={},",
        "  flags={1, 2},",
        "  place=(1, 'b')",
        ")",
        "```",
    ]


def test_an_example_in_json() -> None:
    """One line, by the names that JSON has."""
    text = protocol("json").write(Leaf(text="é", longName=True, color=Color.BLUE), Schema(Leaf))
    assert text == (
        '{"text": "é", "points": [], "when": null, "color": 2, "price": "1", "kind": null, "longName": true}'
    )


def test_langfx_26_objects_are_built_once_and_only_at_the_end() -> None:
    """No constructor runs for what a stream shows, and one for each object of the final value."""
    made: list[int] = []

    @dataclasses.dataclass
    class Counted:
        x: int

        def __post_init__(self) -> None:
            made.append(self.x)

    schema = Schema(list[Counted])
    text = "[Counted(x=1), Counted(x=2)]"
    shown = [event for event in events(pieces(text, 1), schema) if isinstance(event, FieldEnd)]
    assert len(shown) == 4
    assert made == []
    assert protocol("python").read(text, schema) == [Counted(1), Counted(2)]
    assert made == [1, 2, 1, 2]
    with pytest.raises(OutputMismatchError):
        protocol("python").read("[Counted(x='1')]", schema)
    assert len(made) == 4


def test_langfx_12_recursion_goes_as_deep_as_the_limits() -> None:
    """Thirty levels of one class are read in both protocols and while streaming."""
    value = Tree(leaf=Leaf(text="x"))
    for _ in range(14):
        value = Tree(leaf=Leaf(text="x"), trees=[value])
    schema = Schema(Tree)
    for name in ("python", "json"):
        text = protocol(name).write(value, schema)
        assert protocol(name).read(text, schema) == value
        assert events(pieces(text, 7), schema, name=name) == events([text], schema, name=name)


def test_a_text_alone_may_have_a_fence_in_it() -> None:
    """Where nothing else shows the beginning of a JSON value, its backticks are escaped."""
    schema = Schema(str | int)
    for value in ("```", "a ```json\n1\n``` b", "````", "~~~\n1\n~~~"):
        text = protocol("json").write(value, schema)
        assert "```" not in text
        assert protocol("json").read(text, schema) == value
        assert events(pieces(text, 3), schema, name="json")[-1] == FieldEnd((), value)
