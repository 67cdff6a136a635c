"""The portable JSON Schema of a type: keywords where they belong, in an order that people can read."""

from __future__ import annotations

import dataclasses
import datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

import annotated_types
import pytest
from pydantic import BaseModel, ConfigDict, Field, HttpUrl, RootModel, WithJsonSchema
from typing_extensions import TypedDict

from langfx_web.schemas import Schema, Unknown


class Color(Enum):
    RED = "red"
    NUMBER = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Names(RootModel[list[str]]):
    """All of them."""


class XY(TypedDict):
    x: int
    y: NotRequired[list[str]]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int]
    a: int


OBJECT = object()
ANY_OF_TEXT_AND_NULL = {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("type_", "document"),
    [
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (bytes, {"type": "string"}),
        (Any, {}),
        (int | Unknown, {"anyOf": [{"type": "integer"}, {"type": "string", "const": "UNKNOWN"}]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (Literal["a", "b", None], {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}),
        (Literal[True, 1], {"anyOf": [{"type": "boolean", "const": True}, {"type": "integer", "const": 1}]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Color, {"anyOf": [{"type": "string", "const": "red"}, {"type": "integer", "const": 2}]}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (Decimal, {"anyOf": [{"type": "number"}, {"type": "string"}]}),
        (HttpUrl, {"type": "string", "format": "uri", "maxLength": 2083, "minLength": 1}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (
            Pair,
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 1, "maxItems": 2},
        ),
        (dict[str, Any], {"type": "object", "additionalProperties": True}),
        (
            dict[Literal["a", "b"], int],
            {"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"enum": ["a", "b"]}},
        ),
        (Names, {"type": "array", "description": "All of them.", "items": {"type": "string"}}),
        (
            XY,
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "array", "items": {"type": "string"}}},
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
        (
            Open,
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "required": ["a"],
                "additionalProperties": {"type": "integer"},
            },
        ),
        (
            Annotated[int, Field(ge=1, lt=9, multiple_of=2)],
            {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2},
        ),
        (
            Annotated[float, annotated_types.Interval(gt=0, le=1)],
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        ),
        (Annotated[str | None, Field(max_length=3)], ANY_OF_TEXT_AND_NULL),
        (
            Annotated[list[int], annotated_types.Len(1, 2)],
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        ),
        (
            Annotated[dict[str, int], Field(min_length=1)],
            {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
        ),
        (
            Annotated[Decimal, Field(ge=Decimal("0.5"))],
            {"anyOf": [{"type": "number", "minimum": 0.5}, {"type": "string"}]},
        ),
        (Annotated[int, WithJsonSchema({"type": "integer", "title": "Own"})], {"type": "integer", "title": "Own"}),
    ],
)
def test_langfx_11_each_type_has_its_document(type_: Any, document: dict[str, Any]) -> None:
    """Constants have their type, constraints stand in the arm of a union that they speak of."""
    assert Schema(type_).json_schema() == document


def test_what_authors_say_stands_first() -> None:
    """Type, description, default and examples before constraints; what JSON cannot write is left out."""

    @dataclasses.dataclass
    class Visit:
        """A visit.

        Of one day.
        """

        day: Annotated[datetime.date, Field(description="When.", examples=[datetime.date(2024, 1, 31)])]
        color: Color = Color.RED
        size: Annotated[int, Field(ge=1, json_schema_extra={"deprecated": True})] = 3
        made: list[int] = dataclasses.field(default_factory=lambda: [1])
        odd: Annotated[Any, Field(examples=[object(), 1])] = OBJECT

    document = Schema(Visit).json_schema()
    assert document["description"] == "A visit.\n\nOf one day."
    assert list(document) == ["type", "description", "properties", "required", "additionalProperties", "$defs"]
    assert document["properties"] == {
        "day": {"type": "string", "description": "When.", "examples": ["2024-01-31"], "format": "date"},
        "color": {"default": "red", "$ref": "#/$defs/Color"},
        "size": {"type": "integer", "default": 3, "minimum": 1, "deprecated": True},
        "made": {"type": "array", "items": {"type": "integer"}},
        "odd": {"examples": [1]},
    }
    assert list(document["properties"]["day"]) == ["type", "description", "examples", "format"]
