"""Which types can be offered to a model, under which names, and what is refused as soon as a schema is built."""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import pathlib
import re
import sys
import typing
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Required, TypeVar

import pytest
from pydantic import AnyUrl, BaseModel, ConfigDict, Field, RootModel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypeAliasType, TypedDict

from langfx_web.errors import OutputMismatchError, SchemaError
from langfx_web.protocols import protocol, read_answer
from langfx_web.schemas import Schema, Unknown
from tests.protocols.wanted import events, pieces

T = TypeVar("T")


class Point(BaseModel):
    x: int
    y: int


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Pair(NamedTuple):
    left: int
    right: str = "r"


class XY(TypedDict):
    x: int
    y: NotRequired[str]


class Partly(TypedDict, total=False):
    a: int
    b: Required[int]


@dataclasses.dataclass(kw_only=True)
class Made:
    n: int
    seed: dataclasses.InitVar[int] = 3
    total: int = dataclasses.field(init=False, default=0)

    def __post_init__(self, seed: int) -> None:
        self.total = self.n + seed


@pydantic_dataclass
class Checked:
    n: Annotated[int, Field(ge=1)]


class Page(BaseModel, Generic[T]):
    items: list[T]


@dataclasses.dataclass
class Box(Generic[T]):
    item: T
    more: list[T] | None = None


@dataclasses.dataclass
class Crate(Box[int]):
    label: str = ""


class Names(RootModel[list[str]]):
    pass


class First(BaseModel):
    second: Second | None = None


class Second(BaseModel):
    firsts: list[First] = []


Age = NewType("Age", int)
Json = TypeAliasType("Json", "int | list[Json] | dict[str, Json]")
Itself = TypeAliasType("Itself", "Itself")  # type: ignore[misc]
ItselfOr = TypeAliasType("ItselfOr", "ItselfOr | int")  # type: ignore[misc]
Twice = TypeAliasType("Twice", tuple[T, T], type_params=(T,))

ANSWERS: list[tuple[Any, str, Any]] = [
    (bool, "true", True),
    (int, "1", 1),
    (float, "1.5", 1.5),
    (Annotated[str, Field(max_length=3)], '"abc"', "abc"),
    (bytes, '"x"', b"x"),
    (None, "null", None),
    (Any, '[1, {"a": null}]', [1, {"a": None}]),
    (Literal["a", 1], "1", 1),
    (Color, '"red"', Color.RED),
    (Level, "1", Level.LOW),
    (list[int], "[1]", [1]),
    (set[int], "[1, 1]", {1}),
    (frozenset[int], "[1]", frozenset({1})),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (tuple[int, ...], "[1, 2]", (1, 2)),
    (tuple[()], "[]", ()),
    (dict[int, str], '{"1": "a"}', {1: "a"}),
    (list, "[1]", [1]),
    (dict, '{"a": 1}', {"a": 1}),
    (Sequence[int], "[1]", [1]),
    (Mapping[str, int], '{"a": 1}', {"a": 1}),
    (XY, '{"x": 1}', {"x": 1}),
    (Partly, '{"b": 1}', {"b": 1}),
    (Pair, "[1]", Pair(1)),
    (Point, '{"x": 1, "y": 2}', Point(x=1, y=2)),
    (Made, '{"n": 1, "seed": 3}', Made(n=1)),
    (Checked, '{"n": 1}', Checked(n=1)),
    (Page[int], '{"items": [1]}', Page[int](items=[1])),
    (Box[str], '{"item": "a", "more": ["b"]}', Box("a", ["b"])),
    (Box[list[str]], '{"item": ["a"]}', Box(["a"])),
    (Crate, '{"item": 1}', Crate(1)),
    (Names, '["a"]', Names(["a"])),
    (First, '{"second": {"firsts": [{}]}}', First(second=Second(firsts=[First()]))),
    (int | str, '"1"', "1"),
    (int | None, "null", None),
    (int | Unknown, "1", 1),
    (Age, "1", 1),
    (Json, '[1, {"a": [2]}]', [1, {"a": [2]}]),
    (Twice[int], "[1, 2]", (1, 2)),
    (datetime.date, '"2024-01-31"', datetime.date(2024, 1, 31)),
    (datetime.date | datetime.datetime, '"2024-01-31"', datetime.date(2024, 1, 31)),
    (datetime.time, '"12:30:00"', datetime.time(12, 30)),
    (datetime.timedelta, '"PT1H"', datetime.timedelta(hours=1)),
    (Decimal, '"1.50"', Decimal("1.50")),
    (uuid.UUID, '"12345678-1234-5678-1234-567812345678"', uuid.UUID("12345678-1234-5678-1234-567812345678")),
    (AnyUrl, '"https://example.test/"', AnyUrl("https://example.test/")),
    (pathlib.PurePosixPath, '"a/b"', pathlib.PurePosixPath("a/b")),
    (ipaddress.IPv4Address, '"127.0.0.1"', ipaddress.IPv4Address("127.0.0.1")),
    (re.Pattern, '"a+"', re.compile("a+")),
]


@pytest.mark.parametrize(("type_", "answer", "value"), ANSWERS, ids=lambda item: str(item)[:40])
def test_langfx_11_what_is_accepted_is_read_and_told(type_: Any, answer: str, value: Any) -> None:
    """As the root of an answer: a text for each protocol, and a value of the very type."""
    schema = Schema(type_)
    read = read_answer(answer, schema, protocol="json")
    assert (read, type(read)) == (value, type(value))
    assert schema.python_type
    assert isinstance(schema.json_schema(), dict)
    assert schema.validate(schema.dump(value)) == value


class Plain:
    pass


class Base(BaseModel, ABC):
    @abstractmethod
    def area(self) -> float: ...


class Holder(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    points: list[Point]
    plain: Plain


class Outer(BaseModel):
    holder: Holder | None = None


class Calls(BaseModel):
    then: Callable[[int], int]


class MustHide(BaseModel):
    secret: SkipJsonSchema[int]


class Odd(Enum):
    PLACE = (1, 2)


@dataclasses.dataclass
class Lost:
    where: Nowhere  # type: ignore[name-defined]  # noqa: F821  # what it is about


class Untyped(NamedTuple):
    item: object


class false(BaseModel):  # noqa: N801  # the name that is refused
    n: int


class Named(BaseModel):
    inner: false


REFUSED: list[tuple[Any, tuple[str, ...]]] = [
    ([int, str], ()),
    ("int", ()),
    (3, ()),
    (..., ()),
    (list["Point"], ()),
    (T, ()),
    (list[T], ()),  # type: ignore[valid-type]
    (Page, ()),
    (Box, ()),
    (Callable, ()),
    (Callable[[int], int], ()),
    (type[int], ()),
    (Iterator[int], ()),
    (object, ()),
    (complex, ()),
    (Plain, ()),
    (dict[str, list[Plain]], ()),
    (BaseModel, ()),
    (RootModel, ()),
    (Base, ()),
    (Odd, ()),
    (Outer, ("holder", "plain")),
    (Calls, ("then",)),
    (MustHide, ("secret",)),
    (Lost, ()),
    (Untyped, ("item",)),
    (false, ()),
    (Named, ("inner",)),
]


@pytest.mark.parametrize(("type_", "path"), REFUSED, ids=lambda item: str(item)[:40])
def test_langfx_11_what_is_refused_is_refused_when_the_schema_is_built(type_: Any, path: tuple[str, ...]) -> None:
    """Non-types, open generics, classes as values, abstract and plain classes, and names that mean something else."""
    with pytest.raises(SchemaError) as caught:
        Schema(type_)
    assert (caught.value.code, caught.value.path) == ("schema_unsupported", path)


def test_a_typed_dict_of_the_standard_library_is_refused_where_pydantic_cannot_read_it() -> None:
    """Before Python 3.12; the message says what to use."""

    class Old(typing.TypedDict):
        x: int

    if sys.version_info >= (3, 12):
        assert read_answer('{"x": 1}', Old, protocol="json") == {"x": 1}
        return
    with pytest.raises(SchemaError, match="typing_extensions"):
        Schema(Old)


class Shape(BaseModel):
    label: str


class Circle(Shape):
    radius: float


class _Secret(Shape):
    key: str


class Solid(Shape, ABC):
    @abstractmethod
    def volume(self) -> float: ...


class Ball(Solid):
    radius: float = 1.0

    def volume(self) -> float:
        return self.radius


def renewed() -> type[Shape]:
    """Another subclass of the same name."""

    class Circle(Shape):
        size: int

    return Circle


NEWEST = renewed()


def test_langfx_15_a_class_stands_for_its_subclasses() -> None:
    """In definition order, abstract ones by their own, the newest of a name, none that begins with `_`."""
    assert Schema(Shape).classes == {"Shape": Shape, "Circle": NEWEST, "Ball": Ball}
    assert Schema(Solid).classes == {"Ball": Ball}
    assert Schema(Solid).python_type.startswith("Ball\n")
    assert Schema(Shape, subclasses=False).classes == {"Shape": Shape}
    shapes = list[Shape]
    assert read_answer("[Ball(label='b')]", shapes) == [Ball(label="b")]
    assert read_answer('[{"label": "c", "size": 1}]', shapes, protocol="json") == [NEWEST(label="c", size=1)]  # type: ignore[call-arg]
    arms = [{"$ref": f"#/$defs/{name}"} for name in ("Shape", "Circle", "Ball")]
    assert Schema(shapes).json_schema()["items"] == {"anyOf": arms}
    assert list(Schema(shapes).json_schema()["$defs"]) == ["Shape", "Circle", "Ball"]


def other_point() -> type[BaseModel]:
    """A second class of the name."""

    class Point(BaseModel):
        z: int

    return Point


def test_langfx_15_the_second_class_of_a_name_is_numbered() -> None:
    """In the order of first use, in both texts and in answers."""
    other = other_point()
    schema = Schema(tuple[Point, other, Page[int]])  # type: ignore[valid-type]
    assert schema.classes == {"Point": Point, "Point_2": other, "Page_int": Page[int]}
    assert schema.python_type.startswith("tuple[Point, Point_2, Page_int]")
    assert list(schema.json_schema()["$defs"]) == ["Point", "Point_2", "Page_int"]
    assert read_answer("(Point(1, 2), Point_2(z=3), Page_int([4]))", schema) == (
        Point(x=1, y=2),
        other(z=3),
        Page[int](items=[4]),
    )


class Doc(BaseModel):
    long_title: str = Field(alias="title")
    hidden: SkipJsonSchema[int] = 0
    note: int | SkipJsonSchema[None] = None


def test_langfx_15_fields_have_their_python_name_in_python_and_their_alias_in_json() -> None:
    """Hidden ones are in neither text; the app may use either name."""
    schema = Schema(Doc)
    assert schema.python_type.splitlines()[3:-1] == ["class Doc:", "  long_title: str", "  note: int = ..."]
    assert schema.json_schema() == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "note": {"type": "integer"}},
        "required": ["title"],
        "additionalProperties": False,
    }
    value = Doc(title="t")
    assert read_answer("Doc(long_title='t')", schema) == read_answer('{"title": "t"}', schema, protocol="json") == value
    assert schema.validate({"long_title": "t"}) == schema.validate({"title": "t"}) == value
    assert schema.dump(value) == {"title": "t"}


@pytest.mark.parametrize(
    ("protocol", "answer"),
    [
        ("python", "Doc(long_title='t', hidden=1)"),
        ("json", '{"title": "t", "hidden": 1}'),
        ("json", '{"long_title": "t"}'),
        ("python", "Doc(title='t')"),
        ("json", '{"title": "t", "note": null}'),
    ],
)
def test_langfx_15_hidden_fields_and_other_names_are_mismatches(protocol: Any, answer: str) -> None:
    """What the model was not told of it cannot set."""
    with pytest.raises(OutputMismatchError):
        read_answer(answer, Doc, protocol=protocol)


class Chain(BaseModel):
    value: int
    next: Chain | None = None


@dataclasses.dataclass
class A:
    b: B | None = None


@dataclasses.dataclass
class B:
    a: list[A] = dataclasses.field(default_factory=list)


class Linked(TypedDict):
    value: int
    next: Linked | None


@pytest.mark.parametrize("type_", [Chain, A, Linked, First])
def test_langfx_12_types_that_contain_themselves_are_told_by_reference(type_: Any) -> None:
    """`$defs`, and references to them, in the plain and in the native document."""
    schema = Schema(type_)
    document = schema.json_schema()
    assert document["$ref"] == f"#/$defs/{type_.__name__}"
    native = schema.native().document
    assert native["type"] == "object"
    assert native["$defs"].keys() == document["$defs"].keys()
    assert "Linked = {'value': int, 'next': Linked | None}" in Schema(Linked).python_type


def chain(length: int) -> Any:
    """So many values, one in the other."""
    return {"value": length, "next": chain(length - 1) if length > 1 else None}


@pytest.mark.parametrize("name", ["python", "json"])
def test_bug_045_langfx_12_recursive_types_are_read_thirty_levels_deep(name: Any) -> None:
    """In both protocols, and while the answer arrives."""
    schema = Schema(Chain)
    value = schema.validate(chain(30))
    assert schema.dump(value) == chain(30)
    text = protocol(name).write(value, schema)
    assert read_answer(text, schema, protocol=name) == value
    found = events(pieces(text, 7), schema, name=name)
    assert max(len(event.path) for event in found) == 30
    assert found[-1].type == "object_end"


def test_bug_045_classes_that_contain_each_other_are_read() -> None:
    """As JSON, and as calls; TypedDicts that contain themselves too."""
    mutual = read_answer('{"b": {"a": [{"b": null}, {"b": {"a": []}}]}}', A, protocol="json")
    assert mutual == read_answer("A(b=B(a=[A(b=None), A(b=B(a=[]))]))", A) == A(B([A(), A(B())]))
    assert read_answer('{"value": 1, "next": {"value": 2, "next": null}}', Linked, protocol="json") == chain(2) | {
        "value": 1,
        "next": {"value": 2, "next": None},
    }


def test_aliases_that_mean_nothing_but_themselves_are_refused() -> None:
    """Alone or as an arm of their own union."""
    for alias in (Itself, ItselfOr):
        with pytest.raises(SchemaError):
            Schema(alias)
