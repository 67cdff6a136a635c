"""JSON Schema documents (2020-12): plain values checked against them, and what wires blur settled by them.

Checked keywords: type, enum, const, properties, required, additionalProperties, items, prefixItems, minItems, maxItems,
uniqueItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, anyOf,
oneOf, allOf, not, and local `$ref`. Others go to the model as written and are not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import JSONTextError, SchemaError
from langfx_web.json_text import Path, dumps, loads

_KINDS: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}
_TYPE_PROBLEMS = {"object": "dict", "array": "list", "boolean": "bool", "integer": "int", "number": "float"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One way in which a value does not fit; `type` is named as pydantic names it."""

    type: str
    path: Path
    message: str

    def to_plain(self) -> dict[str, Any]:
        """The JSON form."""
        return {"type": self.type, "path": list(self.path), "message": self.message}


def settle(document: Mapping[str, Any], value: Any) -> Any:
    """The value with what wires cannot tell apart settled by the schema, nothing else converted.

    An integral number is an integer where one is wanted; a text that parses to a wanted array or object is that, once.
    """
    with _refusing_bad_documents():
        return _settle(document, _resolve(document, document), value)


def _settle(root: Mapping[str, Any], schema: Mapping[str, Any], value: Any) -> Any:
    arms = [_resolve(root, arm) for arm in schema.get("anyOf", ())] or [schema]
    kinds = set[str]().union(*map(_kinds, arms))
    if isinstance(value, float) and "integer" in kinds and "number" not in kinds and value.is_integer():
        return int(value)
    if isinstance(value, str) and kinds & {"array", "object"} and "string" not in kinds:
        value = _decoded(value, kinds)
    kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None
    fitting = [arm for arm in arms if not _kinds(arm) or kind in _kinds(arm)]
    if kind is None or len(fitting) != 1:
        return value
    if isinstance(value, dict):
        members = fitting[0].get("properties", {})
        return {
            key: _settle(root, _resolve(root, members[key]), member) if key in members else member
            for key, member in value.items()
        }
    items = fitting[0].get("items")
    return [_settle(root, _resolve(root, items), member) for member in value] if isinstance(items, Mapping) else value


def _decoded(text: str, kinds: set[str]) -> Any:
    try:
        value = loads(text)
    except JSONTextError:
        return text
    return value if any(_KINDS[kind](value) for kind in kinds & {"array", "object"}) else text


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    kinds = schema.get("type")
    return {kinds} if isinstance(kinds, str) else set(kinds or ())


def check(document: Mapping[str, Any], value: Any) -> list[Problem]:
    """Everything about a plain value that does not fit the document, in reading order.

    `SchemaError` where the document is no schema.
    """
    with _refusing_bad_documents():
        return list(_check(document, document, value, ()))


@contextmanager
def _refusing_bad_documents() -> Iterator[None]:
    """What is no schema fails in as many ways as there are keywords."""
    try:
        yield
    except (TypeError, AttributeError, ValueError, re.error) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"not a JSON Schema: {error}") from error


def _check(root: Mapping[str, Any], schema: Any, value: Any, path: Path) -> Iterator[Problem]:
    if schema is True or not isinstance(schema, Mapping):
        if schema is False:
            yield Problem(type="extra_forbidden", path=path, message="Extra inputs are not permitted")
        return
    schema = _resolve(root, schema)
    kinds = _kinds(schema)
    if kinds and not any(_fits(kind, value) for kind in kinds):
        kind = next(iter(sorted(kinds)))
        yield Problem(
            type=f"{_TYPE_PROBLEMS.get(kind, kind)}_type", path=path, message=f"Input should be {_article(kinds)}"
        )
        return
    if "enum" in schema and not any(_equal(value, member) for member in schema["enum"]):
        yield Problem(type="enum", path=path, message=f"Input should be one of {dumps(schema['enum'])[:200]}")
    if "const" in schema and not _equal(value, schema["const"]):
        yield Problem(type="literal_error", path=path, message=f"Input should be {dumps(schema['const'])[:200]}")
    yield from _check_arms(root, schema, value, path)
    if isinstance(value, dict):
        yield from _check_object(root, schema, value, path)
    elif isinstance(value, list):
        yield from _check_array(root, schema, value, path)
    elif isinstance(value, str):
        yield from _check_string(schema, value, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _check_number(schema, value, path)


def _check_arms(root: Mapping[str, Any], schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Problem]:
    for arm in schema.get("allOf", ()):
        yield from _check(root, arm, value, path)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            fitting = sum(not any(_check(root, arm, value, path)) for arm in schema[keyword])
            if fitting == 0 or (keyword == "oneOf" and fitting > 1):
                message = f"Input fits {fitting} of the {len(schema[keyword])} forms allowed here"
                yield Problem(type="union_error", path=path, message=message)
    if "not" in schema and not any(_check(root, schema["not"], value, path)):
        yield Problem(type="not_allowed", path=path, message="Input has a form that is not allowed here")


def _check_object(
    root: Mapping[str, Any], schema: Mapping[str, Any], value: dict[str, Any], path: Path
) -> Iterator[Problem]:
    members = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(type="missing", path=(*path, name), message="Field required")
    rest = schema.get("additionalProperties", True)
    for name, member in value.items():
        yield from _check(root, members.get(name, rest), member, (*path, name))


def _check_array(root: Mapping[str, Any], schema: Mapping[str, Any], value: list[Any], path: Path) -> Iterator[Problem]:
    if len(value) < schema.get("minItems", 0):
        yield Problem(type="too_short", path=path, message=f"List should have at least {schema['minItems']} items")
    if len(value) > schema.get("maxItems", math.inf):
        yield Problem(type="too_long", path=path, message=f"List should have at most {schema['maxItems']} items")
    if schema.get("uniqueItems") and any(_equal(a, b) for i, a in enumerate(value) for b in value[:i]):
        yield Problem(type="unique_items", path=path, message="List items should be unique")
    first = schema.get("prefixItems", ())
    for index, member in enumerate(value):
        yield from _check(
            root, first[index] if index < len(first) else schema.get("items", True), member, (*path, index)
        )


def _check_string(schema: Mapping[str, Any], value: str, path: Path) -> Iterator[Problem]:
    if len(value) < schema.get("minLength", 0):
        message = f"String should have at least {schema['minLength']} characters"
        yield Problem(type="string_too_short", path=path, message=message)
    if len(value) > schema.get("maxLength", math.inf):
        message = f"String should have at most {schema['maxLength']} characters"
        yield Problem(type="string_too_long", path=path, message=message)
    if "pattern" in schema and not re.search(schema["pattern"], value):
        message = f"String should match pattern {schema['pattern']!r}"
        yield Problem(type="string_pattern_mismatch", path=path, message=message)


def _check_number(schema: Mapping[str, Any], value: float, path: Path) -> Iterator[Problem]:
    if value < schema.get("minimum", -math.inf):
        message = f"Input should be greater than or equal to {schema['minimum']}"
        yield Problem(type="greater_than_equal", path=path, message=message)
    if value > schema.get("maximum", math.inf):
        message = f"Input should be less than or equal to {schema['maximum']}"
        yield Problem(type="less_than_equal", path=path, message=message)
    if value <= schema.get("exclusiveMinimum", -math.inf):
        message = f"Input should be greater than {schema['exclusiveMinimum']}"
        yield Problem(type="greater_than", path=path, message=message)
    if value >= schema.get("exclusiveMaximum", math.inf):
        message = f"Input should be less than {schema['exclusiveMaximum']}"
        yield Problem(type="less_than", path=path, message=message)
    step = schema.get("multipleOf")
    if step and not math.isclose(value / step, round(value / step), rel_tol=0, abs_tol=1e-9):
        yield Problem(type="multiple_of", path=path, message=f"Input should be a multiple of {step}")


def _resolve(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(64):
        reference = schema.get("$ref")
        if reference is None:
            return schema
        rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        schema = {**_referred(root, reference), **rest}
    raise SchemaError("a $ref leads in a circle")


def _referred(root: Mapping[str, Any], reference: Any) -> Mapping[str, Any]:
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise SchemaError(f"only local references can be followed, not {reference!r}")
    target: Any = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(target, Mapping) or name not in target:
            raise SchemaError(f"{reference!r} leads nowhere")
        target = target[name]
    if not isinstance(target, Mapping):
        raise SchemaError(f"{reference!r} does not lead to a schema")
    return target


def _fits(kind: str, value: object) -> bool:
    return kind not in _KINDS or _KINDS[kind](value)


def _equal(one: object, other: object) -> bool:
    """Equality of JSON values: true is not 1."""
    return dumps(one) == dumps(other) if isinstance(one, (dict, list)) else type(one) is type(other) and one == other


def _article(kinds: set[str]) -> str:
    names = sorted(kinds)
    return " or ".join(f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in names)
