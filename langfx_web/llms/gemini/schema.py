"""Which JSON Schema Gemini takes: of structured answers a dialect, and of enums everywhere only texts with a type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langfx_web.llms.wire_schema import Dialect, told

_FORMATS = frozenset({"date-time", "date", "time", "int32", "int64", "float", "double"})

GEMINI_DIALECT = Dialect(
    name="Gemini",
    keeps=frozenset(
        {
            "type",
            "format",
            "title",
            "description",
            "enum",
            "required",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "pattern",
        }
    ),
    accepts={"format": lambda name: name in _FORMATS},
    recursive=True,
    all_of=False,
)

_OF_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties")
_TYPES = {bool: "boolean", int: "integer", float: "number", type(None): "null"}


def answer_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a structured answer; `unsupported_capability` with the path of what cannot be said."""
    return told(text_enums(schema), GEMINI_DIALECT)


def text_enums(schema: Any) -> Any:
    """The schema with every enum a list of texts with a type; other choices become words of the description."""
    if isinstance(schema, list):
        return [text_enums(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _OF_SCHEMAS and isinstance(value, Mapping):
            result[key] = {name: text_enums(item) for name, item in value.items()}
        elif key not in ("enum", "const", "default", "examples"):
            result[key] = text_enums(value)
        elif key not in ("enum", "const"):
            result[key] = value
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list):
        _tell_choices(result, choices)
    return result


def _tell_choices(schema: dict[str, Any], choices: list[Any]) -> None:
    if all(isinstance(choice, str) for choice in choices):
        schema["enum"] = choices
        schema.setdefault("type", "string")
        return
    kinds = list(dict.fromkeys(_TYPES.get(type(choice), "string") for choice in choices))
    schema.setdefault("type", kinds[0] if len(kinds) == 1 else kinds)
    words = "one of: " + ", ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    schema["description"] = " ".join([*filter(None, [schema.get("description")]), f"({words})"])
