"""Typed values from plain JSON: kinds are never converted, every problem has its path."""

from __future__ import annotations

import datetime
import uuid
from enum import Enum
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict

from langfx_web.errors import SchemaError, SchemaMismatchError
from langfx_web.schemas import Schema


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
