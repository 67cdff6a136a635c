"""Typed values from plain JSON: kinds are never converted, every problem has its path."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Self, Union

import pytest
from pydantic import BaseModel, ConfigDict, Field, PastDate, RootModel, create_model, model_validator
from typing_extensions import TypeAliasType, TypedDict

from langfx_web.errors import OutputMismatchError, SchemaError, SchemaMismatchError
from langfx_web.protocols import read_answer
from langfx_web.schemas import UNKNOWN, Schema, Unknown


class Colour(Enum):
    RED = "red"


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Holder(BaseModel):
    node: Node
    open: Open | None = None


@pytest.mark.parametrize(
    ("type_", "value", "typed"),
    [
        (int, 5, 5),
        (float, 5, 5.0),
        (str, "5", "5"),
        (bool, True, True),
        (Colour, "red", Colour.RED),
        (Literal["a", 1], 1, 1),
        (datetime.date, "2024-01-31", datetime.date(2024, 1, 31)),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 1], {1}),
        (int | None, None, None),
        (int | str, "123", "123"),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Node, {"value": 1, "children": [{"value": 2}]}, Node(value=1, children=[Node(value=2)])),
    ],
)
def test_values_are_read(type_, value, typed) -> None:
    """From the JSON form that the schema shows."""
    read = Schema(type_).validate(value)
    assert read == typed
    assert type(read) is type(typed)


@pytest.mark.parametrize(
    ("type_", "value", "problem"),
    [
        (int, "5", "int_type"),
        (int, True, "int_type"),
        (int, 1.5, "int_type"),
        (int, None, "int_type"),
        (float, True, "float_type"),
        (str, 5, "string_type"),
        (bool, 1, "bool_type"),
        (bool, "true", "bool_type"),
        (list[int], "1, 2", "list_type"),
    ],
)
def test_kinds_are_never_converted(type_, value, problem) -> None:
    """The problem is named as pydantic names it."""
    with pytest.raises(SchemaMismatchError) as caught:
        Schema(type_).validate(value)
    assert [item["type"] for item in caught.value.problems] == [problem]


def test_every_problem_is_reported_with_its_path() -> None:
    """Two at once, one nested."""
    with pytest.raises(SchemaMismatchError) as caught:
        Schema(Node).validate({"value": "x", "children": [{"value": None}]})
    assert [item["path"] for item in caught.value.problems] == [["value"], ["children", 0, "value"]]
    assert str(caught.value).count("\n") == 1


def test_unknown_keys_are_refused_at_every_depth() -> None:
    """Unless the model says that it takes more."""
    schema = Schema(Holder)
    assert schema.validate({"node": {"value": 1}, "open": {"a": 1, "b": 2}}).open.model_extra == {"b": 2}
    with pytest.raises(SchemaMismatchError) as caught:
        schema.validate({"node": {"value": 1, "extra": 2}})
    assert caught.value.problems == [
        {"type": "extra_forbidden", "path": ["node", "extra"], "message": "there is no such field"}
    ]


def test_the_document_is_portable() -> None:
    """Closed objects, no generated titles, recursion by local reference."""
    document = Schema(Node).json_schema()
    node = document["$defs"]["Node"]
    assert document["$ref"] == "#/$defs/Node"
    assert node["additionalProperties"] is False
    assert "title" not in node
    assert node["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_dump_writes_plain_json() -> None:
    """Typed values in their JSON form; a value of another type is a mismatch."""
    assert Schema(list[Node]).dump([Node(value=1)]) == [{"value": 1, "children": []}]
    assert Schema(datetime.date).dump(datetime.date(2024, 1, 31)) == "2024-01-31"
    with pytest.raises(SchemaMismatchError):
        Schema(int).dump("1")


def test_a_type_that_cannot_be_described_is_refused() -> None:
    """With an error of ours."""
    with pytest.raises(SchemaError):
        Schema(object()).validate(1)


class Shape(BaseModel):
    label: str


class Circle(Shape):
    radius: Annotated[float, Field(gt=0)] = 1.0


@dataclasses.dataclass
class Point:
    x: Annotated[int, Field(ge=0)]
    y: float = 0.0


@dataclasses.dataclass
class Line:
    start: Point
    end: Point | None = None


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Names(RootModel[list[str]]):
    pass


@pytest.mark.parametrize(
    ("type_", "value", "typed"),
    [
        (
            list[Shape],
            [Circle(label="c"), {"label": "d", "radius": 2}],
            [Circle(label="c"), Circle(label="d", radius=2)],
        ),
        (set[int], {1, 2}, {1, 2}),
        (frozenset[int], frozenset({1}), frozenset({1})),
        (tuple[int, str], (1, "a"), (1, "a")),
        (tuple[int, ...], (1, 2), (1, 2)),
        (Colour, Colour.RED, Colour.RED),
        (Literal[Colour.RED, "x"], Colour.RED, Colour.RED),
        (datetime.date, datetime.date(2024, 1, 31), datetime.date(2024, 1, 31)),
        (datetime.date | datetime.datetime, datetime.datetime(2024, 1, 31), datetime.datetime(2024, 1, 31)),
        (dict[datetime.date, int], {datetime.date(2024, 1, 31): 1}, {datetime.date(2024, 1, 31): 1}),
        (dict[int, str], {1: "a", "2": "b"}, {1: "a", 2: "b"}),
        (Pair, Pair(1), Pair(1)),
        (Pair, (1, "a"), Pair(1, "a")),
        (Pair, {"left": 1}, Pair(1)),
        (Line, {"start": Point(1)}, Line(Point(1))),
        (Line, Line({"x": 1}), Line(Point(1))),  # type: ignore[arg-type]  # a dataclass takes anything
        (Names, Names(["a"]), Names(["a"])),
        (Names, ["a"], Names(["a"])),
        (int | Unknown, UNKNOWN, UNKNOWN),
        (PastDate, datetime.date(2024, 1, 31), datetime.date(2024, 1, 31)),
        (bytes, b"x", b"x"),
        (Any, {"when": datetime.date(2024, 1, 31)}, {"when": datetime.date(2024, 1, 31)}),
    ],
)
def test_the_apps_own_values_are_taken(type_: Any, value: Any, typed: Any) -> None:
    """Instances and Python's containers, alone and among plain data."""
    read = Schema(type_).validate(value)
    assert (read, type(read)) == (typed, type(typed))


def test_an_instance_that_fits_stays_as_it_is() -> None:
    """Of a model, which was checked when it was made, and of a dataclass, which is checked now."""
    for value in (Circle(label="c"), Point(1, 2.0), Line(Point(1), Point(2))):
        assert Schema(type(value)).validate(value) is value
    with pytest.raises(SchemaMismatchError) as caught:
        Schema(Line).validate(Line(Point(-1), "x"))  # type: ignore[arg-type]  # a dataclass takes anything
    assert [item["path"] for item in caught.value.problems] == [["start", "x"], ["end"]]
    with pytest.raises(SchemaMismatchError):
        Schema(Line).validate({"start": Point(-1)})
    with pytest.raises(SchemaMismatchError):
        Schema(Circle).validate(Circle.model_construct(label=5))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (int, 1.0),
        (list[int], (1,)),
        (list[int], {1}),
        (set[int], (1,)),
        (tuple[int, str], (1, "a", 2)),
        (str, Colour.RED),
        (Colour, "RED"),
        (datetime.date, 5),
        (PastDate, datetime.date(9999, 1, 31)),
        (uuid.UUID, datetime.date(2024, 1, 31)),
        (Circle, Shape(label="s")),
        (Point, Line(Point(1))),
        (float, float("nan")),
    ],
)
def test_the_apps_values_are_not_converted_either(type_: Any, value: Any) -> None:
    """A tuple is no list, a member no text, a base class no subclass."""
    with pytest.raises(SchemaMismatchError):
        Schema(type_).validate(value)


@pytest.mark.parametrize(
    ("type_", "value", "plain"),
    [
        (list[Shape], [Circle(label="c", radius=2)], [{"label": "c", "radius": 2.0}]),
        (Pair, Pair(1), [1, "r"]),
        (Names, Names(["a"]), ["a"]),
        (Open, Open(a=1, b=[2]), {"a": 1, "b": [2]}),  # type: ignore[call-arg]  # it takes more
        (dict[datetime.date, Colour], {datetime.date(2024, 1, 31): Colour.RED}, {"2024-01-31": "red"}),
        (set[int], {2, 1}, [1, 2]),
        (bytes, b"x", "x"),
        (Decimal, Decimal("1.50"), "1.50"),
        (int | Unknown, UNKNOWN, "UNKNOWN"),
        (Any, {"at": Point(1), "of": Shape(label="s")}, {"at": {"x": 1, "y": 0.0}, "of": {"label": "s"}}),
        (Point, {"x": 1}, {"x": 1, "y": 0.0}),
    ],
)
def test_dump_writes_what_reading_takes(type_: Any, value: Any, plain: Any) -> None:
    """With the fields of subclasses, under aliases, and text for what JSON has as text."""
    assert Schema(type_).dump(value) == plain
    Schema(type_).validate(plain)


@pytest.mark.parametrize(("type_", "value"), [(Any, object()), (bytes, b"\xff"), (list[Any], [float("nan")])])
def test_what_json_cannot_write_is_a_mismatch(type_: Any, value: Any) -> None:
    """Named as such, with its path where one is known."""
    with pytest.raises(SchemaMismatchError) as caught:
        Schema(type_).dump(value)
    assert caught.value.problems[0]["type"] == "not_json"


@dataclasses.dataclass
class Latest:
    limit: int = 50


@dataclasses.dataclass
class Window:
    offset: int
    limit: int = 50


@dataclasses.dataclass
class Empty:
    pass


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    ("arms", "text", "expected"),
    [
        ((int, str), '"123"', "123"),
        ((int, str), "123", 123),
        ((bool, int), "1", 1),
        ((bool, int), "true", True),
        ((int, float), "2.0", 2.0),
        ((int, float), "2", 2),
        ((Literal[1], bool), "true", True),
        ((Literal[1], float), "1.0", 1.0),
        ((Literal[True], int), "1", 1),
        ((Latest, Window), '{"offset": 100, "limit": 20}', Window(100, 20)),
        ((Latest, Window), '{"limit": 20}', Latest(20)),
        ((Empty, Window), '{"offset": 1}', Window(1, 50)),
        ((Latest, Window), '{"limit": 20, "offset": 1, "x": 0}', None),
        ((Latest, Empty), "{}", None),
        ((str, datetime.date), '"2024-01-31"', "2024-01-31"),
        ((int, Unknown), '"UNKNOWN"', UNKNOWN),
        ((str, Unknown), '"UNKNOWN"', UNKNOWN),
        ((Any, int), "1", 1),
        ((dict[str, int], Latest), '{"limit": 1}', Latest(1)),
        ((list[int], tuple[int, ...]), "[1]", [1]),
    ],
)
def test_bug_043_the_order_of_arms_never_matters(arms: Any, text: str, expected: Any, flip: bool) -> None:
    """The best kind wins, also inside a class and a list; two that fit alike are an error that names both."""
    union = Union[arms[::-1]] if flip else Union[arms]  # noqa: UP007  # its arms are values here
    holder: Any = create_model("Holder", v=(union, ...))
    for type_, answer in ((union, text), (list[union], f"[{text}]"), (holder, f'{{"v": {text}}}')):  # type: ignore[valid-type]
        if expected is None:
            with pytest.raises(OutputMismatchError):
                read_answer(answer, type_, protocol="json")
            continue
        found = read_answer(answer, type_, protocol="json")
        value = found.v if type_ is holder else found[0] if answer[0] == "[" and text[0] != "[" else found
        value = value[0] if type_ == list[union] and text[0] == "[" else value  # type: ignore[valid-type]
        assert (value, type(value)) == (expected, type(expected))


class Blurred(TypedDict):
    v: Literal[1] | bool


class HasBlurred(BaseModel):
    blurred: list[Blurred]


def test_bug_043_constants_stay_themselves_in_every_place() -> None:
    """Where pydantic would take true for 1: in a TypedDict, and in one within a class."""
    assert read_answer('{"v": true}', Blurred, protocol="json")["v"] is True
    found = read_answer('{"blurred": [{"v": true}, {"v": 1}]}', HasBlurred, protocol="json")
    assert [item["v"] for item in found.blurred] == [True, 1]
    assert [type(item["v"]) for item in found.blurred] == [bool, int]


def test_bug_043_in_python_a_class_is_chosen_by_its_name() -> None:
    """Whatever fields it shares with others."""
    assert read_answer("Window(offset=100, limit=20)", Latest | Window) == Window(100, 20)
    assert read_answer("Latest(20)", Latest | Window) == Latest(20)


def test_bug_047_local_validation_keeps_choices_of_numbers() -> None:
    """60 is one of them, 61 is not, and a text is no number."""
    schema = Schema.from_json_schema(
        {"type": "object", "properties": {"archive": {"type": "integer", "enum": [60, 1440, 4320]}}}
    )
    assert schema.validate({"archive": 60}) == {"archive": 60}
    for bad in (61, "60", True):
        with pytest.raises(SchemaMismatchError) as caught:
            schema.validate({"archive": bad})
        assert caught.value.problems[0]["path"] == ["archive"]
    with pytest.raises(SchemaMismatchError, match="60,1440,4320"):
        schema.validate({"archive": 61})
    choices = Schema(Literal[60, 1440, 4320, None]).json_schema()
    assert choices == {"anyOf": [{"type": "integer", "enum": [60, 1440, 4320]}, {"type": "null"}]}


def test_unions_of_alike_classes_are_read_in_linear_time() -> None:
    """Each arm looks at each object once, however deep the objects that both may be."""
    made = 0

    class One(BaseModel):
        kind: int
        next: One | Other | None = None  # type: ignore[name-defined]  # it comes below

        @model_validator(mode="after")
        def count(self) -> Self:
            nonlocal made
            made += 1
            return self

    class Other(One):
        kind: Literal[2]  # type: ignore[assignment]  # narrower

        @model_validator(mode="after")
        def even(self) -> Self:
            raise ValueError("never")

    One.model_rebuild(_types_namespace={"One": One, "Other": Other})
    counts = []
    for depth in (4, 8, 16):
        made, text = 0, "null"
        for _ in range(depth):
            text = f'{{"kind": 2, "next": {text}}}'
        assert type(read_answer(text, One | Other, protocol="json")) is One
        counts.append(made)
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


def test_a_schema_has_a_name_and_a_description() -> None:
    """Those of the type unless given; the description stands in both texts."""
    schema = Schema(int, name="age", description="In years.\nRounded.")
    assert (schema.name, schema.description) == ("age", "In years.\nRounded.")
    assert schema.python_type == "# In years.\n# Rounded.\nint"
    assert schema.json_schema() == {"type": "integer", "description": "In years.\nRounded."}
    assert Schema(list[Node]).name == "list_Node"
    assert Schema(int | None).name == "int_or_None"
    assert Schema(Node).description is None
    assert Schema(Annotated[int, Field(description="In years.")]).description == "In years."
    assert Schema(Node, description="A tree.").native().document["description"] == "A tree."


def test_only_str_itself_is_text() -> None:
    """A constrained text, a Literal or an Enum is a value like others."""
    assert Schema(str).is_text
    for type_ in (Annotated[str, Field(min_length=1)], Literal["a"], Colour, str | None):
        assert not Schema(type_).is_text


def test_schemas_of_types_are_kept() -> None:
    """The last 256, apart for types that only look equal, and until a class gets a new subclass."""
    assert Schema.of(list[int]) is Schema.of(list[int])
    assert Schema.of(list[Literal[1]]) is not Schema.of(list[Literal[True]])
    assert Schema.of(list[Literal[True]]).validate([True]) == [True]
    kept = Annotated[int, Field(json_schema_extra={"examples": [1]})]
    assert Schema.of(kept).json_schema() == {"type": "integer", "examples": [1]}
    own = Schema(int)
    assert Schema.of(own) is own

    before = Schema.of(Shape)
    assert Schema.of(Shape) is before

    class Square(Shape):
        side: float

    assert "Square" not in before.classes
    assert Schema.of(Shape).classes["Square"] is Square

    first = Schema.of(tuple[int, int, int])
    for length in range(300):
        Schema.of(tuple[(int,) * (length + 4)])  # type: ignore[misc]  # made of a value
    assert Schema.of(tuple[int, int, int]) is not first


def test_a_discriminator_decides_alone() -> None:
    """What is wrong is said of the class that it names, or of the discriminator."""

    class Cat(BaseModel):
        kind: Literal["cat"] = Field(alias="type")
        lives: int

    class Dog(BaseModel):
        kind: Literal["dog"] = Field(alias="type")
        name: str

    class Home(BaseModel):
        pet: Cat | Dog = Field(discriminator="kind")

    found = read_answer('{"pet": {"type": "dog", "name": "Rex"}}', Home, protocol="json")
    assert found.pet == Dog(type="dog", name="Rex")
    for answer, path in (
        ('{"pet": {"type": "cat", "name": "Rex"}}', ("pet", "name")),
        ('{"pet": {"type": "cow", "name": "Rex"}}', ("pet", "type")),
        ('{"pet": {"name": "Rex"}}', ("pet", "type")),
    ):
        with pytest.raises(OutputMismatchError) as caught:
            read_answer(answer, Home, protocol="json")
        assert caught.value.path == path
    assert Schema(Home).validate(found) is found


def test_problems_of_validators_have_the_names_that_the_answer_used() -> None:
    """Python names in python, aliases in JSON; a validator of the whole object speaks of the object."""

    class Range(BaseModel):
        low: int = Field(alias="from", ge=0)
        high: int = Field(alias="to")

        @model_validator(mode="after")
        def ordered(self) -> Self:
            if self.low > self.high:
                raise ValueError("the range is empty")
            return self

    for protocol, answer, path in (
        ("json", '{"from": -1, "to": 1}', ("from",)),
        ("python", "Range(low=-1, high=1)", ("low",)),
        ("json", '{"from": 2, "to": 1}', ()),
    ):
        with pytest.raises(OutputMismatchError) as caught:
            read_answer(answer, Range, protocol=protocol)  # type: ignore[arg-type]
        assert caught.value.path == path


def test_validators_run_once_and_see_plain_data() -> None:
    """Of objects within objects too: before they are made, and after."""
    seen: list[Any] = []

    class Inner(BaseModel):
        n: int = Field(alias="count", ge=0)

        @model_validator(mode="before")
        @classmethod
        def before(cls, data: Any) -> Any:
            seen.append(sorted(data))
            return data

        @model_validator(mode="after")
        def after(self) -> Self:
            seen.append(self.n)
            return self

    class Middle(BaseModel):
        inner: Inner | None
        table: dict[str, list[Inner]] = {}

    class Outer(BaseModel):
        middle: Middle

    for type_, text, expected in (
        (Outer, '{"middle": {"inner": {"count": 1}}}', [["n"], 1]),
        (
            list[Outer],
            '[{"middle": {"inner": null, "table": {"a": [{"count": 1}, {"count": 2}]}}}]',
            [["n"], 1, ["n"], 2],
        ),
        (Annotated[list[Inner], Field(max_length=1)], '[{"count": 1}]', [["n"], 1]),
    ):
        seen.clear()
        read_answer(text, type_, protocol="json")
        assert seen == expected
    with pytest.raises(OutputMismatchError) as caught:
        read_answer('{"middle": {"inner": null, "table": {"a": [{"count": -1}]}}}', Outer, protocol="json")
    assert caught.value.path == ("middle", "table", "a", 0, "count")


Nested = TypeAliasType("Nested", "list[Nested]")  # type: ignore[misc]


class Level(BaseModel):
    inner: Level | Other | None = None


class Other(BaseModel):
    wrapped: list[Level | Other] = []


class Deeper(Level):
    more: int


def test_values_nest_as_deep_as_answers_may() -> None:
    """Sixty-four levels of the most entangled types; what is far too deep, or contains itself, is a mismatch."""
    text = '{"inner": ' * 63 + '{"inner": null, "more": 1}' + "}" * 63
    assert "Deeper" in repr(read_answer(text, Level, protocol="json"))
    value: Any = None
    for _ in range(2000):
        value = {"inner": value}
    with pytest.raises(SchemaMismatchError):
        Schema(Level).validate(value)
    loop: list[Any] = []
    loop.append(loop)
    for type_ in (Any, list[Any], Nested):
        with pytest.raises(SchemaMismatchError):
            Schema(type_).dump(loop)
