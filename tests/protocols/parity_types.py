"""The classes that the parity table's schemas name."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from langfx_web.schemas.unknown import Unknown


class Answer(BaseModel):
    final_answer: int


class Activity(BaseModel):
    description: str


class Itinerary(BaseModel):
    day: int = Field(ge=1)
    type: Literal["daytime", "nighttime"]
    activities: list[Activity]
    hotel: Annotated[str, Field(pattern=".*Hotel")] | None


class Point(BaseModel):
    x: int
    y: int


class Three(BaseModel):
    """Three fields."""

    name: str
    age: int
    score: float


class WithDefault(BaseModel):
    a: int
    b: str = "bee"
    c: list[int] = []


class WithOptional(BaseModel):
    a: int
    b: str | None = None
    c: int | None


class WithLiteral(BaseModel):
    color: Literal["red", "green", "blue"]
    size: Literal[1, 2, 3]


class WithTuple(BaseModel):
    pair: tuple[int, str]
    many: tuple[int, ...]


class WithUnion(BaseModel):
    v: int | str


class WithNumUnion(BaseModel):
    v: int | float


class WithClassUnion(BaseModel):
    v: Activity | Point


class WithAny(BaseModel):
    v: Any


class WithDict(BaseModel):
    d: dict[str, int]


class WithSet(BaseModel):
    s: set[int]


class Flags(BaseModel):
    b: bool
    f: float


class Shape(BaseModel):
    label: str


class Circle(Shape):
    radius: float


class Square(Shape):
    side: float


class Drawing(BaseModel):
    shapes: list[Shape]


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Doc(BaseModel):
    """A document.

    It has a title and a body.
    """

    title: str = Field(description="The title.\nOne line.")
    body: str | None
    hidden: SkipJsonSchema[int] = 0


def _at_most_one(x: int) -> int:
    if x > 1:
        raise ValueError("x is more than one")
    return x


def _not_negative(x: int) -> int:
    if x < 0:
        raise ValueError("x is negative")
    return x


class Validated(BaseModel):
    x: Annotated[int, AfterValidator(_at_most_one)]


class Bound(BaseModel):
    x: Annotated[int, AfterValidator(_not_negative)]


@dataclass(frozen=True)
class DC:
    y: str
    n: int = 3


class WithDC(BaseModel):
    dc: DC


class XY(TypedDict):
    x: int
    y: list[str]


class Color(Enum):
    RED = "red"
    GREEN = "green"


class Visit(BaseModel):
    day: date
    color: Color


class Maybe(BaseModel):
    x: int | Unknown
    s: str | Unknown


@dataclass
class Latest:
    limit: int = 50


@dataclass
class Window:
    offset: int
    limit: int = 50


@dataclass
class Empty:
    pass


class TwinA(BaseModel):
    n: int


class TwinB(BaseModel):
    n: int


class Note(BaseModel):
    text: str
    tags: list[str] = []


class Score(BaseModel):
    score: float


class Search(BaseModel):
    query: str
    limit: int = 10
    tag: str | None = None
    note: str | None


def type_of(expression: str) -> Any:
    """The type that an annotation of the table means."""
    if expression.startswith("["):
        return [int, str]

    class Holder:
        __annotations__ = {"wanted": expression}  # it is what get_type_hints reads

    return typing.get_type_hints(Holder, globalns=globals())["wanted"]
