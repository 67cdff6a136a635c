"""Which JSON Schema the structured output of OpenAI's wires takes in its strict form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from langfx_web.llms.wire_schema import Dialect, told

_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})

OPENAI_DIALECT = Dialect(
    name="OpenAI",
    keeps=frozenset(
        {
            "type",
            "description",
            "enum",
            "const",
            "required",
            "pattern",
            "format",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minItems",
            "maxItems",
        }
    ),
    accepts={"format": lambda name: name in _FORMATS},
    recursive=True,
    all_of=False,
)


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def named(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The strict schema under the name that the wire wants: its title, where that is one."""
    title = str(schema.get("title", ""))
    return {"name": title if _NAME.fullmatch(title) else "answer", "schema": strict(schema)}


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict structured output wants it; `unsupported_capability` with the path of what cannot be said.

    All properties of every object are required: one that may be missing becomes a union with null. A reference with
    anything beside it is replaced by what it refers to, and so is an `allOf` of one.
    """
    required: dict[str, Any] = _all_required(told(_inlined(schema, schema, ()), OPENAI_DIALECT))
    return required


def _inlined(schema: Any, root: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if isinstance(schema, list):
        return [_inlined(item, root, within) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and len(schema) > 1:
        target = _target(reference, root)
        if reference in within or target is None:
            return {"$ref": reference}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _inlined({**target, **beside}, root, (*within, reference))
    only = schema.get("allOf")
    if isinstance(only, list) and len(only) == 1 and isinstance(only[0], Mapping):
        beside = {key: value for key, value in schema.items() if key != "allOf"}
        return _inlined({**only[0], **beside}, root, within)
    return {key: _inlined(value, root, within) for key, value in schema.items()}


def _target(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a reference within the document refers to; None where there is no object."""
    found: Any = root
    for step in reference.removeprefix("#/").split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _all_required(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_all_required(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _all_required(value) for key, value in schema.items()}
    if result.get("type") == "object" and isinstance(result.get("properties"), dict):
        required = result.get("required") or []
        properties = result["properties"]
        result["properties"] = {
            name: value if name in required else _nullable(value) for name, value in properties.items()
        }
        result["required"] = list(properties)
    return result


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    null = {"type": "null"}
    options = schema.get("anyOf")
    if options is None:
        return {"anyOf": [schema, null]}
    return schema if null in options else {**schema, "anyOf": [*options, null]}
