"""What a model is told of a type in the python protocol."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import pytest
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from langfx_web.errors import SchemaError
from langfx_web.schemas import Schema
from langfx_web.schemas.unknown import Unknown


class Point(BaseModel):
    x: int
    y: int


class Color(Enum):
    RED = "red"
    GREEN = "green"


class Shape(BaseModel):
    label: str


class Circle(Shape):
    """A round one."""

    radius: Annotated[float, Field(gt=0, le=10)] = 1.0


class Drawing(BaseModel):
    """Shapes.

    In order.
    """

    shapes: list[Shape] = Field(description="All of them.\nAt least one.", min_length=1, max_length=9)
    codes: list[Annotated[str, Field(pattern="[a-z]+")]] = []
    by: Annotated[int, Field(multiple_of=5)] | None = None
    day: date
    color: Color = Color.RED
    hidden: SkipJsonSchema[int] = 0


class XY(TypedDict):
    x: int
    y: list[str]


@dataclasses.dataclass
class Empty:
    pass


class Pair(NamedTuple):
    left: int
    right: dict[str, Any] = {}  # noqa: RUF012  # a default that is shown


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (int, "int"),
        (int | str | None, "int | str | None"),
        (int | Unknown, "int | UNKNOWN"),
        (Literal["a", 1, None], "Literal['a', 1, None]"),
        (list[dict[str, tuple[int, ...]]], "list[dict[str, tuple[int, ...]]]"),
        (set[int] | Any, "set[int] | Any"),
        (list[XY], "list[{'x': int, 'y': list[str]}]"),
        (Annotated[int, Field(ge=1)], "int  # >= 1"),
        (Point, "Point\n\n```python\nclass Point:\n  x: int\n  y: int\n```"),
        (Color, "Color\n\n```python\nclass Color(Enum):\n  RED = 'red'\n  GREEN = 'green'\n```"),
        (Empty | None, "Empty | None\n\n```python\nclass Empty:\n  pass\n```"),
        (date, "date\n\n```python\n# date: text such as '2024-01-31'\n```"),
        (Pair, "Pair\n\n```python\nclass Pair:\n  left: int\n  right: dict[str, Any] = {}\n```"),
    ],
)
def test_a_type_is_an_annotation_and_the_classes_it_names(type_: Any, text: str) -> None:
    """Annotations are as Python writes them; classes, Enums and types written as text follow in one block."""
    assert Schema(type_).python_type == text


def test_langfx_16_classes_are_defined_before_they_are_used() -> None:
    """A base comes before its subclasses; docstrings, descriptions, defaults and constraints are the author's."""
    assert Schema(Drawing).python_type.splitlines() == [
        "Drawing",
        "",
        "```python",
        "# date: text such as '2024-01-31'",
        "",
        "class Color(Enum):",
        "  RED = 'red'",
        "  GREEN = 'green'",
        "",
        "class Shape:",
        "  label: str",
        "",
        "class Circle(Shape):",
        '  """A round one."""',
        "  label: str",
        "  radius: float = 1.0  # > 0, <= 10",
        "",
        "class Drawing:",
        '  """Shapes.',
        "",
        "  In order.",
        '  """',
        "  # All of them.",
        "  # At least one.",
        "  shapes: list[Shape]  # length 1..9",
        "  codes: list[str] = []  # items pattern: '[a-z]+'",
        "  by: int | None = None  # multiple of 5",
        "  day: date",
        "  color: Color = Color.RED",
        "```",
    ]


class Linked(TypedDict):
    value: int
    next: NotRequired[Linked]


class Rest(BaseModel):
    kind: Literal[Color.RED, "x"]
    of: list[Linked]
    table: dict[str, Any] = {}
    made: list[int] = Field(default_factory=lambda: [1])
    most: Annotated[float, Field(lt=5)] | None = None
    pairs: list[tuple[Annotated[int, Field(ge=1)], str]] = []


def test_langfx_16_names_that_stand_for_themselves_are_defined_last() -> None:
    """A TypedDict that contains itself has a name; constants of Enums, keys that may be missing, computed defaults."""
    assert Schema(Rest).python_type.splitlines() == [
        "Rest",
        "",
        "```python",
        "class Color(Enum):",
        "  RED = 'red'",
        "  GREEN = 'green'",
        "",
        "class Rest:",
        "  kind: Literal[Color.RED, 'x']",
        "  of: list[Linked]",
        "  table: dict[str, Any] = {}",
        "  made: list[int] = ...",
        "  most: float | None = None  # < 5",
        "  pairs: list[tuple[int, str]] = []  # items >= 1",
        "",
        "Linked = {'value': int, 'next': NotRequired[Linked]}",
        "```",
    ]


class Plain:
    pass


class Base(BaseModel, ABC):
    @abstractmethod
    def area(self) -> float: ...


@pytest.mark.parametrize(
    "type_", [[int, str], Plain, list[Plain], type[int], dict[str, type[int]], BaseModel, Base, "int", 3]
)
def test_langfx_11_what_cannot_be_offered_is_refused(type_: Any) -> None:
    """Non-types, plain classes, classes as values, and abstract classes that nothing makes real."""
    with pytest.raises(SchemaError) as caught:
        Schema(type_)
    assert caught.value.code == "schema_unsupported"


def test_langfx_15_subclasses_stand_for_a_class_unless_told_otherwise() -> None:
    """With `subclasses=False` a class stands for itself alone."""
    assert list(Schema(Shape).classes) == ["Shape", "Circle"]
    assert list(Schema(Shape, subclasses=False).classes) == ["Shape"]
    assert Schema(Drawing).fields("Drawing") == ("shapes", "codes", "by", "day", "color")
