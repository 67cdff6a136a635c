"""A function's parameters as a schema."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from langfx_web.errors import InvalidValueError, SchemaMismatchError
from langfx_web.schemas import Signature, first_paragraph


class Context:
    """Filled in by the caller."""


class Point(BaseModel):
    x: int


def search(
    query: Annotated[str, Field(description="what to search", examples=["cats"], min_length=1)],
    limit: Annotated[int, Field(description="max", ge=1)] = 10,
) -> list[str]:
    """Search."""
    return [query] * limit


GOLDEN = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "what to search", "examples": ["cats"], "minLength": 1},
        "limit": {"type": "integer", "description": "max", "default": 10, "minimum": 1},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def test_the_golden_schema() -> None:
    """Names, texts, constraints and defaults as they were written."""
    assert Signature(search, "search", without=Context).arguments.json_schema() == GOLDEN


@pytest.mark.parametrize(
    ("value", "problems"),
    [
        ({}, [("missing", ["query"])]),
        ({"query": ""}, [("string_too_short", ["query"])]),
        ({"query": "a", "limit": "5"}, [("int_type", ["limit"])]),
        ({"query": "a", "limit": True}, [("int_type", ["limit"])]),
        ({"query": "a", "limit": None}, [("int_type", ["limit"])]),
        ({"query": "a", "limit": 1.5}, [("int_type", ["limit"])]),
        ({"query": "a", "limit": 0}, [("greater_than_equal", ["limit"])]),
        ({"query": "a", "extra": 1}, [("extra_forbidden", ["extra"])]),
        ({"limit": 0}, [("missing", ["query"]), ("greater_than_equal", ["limit"])]),
        ([], [("dict_type", [])]),
        ("x", [("dict_type", [])]),
    ],
)
def test_bad_arguments(value, problems) -> None:
    """Each problem with its type and path, all at once."""
    with pytest.raises(SchemaMismatchError) as caught:
        Signature(search, "search", without=Context).arguments.validate(value)
    assert [(item["type"], item["path"]) for item in caught.value.problems] == problems


def test_good_arguments() -> None:
    """Defaults filled in, values as they are."""
    arguments = Signature(search, "search", without=Context).arguments
    assert arguments.validate({"query": "a"}) == {"query": "a", "limit": 10}
    assert arguments.validate({"query": "a", "limit": 5}) == {"query": "a", "limit": 5}
    assert arguments.dump({"query": "a", "limit": 5}) == {"query": "a", "limit": 5}


def test_names_that_pydantic_uses_itself_are_fine() -> None:
    """`schema`, `json`, `copy`, `model_config` are ordinary parameter names."""

    def odd(schema: int, json: str, model_config: int, copy: bool = False) -> None:
        """Odd."""

    signature = Signature(odd, "odd", without=Context)
    assert signature.arguments.validate({"schema": 1, "json": "j", "model_config": 2}) == {
        "schema": 1,
        "json": "j",
        "model_config": 2,
        "copy": False,
    }
    assert list(signature.arguments.json_schema()["properties"]) == ["schema", "json", "model_config", "copy"]


def test_injected_parameters_are_not_asked_for() -> None:
    """The caller fills them in."""

    def tool(point: Point, context: Context) -> Any:
        """Tool."""

    signature = Signature(tool, "tool", without=Context)
    assert signature.injected == ("context",)
    assert list(signature.arguments.json_schema()["properties"]) == ["point"]
    assert signature.arguments.validate({"point": {"x": 1}}) == {"point": Point(x=1)}


@pytest.mark.parametrize("source", ["lambda *args: 1", "lambda **kw: 1", "lambda a: 1", "lambda a, /: 1"])
def test_parameters_a_model_cannot_name_are_refused(source: str) -> None:
    """Every argument has a name and a type."""
    function = {
        "lambda *args: 1": lambda *args: 1,
        "lambda **kw: 1": lambda **kw: 1,
        "lambda a: 1": lambda a: 1,
        "lambda a, /: 1": lambda a, /: 1,
    }[source]
    with pytest.raises(InvalidValueError) as caught:
        Signature(function, "function", without=Context)
    assert caught.value.code == "invalid_tool"


def test_an_args_section_describes_parameters() -> None:
    """Google style; an annotation's own description wins."""

    def tool(a: int, b: Annotated[str, Field(description="own")], c: int = 1) -> None:
        """Do it.

        More text.

        Args:
            a: the first
                thing
            b (str): not shown
            c: third

        Returns:
            a: nothing
        """

    properties = Signature(tool, "tool", without=Context).arguments.json_schema()["properties"]
    assert {name: member.get("description") for name, member in properties.items()} == {
        "a": "the first thing",
        "b": "own",
        "c": "third",
    }


def test_docstring_parts() -> None:
    """The first paragraph on one line; the rest is for people."""
    assert first_paragraph("Look up\n  an order.\n\nMore.") == "Look up an order."
