"""The classes of `parity_types` as langfun has them, symbolic ones; read only where langfun is installed.

Annotations are values here: langfun reads no calls in texts.
"""

import dataclasses
import typing
from typing import Any, Literal

import pyglove as pg


class Answer(pg.Object):
    final_answer: int


class Activity(pg.Object):
    description: str


class Itinerary(pg.Object):
    day: pg.typing.Int(min_value=1)
    type: Literal["daytime", "nighttime"]
    activities: list[Activity]
    hotel: pg.typing.Str(regex=".*Hotel").noneable()


class Point(pg.Object):
    x: int
    y: int


class WithDefault(pg.Object):
    a: int
    b: str = "bee"
    c: pg.typing.List(pg.typing.Int(), default=[])


class WithOptional(pg.Object):
    a: int
    b: str | None = None
    c: int | None


class WithLiteral(pg.Object):
    color: Literal["red", "green", "blue"]
    size: Literal[1, 2, 3]


class WithTuple(pg.Object):
    pair: tuple[int, str]
    many: tuple[int, ...]


class WithUnion(pg.Object):
    v: int | str


class WithNumUnion(pg.Object):
    v: int | float


class WithClassUnion(pg.Object):
    v: Activity | Point


class WithAny(pg.Object):
    v: Any


class WithDict(pg.Object):
    d: dict[str, int]


class WithSet(pg.Object):
    s: set[int]


class Flags(pg.Object):
    b: bool
    f: float


class Shape(pg.Object):
    label: str


class Circle(Shape):
    radius: float


class Square(Shape):
    side: float


class Drawing(pg.Object):
    shapes: list[Shape]


class Node(pg.Object):
    value: int
    children: list["Node"] = []  # noqa: RUF012  # langfun copies it


class Doc(pg.Object):
    title: str
    body: str | None
    hidden: int = 0


class Validated(pg.Object):
    x: int

    def _on_bound(self) -> None:
        super()._on_bound()
        if self.x > 1:
            raise ValueError("x is more than one")


class Bound(pg.Object):
    x: int

    def _on_bound(self) -> None:
        super()._on_bound()
        if self.x < 0:
            raise ValueError("x is negative")


@dataclasses.dataclass(frozen=True)
class DC:
    y: str
    n: int = 3


class WithDC(pg.Object):
    dc: DC


XY = pg.typing.Dict([("x", pg.typing.Int()), ("y", pg.typing.List(pg.typing.Str()))])

UNIONS = {
    "pg.Union[Activity, Point]": pg.typing.Union([pg.typing.Object(Activity), pg.typing.Object(Point)]),
    "pg.Union[int, str]": pg.typing.Union([pg.typing.Int(), pg.typing.Str()]),
    "pg.Tuple[int, str]": pg.typing.Tuple([pg.typing.Int(), pg.typing.Str()]),
}
"""Roots that langfun takes only in its own words."""


def type_of(expression: str) -> Any:
    """What langfun is to be given for a type expression of the table."""
    if expression in UNIONS:
        return UNIONS[expression]
    if expression == "XY":
        return XY
    if expression.startswith("["):
        return [int, str]

    class Holder:
        __annotations__ = {"wanted": expression}  # it is what get_type_hints reads

    return typing.get_type_hints(Holder, globalns=globals())["wanted"]
