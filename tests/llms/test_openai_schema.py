"""The strict form of schemas that OpenAI's wires take."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.openai.schema import named, strict

INNER = {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}, "required": ["x"]}
NULL = {"type": "null"}


def test_bug_048_providers_49_every_object_names_all_its_properties() -> None:
    """The root, those in lists and those among the definitions; what may be missing may be null instead."""
    schema = {
        "type": "object",
        "properties": {
            "inner": {"$ref": "#/$defs/Inner"},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Inner"}},
            "note": {"anyOf": [{"type": "string"}, NULL]},
        },
        "required": ["inner"],
        "$defs": {"Inner": INNER},
    }
    inner = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"anyOf": [{"type": "integer"}, NULL]}},
        "required": ["x", "y"],
        "additionalProperties": False,
    }
    assert strict(schema) == {
        "type": "object",
        "properties": {
            "inner": {"$ref": "#/$defs/Inner"},
            "items": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Inner"}}, NULL]},
            "note": {"anyOf": [{"type": "string"}, NULL]},
        },
        "required": ["inner", "items", "note"],
        "additionalProperties": False,
        "$defs": {"Inner": inner},
    }


def test_bug_048_an_object_without_properties_is_one() -> None:
    """It has an empty list of them."""
    assert strict({"type": "object"}) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("inner", "place"),
    [
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "#/properties/a/additionalProperties"),
        ({"allOf": [INNER, {"type": "object"}]}, "#/properties/a/allOf"),
        ({"type": "object", "patternProperties": {}}, "#/properties/a/patternProperties"),
    ],
)
def test_bug_048_what_strict_mode_cannot_say_is_refused_with_its_place(inner: dict[str, Any], place: str) -> None:
    """There is no silent change of mode."""
    with pytest.raises(errors.UnsupportedCapabilityError, match=place):
        strict({"type": "object", "properties": {"a": inner}})


def test_bug_048_a_reference_stands_alone() -> None:
    """With anything beside it, it is replaced by what it refers to, and so is an `allOf` of one."""
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/N", "description": "a name"},
            "b": {"allOf": [{"$ref": "#/$defs/N"}], "description": "b"},
        },
        "required": ["a", "b"],
        "$defs": {"N": {"type": "string", "description": "n"}},
    }
    assert strict(schema)["properties"] == {
        "a": {"type": "string", "description": "a name"},
        "b": {"type": "string", "description": "b"},
    }


def test_a_schema_that_contains_itself_is_taken() -> None:
    """References within it stay references, so that there is an end."""
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node", "description": "the next one"}},
        "required": ["next"],
    }
    written = strict({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert written["type"] == "object"
    assert written["$defs"]["Node"]["additionalProperties"] is False


def test_the_root_may_be_a_reference() -> None:
    """It is replaced by what it refers to: the wire wants an object there."""
    written = strict({"$ref": "#/$defs/Inner", "$defs": {"Inner": INNER}})
    assert (written["type"], written["required"]) == ("object", ["x", "y"])


def test_keywords_that_only_narrow_become_words() -> None:
    """Unless the wire takes them; the choices of numbers stay."""
    properties = {
        "a": {"type": "string", "minLength": 2, "format": "uri"},
        "b": {"type": "integer", "minimum": 1, "enum": [1, 2]},
    }
    written = strict({"type": "object", "properties": properties, "required": ["a", "b"]})["properties"]
    assert written == {
        "a": {"type": "string", "description": '(minLength: 2; format: "uri")'},
        "b": {"type": "integer", "minimum": 1, "enum": [1, 2]},
    }


def test_a_title_that_is_no_name_is_not_one() -> None:
    """The wire takes letters, digits, hyphens and underscores."""
    for title, name in (("City_1", "City_1"), ("my city", "answer"), ("x" * 65, "answer"), (None, "answer")):
        assert named({"type": "object", **({"title": title} if title else {})})["name"] == name
