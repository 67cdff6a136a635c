"""What of a JSON Schema a wire's structured output can be told: the shape must fit, what only narrows becomes words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import UnsupportedCapabilityError

_SHAPING = (
    "patternProperties",
    "not",
    "if",
    "then",
    "else",
    "prefixItems",
    "dependentSchemas",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
)
"""Keywords that change which values fit in ways that words do not carry."""

_UNTOLD = ("$schema", "$id", "$comment", "title", "examples", "default", "deprecated", "readOnly", "writeOnly")
"""Keywords that say nothing of the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What one wire takes: keywords kept as they are, and for some of them which values."""

    name: str
    keeps: frozenset[str]
    accepts: Mapping[str, Callable[[Any], bool]]
    recursive: bool
    all_of: bool = True


def told(schema: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    """The schema in a wire's dialect; `unsupported_capability` with the path of what cannot be said in it.

    Absent `additionalProperties` become false; keywords that the wire lacks move into `description`.
    """
    if schema.get("type") != "object" and "$ref" not in schema:
        raise _refused(dialect, (), "the root is no object")
    if not dialect.recursive:
        _refuse_recursion(schema, dialect)
    return _told(schema, dialect, ())


def _told(schema: Any, dialect: Dialect, path: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        raise _refused(dialect, path, f"{schema!r} as a schema")
    for keyword in _SHAPING:
        if keyword in schema:
            raise _refused(dialect, (*path, keyword), keyword)
    result: dict[str, Any] = {}
    words: list[str] = []
    for keyword, value in schema.items():
        _tell(keyword, value, dialect, path, result, words)
    if isinstance(schema.get("type"), list):
        result["anyOf"] = [{"type": kind} for kind in schema["type"]]
    if schema.get("type") == "object":
        result.setdefault("properties", {})
        result["additionalProperties"] = False
    if words:
        result["description"] = " ".join([*filter(None, [result.get("description")]), f"({'; '.join(words)})"])
    return result


def _tell(
    keyword: str, value: Any, dialect: Dialect, path: tuple[str, ...], result: dict[str, Any], words: list[str]
) -> None:
    below = (*path, keyword)
    match keyword:
        case "properties" | "$defs" | "definitions":
            named = value.items() if isinstance(value, Mapping) else ()
            result[keyword] = {name: _told(item, dialect, (*below, name)) for name, item in named}
        case "items":
            result[keyword] = _told(value, dialect, below)
        case "allOf" if not dialect.all_of:
            raise _refused(dialect, below, "allOf")
        case "anyOf" | "oneOf" | "allOf":
            options = [_told(item, dialect, (*below, str(place))) for place, item in enumerate(value)]
            result["allOf" if keyword == "allOf" else "anyOf"] = options
        case "additionalProperties":
            if value is not False:
                raise _refused(dialect, below, "an object with further properties")
        case "$ref":
            if not str(value).startswith("#/"):
                raise _refused(dialect, below, f"the reference {value!r}")
            result[keyword] = value
        case "type" if isinstance(value, list):
            pass
        case _ if keyword in dialect.keeps and dialect.accepts.get(keyword, _anything)(value):
            result[keyword] = value
        case _ if keyword in _UNTOLD:
            pass
        case _:
            words.append(f"{keyword}: {json.dumps(value, ensure_ascii=False)}")


def _anything(_: Any) -> bool:
    return True


def _refuse_recursion(root: Mapping[str, Any], dialect: Dialect) -> None:
    """Follow each definition's references; one that leads back to itself is refused."""
    definitions = {
        f"#/{key}/{name}": item for key in ("$defs", "definitions") for name, item in root.get(key, {}).items()
    }
    uses = {name: _references(item) for name, item in definitions.items()}
    for name in uses:
        reached: set[str] = set()
        pending = list(uses[name])
        while pending:
            other = pending.pop()
            if other == name or other == "#":
                raise _refused(dialect, tuple(name.split("/")[1:]), "a schema that contains itself")
            if other not in reached:
                reached.add(other)
                pending += uses.get(other, ())


def _references(schema: Any) -> set[str]:
    found: set[str] = set()
    pending = [schema]
    while pending:
        item = pending.pop()
        if isinstance(item, Mapping):
            if isinstance(item.get("$ref"), str):
                found.add(item["$ref"])
            pending += item.values()
        elif isinstance(item, list):
            pending += item
    return found


def _refused(dialect: Dialect, path: tuple[str, ...], what: str) -> UnsupportedCapabilityError:
    place = "/".join(("#", *path))
    return UnsupportedCapabilityError(
        f"the {dialect.name} wire cannot be told {what} (at {place})", details={"path": list(path)}
    )
