"""JSON texts read at once: never another value than the forms build, and nothing that they refuse."""

from __future__ import annotations

import dataclasses
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from langfx_web.errors import OutputMismatchError, OutputValidationError
from langfx_web.protocols import ParseLimits, protocol, read_answer
from langfx_web.schemas import Schema, Unknown

JSON = protocol("json")


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Size(Enum):
    SMALL = 1
    LARGE = True


@dataclasses.dataclass
class Spot:
    x: int
    y: float = 0.5
    tags: list[str] = dataclasses.field(default_factory=list)


class Row(TypedDict):
    id: int
    when: date | None


class Node(BaseModel):
    value: float
    children: list[Node] = []


class Sized(BaseModel):
    count: int = Field(ge=0, le=100)
    name: str = Field(min_length=1, pattern="^[a-z]", alias="Name")
    ratio: float = Field(1.0, strict=False)


class Order(BaseModel):
    id: int
    sizes: dict[str, Sized | None] = {}
    totals: list[float] = []
    first: Sized | None = None


@dataclasses.dataclass
class Plot:
    at: float
    order: Order


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int
    b: Any = None


class Base(BaseModel):
    a: int


class Heir(Base):
    b: int = 0


class Hidden(BaseModel):
    a: int
    b: SkipJsonSchema[int] = 0


class Checked(BaseModel):
    a: Annotated[int, AfterValidator(abs)]


class Pair(NamedTuple):
    left: int
    right: str = ""


LEAVES = st.sampled_from(
    [
        *[int, float, bool, str, None, date, datetime, time, timedelta, UUID, bytes, Decimal, Any, Color, Size],
        *[Spot, Row, Node, Sized, Open, Order, Plot, Base, Heir, Hidden, Checked, Pair],
        *[Literal["a", "red"], Literal[1, "a", None], Annotated[int, Field(gt=3)], int | Unknown],
    ]
)
TYPES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda type_: list[type_]),  # type: ignore[valid-type]  # made as the test runs
        inner.map(lambda type_: set[type_]),  # type: ignore[valid-type]  # the same
        inner.map(lambda type_: dict[str, type_]),  # type: ignore[valid-type]  # the same
        inner.map(lambda type_: tuple[type_, ...]),  # type: ignore[valid-type]  # the same
        inner.map(lambda type_: type_ | None if type_ else None),
        st.tuples(inner, inner).map(lambda pair: tuple[pair]),  # type: ignore[valid-type]  # the same
        st.tuples(inner, inner).map(lambda pair: create_model("Made", a=(pair[0], ...), b=(pair[1], None))),
    ),
    max_leaves=5,
)
WORDS = st.sampled_from(
    [
        *["a", "red", "blue", "", "UNKNOWN", "2024-01-31", "2024-01-31T10:00:00", "2024-01-31T10:00:00Z", "10:00", "1"],
        *["P1DT2H", "1.5", "1700000000", "12345678-1234-5678-1234-567812345678", "é\u2028😀", 'a":b', "{[,"],
    ]
)
NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([2**53 + 1, 2**64, -(2**63) - 1, 10**308, -(10**400), 1e308, 0.1, -0.0, 1.0]),
)
NAMES = st.sampled_from(
    ["a", "b", "x", "y", "tags", "id", "when", "value", "children", "count", "name", "Name", "ratio"]
)
PLAIN = st.recursive(
    NUMBERS | WORDS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


SIZES = st.fixed_dictionaries({"count": NUMBERS}, optional={"Name": WORDS, "name": WORDS, "ratio": NUMBERS})
GOOD_SIZES = st.fixed_dictionaries({"count": st.integers(0, 100), "Name": st.just("a")}, optional={"ratio": NUMBERS})
ORDERS = st.fixed_dictionaries(
    {"id": st.integers()},
    optional={
        "sizes": st.dictionaries(WORDS, GOOD_SIZES | st.none(), max_size=3),
        "totals": st.lists(NUMBERS, max_size=2),
        "first": GOOD_SIZES | st.none(),
    },
)


def fitting(type_: Any) -> st.SearchStrategy[Any]:
    """Plain values that fit the type, or nearly."""
    close: dict[Any, st.SearchStrategy[Any]] = {
        int: NUMBERS,
        float: NUMBERS,
        Spot: st.fixed_dictionaries({"x": NUMBERS}, optional={"y": NUMBERS, "tags": st.lists(WORDS, max_size=2)}),
        Row: st.fixed_dictionaries({"id": NUMBERS, "when": WORDS | st.none()}),
        Node: st.recursive(
            st.fixed_dictionaries({"value": NUMBERS}),
            lambda inner: st.fixed_dictionaries({"value": NUMBERS, "children": st.lists(inner, max_size=2)}),
            max_leaves=4,
        ),
        Sized: SIZES,
        Order: ORDERS,
        Plot: st.fixed_dictionaries({"at": NUMBERS, "order": ORDERS}),
        Open: st.fixed_dictionaries({"a": NUMBERS}, optional={"b": PLAIN, "x": PLAIN}),
    }
    plain = close.get(type_, PLAIN)
    arguments = getattr(type_, "__args__", ())
    origin = getattr(type_, "__origin__", None)
    if origin is dict:
        plain = st.dictionaries(NAMES, fitting(arguments[1]), max_size=3)
    elif origin in (list, set) or (origin is tuple and arguments[-1] is ...):
        plain = st.lists(fitting(arguments[0]), max_size=3)
    elif origin is tuple:
        plain = st.tuples(*map(fitting, arguments)).map(list)
    elif getattr(type_, "__name__", "") == "Made":
        hints = {name: fitting(field.annotation) for name, field in type_.model_fields.items()}
        plain = st.fixed_dictionaries({"a": hints["a"]}, optional={"b": hints["b"]})
    elif type(type_).__name__ in ("UnionType", "Union"):
        plain = st.one_of(*map(fitting, arguments))
    return st.integers(0, 9).flatmap(lambda roll: plain if roll else PLAIN)


ODD = [
    ("{", '{"a": 1, '),
    ("}", ', "a": 2}'),
    ("}", ",}"),
    (":", ": NaN, "),
    ("1", "1e999"),
    ("1", "01"),
    ("0", "-0"),
    ("2", "2E0"),
    ("red", "r\\u0065d"),
    ("red", "\\ud83d"),
    ("a", "\n"),
    ("]", "]]"),
    ('"', "'"),
]


@st.composite
def texts(draw: st.DrawFn, type_: Any) -> str:
    """A JSON text for the type, at times with something odd in it."""
    text = json.dumps(draw(fitting(type_)), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    if draw(st.integers(0, 3)):
        return text
    old, new = draw(st.sampled_from(ODD))
    return text.replace(old, new, 1)


def outcome(text: str, schema: Schema) -> Any:
    """What the forms say."""
    try:
        return schema.build(JSON.tree(text, schema), protocol="json")
    except OutputValidationError as error:
        return error


SCHEMAS: dict[Any, Schema] = {}


def exactly(value: Any) -> Any:
    """A value so that 1, 1.0 and true differ; sets that were filled in another order do not."""
    if isinstance(value, (set, frozenset)):
        return type(value), sorted(map(repr, map(exactly, value)))
    if isinstance(value, (list, tuple)):
        return type(value), [exactly(item) for item in value]
    return [(key, exactly(item)) for key, item in value.items()] if isinstance(value, dict) else repr(value)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_read_at_once_the_forms_build_the_same(data: st.DataObject) -> None:
    """For random types and texts that fit, nearly fit, or are no JSON: an equal value of equal types, or the error."""
    type_ = data.draw(TYPES.filter(lambda type_: type_ is not str))
    schema = Schema(type_)
    text = data.draw(texts(type_))
    expected = outcome(text, schema)
    found = schema.read_json(text, max_depth=64)
    if found is not None:
        assert not isinstance(expected, Exception), (text, expected)
        assert exactly(found[0]) == exactly(expected)
        assert type(found[0]) is type(expected)
    if isinstance(expected, Exception):
        with pytest.raises(OutputValidationError) as caught:
            JSON.read(text, schema)
        assert str(caught.value) == str(expected)
    else:
        assert exactly(JSON.read(text, schema)) == exactly(expected)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (Sized, '{"count": 1, "Name": "a"}'),
        (list[Spot], '[{"x": 1}, {"x": 2, "y": 3, "tags": ["a"]}]'),
        (dict[str, Node], '{"a": {"value": 1, "children": [{"value": 2.5}]}}'),
        (Order, '{"id": 1, "sizes": {"a:b": {"count": 1, "Name": "a"}, "c": null}, "totals": [1, 2.5]}'),
        (Plot, '{"at": 0.5, "order": {"id": 1, "first": {"count": 1, "Name": "a", "ratio": 2}}}'),
        (Row, '{"id": 1, "when": "2024-01-31"}'),
        (Open, '{"a": 1, "b": {"any": [null]}}'),
        (list[Color | None], '["red", null]'),
        (tuple[int, str], '[1, "a"]'),
    ],
)
def test_usual_types_are_read_at_once(type_: Any, text: str) -> None:
    """Models, dataclasses, TypedDicts, containers, Enums and dates need no forms."""
    found = Schema(type_).read_json(text, max_depth=64)
    assert found is not None
    assert found[0] == outcome(text, Schema(type_))


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (Base, '{"a": 1}'),
        (Hidden, '{"a": 1}'),
        (Checked, '{"a": 1}'),
        (list[Size], "[1]"),
        (list[Pair], "[[1]]"),
        (list[int | str], "[1]"),
        (list[bytes], '["a"]'),
        (list[int | Unknown], "[1]"),
        (Schema.from_json_schema({"type": "object"}), "{}"),
    ],
)
def test_types_that_only_the_forms_know_are_left_to_them(type_: Any, text: str) -> None:
    """Subclasses, hidden fields, validators, unions, constants that are equal but not the same, and documents."""
    assert Schema.of(type_).read_json(text, max_depth=64) is None


@pytest.mark.parametrize(
    "text",
    [
        *['{"x": 1, "x": 2}', '{"x": 1, "y": NaN}', '{"x": 1, "y": 1e999}', '{"x": 1, "y": 1' + "0" * 400 + "}"],
        *['{"x": 1, "z": 2}', '{"x": 1.0}', '{"x": "1"}', '{"x": true}', '{"x": 1}}', '{"x": 1,}', "[1]", ""],
        *['{"x": 1, "y": 0.' + "1" * 5000 + "}", '{"x": ' + "1" * 5000 + "}", '\0{"x": 1}', '{"x": 1, "tags": ["\0"]}'],
        '{"x": 1, "tags": ["\\ud83d"]}',
        '{"x": 1, "tags": ["\ud83d"]}',
    ],
)
def test_texts_that_more_is_to_be_said_of_are_left_to_the_forms(text: str) -> None:
    """Doubled and unknown keys, numbers that are not finite, other kinds, halves of characters, and what is no JSON."""
    assert Schema(Spot).read_json(text, max_depth=64) is None


def test_authors_code_runs_once_for_an_answer() -> None:
    """A validator, factory or `__post_init__` sees each value once, also in an answer that is refused in the end."""
    seen: list[int] = []

    def note(value: int) -> int:
        seen.append(value)
        return value

    class Noted(BaseModel):
        a: Annotated[int, AfterValidator(note)]
        b: int = Field(default_factory=lambda: note(0))

    @dataclasses.dataclass
    class After:
        a: int

        def __post_init__(self) -> None:
            note(self.a)

    for type_ in (Noted, After):
        seen.clear()
        with pytest.raises(OutputMismatchError):
            read_answer('[{"a": 1}, {"a": "2"}]', list[type_], protocol="json")  # type: ignore[valid-type]
        assert seen in ([1, 0], [1])


def test_limits_hold_for_what_is_read_at_once() -> None:
    """Depth, values and characters are bounded for a type that contains itself and for one that nests too deep."""
    schema = Schema(Node)
    text = '{"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}'
    assert schema.read_json(text, max_depth=5) is not None
    assert schema.read_json(text, max_depth=4) is None
    for limits in (ParseLimits(max_depth=4), ParseLimits(max_nodes=7), ParseLimits(max_chars=40)):
        with pytest.raises(OutputValidationError) as caught:
            JSON.read(text, schema, limits=limits)
        assert caught.value.code == "output_limit"
    with pytest.raises(OutputValidationError):
        JSON.read('[["a"]]', Schema(list[list[str]]), limits=ParseLimits(max_depth=1))


@pytest.mark.parametrize(
    "text", ['```json\n{"x": 1}\n```', 'So: {"x": 1} or {"x": 2}', '{"x": 1}\n{"y": [', '{"x": 1}]']
)
def test_an_object_is_read_wherever_it_stands(text: str) -> None:
    """In a fence, in prose, with anything behind it."""
    assert read_answer(text, Spot, protocol="json") == Spot(1)


def test_a_zero_byte_is_refused_wherever_it_stands() -> None:
    """Also behind the value, where nothing else is looked at."""
    with pytest.raises(OutputValidationError) as caught:
        read_answer('{"x": 1}\0', Spot, protocol="json")
    assert caught.value.code == "output_syntax"


@pytest.mark.parametrize(
    "text",
    [
        *['{"id": 1, "id": 1}', '{"id": 1, "sizes": {"a": null, "a": null}}', '{"id": 1, "totals": [1e999]}'],
        *['{"id": 1, "first": {"count": 1, "Name": "a", "Name": "a"}}', '{"id": 1, "totals": [NaN]}'],
        '{"id": 1, "totals": [' + "9" * 400 + "]}",
    ],
)
def test_a_member_given_twice_is_seen_at_any_level(text: str) -> None:
    """And so is a number that is not finite; a default has no part in it."""
    assert Schema(Order).read_json(text, max_depth=64) is None
    assert Schema(list[Order]).read_json(f"[{text}]", max_depth=64) is None
