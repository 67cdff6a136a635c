"""What a JSON Schema becomes for structured output."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import UnsupportedCapabilityError
from langfx_web.llms.anthropic.schema import ANTHROPIC_DIALECT
from langfx_web.llms.wire_schema import told


def shape(**properties: Any) -> dict[str, Any]:
    """An object schema."""
    return {"type": "object", "properties": properties}


def property_told(schema: dict[str, Any]) -> dict[str, Any]:
    """What a property's schema becomes."""
    result: dict[str, Any] = told(shape(x=schema), ANTHROPIC_DIALECT)["properties"]["x"]
    return result


@pytest.mark.parametrize(
    ("schema", "becomes"),
    [
        ({"type": "string", "minLength": 3}, {"type": "string", "description": "(minLength: 3)"}),
        (
            {"type": "integer", "description": "An age.", "minimum": 0, "maximum": 9},
            {"type": "integer", "description": "An age. (minimum: 0; maximum: 9)"},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "format": "color"}, {"type": "string", "description": '(format: "color")'}),
        ({"type": ["string", "null"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"oneOf": [{"type": "string"}, {"const": 1}]}, {"anyOf": [{"type": "string"}, {"const": 1}]}),
        ({"enum": ["a", 1, None]}, {"enum": ["a", 1, None]}),
        ({"enum": [{"a": 1}]}, {"description": '(enum: [{"a": 1}])'}),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "(maxItems: 3)"},
        ),
        ({"type": "array", "items": {}, "minItems": 2}, {"type": "array", "items": {}, "description": "(minItems: 2)"}),
        ({"type": "object"}, {"type": "object", "properties": {}, "additionalProperties": False}),
        ({"title": "X", "default": 5, "type": "integer"}, {"type": "integer"}),
        ({"allOf": [{"$ref": "#/$defs/A"}]}, {"allOf": [{"$ref": "#/$defs/A"}]}),
    ],
)
def test_providers_49_what_only_narrows_becomes_words(schema: dict[str, Any], becomes: dict[str, Any]) -> None:
    """Keywords that the wire lacks move into the description; the shape stays what it was."""
    assert property_told(schema) == becomes


def test_objects_are_closed_everywhere() -> None:
    """Every object, also among the definitions, says that it has no further properties."""
    schema = {
        **shape(a={"$ref": "#/$defs/A"}),
        "required": ["a"],
        "$schema": "x",
        "$defs": {"A": shape(b={"type": "null"})},
    }
    inner = {"type": "object", "properties": {"b": {"type": "null"}}, "additionalProperties": False}
    assert told(schema, ANTHROPIC_DIALECT) == {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"A": inner},
    }


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "object", "additionalProperties": True}, ["properties", "x", "additionalProperties"]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, ["properties", "x", "additionalProperties"]),
        ({"anyOf": [{"not": {}}]}, ["properties", "x", "anyOf", "0", "not"]),
        ({"items": {"patternProperties": {}}}, ["properties", "x", "items", "patternProperties"]),
        ({"if": {}, "then": {}}, ["properties", "x", "if"]),
        ({"prefixItems": []}, ["properties", "x", "prefixItems"]),
        ({"$ref": "https://else.where/schema"}, ["properties", "x", "$ref"]),
        ({"items": True}, ["properties", "x", "items"]),
    ],
)
def test_providers_49_what_would_change_the_shape_is_refused_with_its_place(
    schema: dict[str, Any], path: list[str]
) -> None:
    """A schema that the wire cannot say is refused, never silently changed."""
    with pytest.raises(UnsupportedCapabilityError, match="/".join(path).replace("$", r"\$")) as raised:
        property_told(schema)
    assert raised.value.details == {"path": path}


def test_recursion_and_other_roots_are_refused() -> None:
    """A schema that contains itself, directly or not, and one that is no object cannot be told."""
    for a, b in (("A", "A"), ("B", "A")):
        definitions = {"A": shape(x={"$ref": f"#/$defs/{a}"}), "B": shape(x={"$ref": f"#/$defs/{b}"})}
        with pytest.raises(UnsupportedCapabilityError, match="contains itself"):
            told({**shape(x={"$ref": "#/$defs/A"}), "$defs": definitions}, ANTHROPIC_DIALECT)
    with pytest.raises(UnsupportedCapabilityError, match="root"):
        told({"type": "array", "items": {}}, ANTHROPIC_DIALECT)
