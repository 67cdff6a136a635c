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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: _is_number(value) and value == value // 1,
    "number": _is_number,
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
        return _settle(document, document, value)


def _settle(root: Mapping[str, Any], schema: Any, value: Any) -> Any:
    if not isinstance(schema, Mapping) or _is_settled(value):
        return value
    schema = _resolve(root, schema)
    arms = [_resolve(root, arm) for arm in schema.get("anyOf", ())] or [schema]
    kinds = set[str]().union(*(_kinds(arm) or _KINDS.keys() for arm in arms))
    if isinstance(value, float) and "integer" in kinds and "number" not in kinds and value.is_integer():
        return int(value)
    if isinstance(value, str) and kinds & {"array", "object"} and "string" not in kinds:
        value = _decoded(value, kinds)
    if isinstance(value, dict):
        return _settle_object(root, [arm for arm in arms if "object" in _kinds(arm)], value)
    if isinstance(value, list):
        return _settle_array(root, [arm for arm in arms if "array" in _kinds(arm)], value)
    return value


def _is_settled(value: Any) -> bool:
    """Whether no schema would make anything else of a value: most scalars are neither a whole float nor JSON text."""
    kind = type(value)
    if kind is str:
        return value.lstrip()[:1] not in ("[", "{")
    return kind is int or kind is bool or value is None


def _settle_object(root: Mapping[str, Any], arms: list[Mapping[str, Any]], value: dict[str, Any]) -> dict[str, Any]:
    """By the one form that it can have: of several, one that knows all of its members."""
    if len(arms) > 1:
        arms = [arm for arm in arms if value.keys() <= arm.get("properties", {}).keys()]
    if len(arms) != 1:
        return value
    members, rest = arms[0].get("properties", {}), arms[0].get("additionalProperties")
    return {key: _settle(root, members.get(key, rest), member) for key, member in value.items()}


def _settle_array(root: Mapping[str, Any], arms: list[Mapping[str, Any]], value: list[Any]) -> list[Any]:
    if len(arms) != 1:
        return value
    first, rest = arms[0].get("prefixItems", ()), arms[0].get("items")
    return [_settle(root, first[at] if at < len(first) else rest, member) for at, member in enumerate(value)]


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
        return list(_Checker(document).check(document, value, ()))


@contextmanager
def _refusing_bad_documents() -> Iterator[None]:
    """What is no schema fails in as many ways as there are keywords."""
    try:
        yield
    except (TypeError, AttributeError, ValueError, re.error) as error:
        if isinstance(error, SchemaError):
            raise
        raise SchemaError(f"not a JSON Schema: {error}") from error


class _Checker:
    """Checks values against one document; what was found of an arm and a value is not looked for again."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._known: dict[tuple[int, int, Path], list[Problem] | None] = {}

    def check(self, schema: Any, value: Any, path: Path) -> Iterator[Problem]:
        if schema is True or not isinstance(schema, Mapping):
            if schema is False:
                yield Problem(type="extra_forbidden", path=path, message="Extra inputs are not permitted")
            return
        schema = _resolve(self._document, schema)
        kinds = _kinds(schema)
        if kinds and not any(_fits(kind, value) for kind in kinds):
            kind = next(iter(sorted(kinds)))
            message = f"Input should be {_article(kinds)}"
            yield Problem(type=f"{_TYPE_PROBLEMS.get(kind, kind)}_type", path=path, message=message)
            return
        if "enum" in schema and not any(_equal(value, member) for member in schema["enum"]):
            yield Problem(type="enum", path=path, message=f"Input should be one of {dumps(schema['enum'])[:200]}")
        if "const" in schema and not _equal(value, schema["const"]):
            yield Problem(type="literal_error", path=path, message=f"Input should be {dumps(schema['const'])[:200]}")
        yield from self._check_arms(schema, value, path)
        if isinstance(value, dict):
            yield from self._check_object(schema, value, path)
        elif isinstance(value, list):
            yield from self._check_array(schema, value, path)
        elif isinstance(value, str):
            yield from _check_string(schema, value, path)
        elif _is_number(value):
            yield from _check_number(schema, value, path)

    def _check_arms(self, schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Problem]:
        for arm in schema.get("allOf", ()):
            yield from self._arm(arm, value, path)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                fitting = sum(not self._arm(arm, value, path) for arm in schema[keyword])
                if fitting == 0 or (keyword == "oneOf" and fitting > 1):
                    message = f"Input fits {fitting} of the {len(schema[keyword])} forms allowed here"
                    yield Problem(type="union_error", path=path, message=message)
        if "not" in schema and not self._arm(schema["not"], value, path):
            yield Problem(type="not_allowed", path=path, message="Input has a form that is not allowed here")

    def _arm(self, arm: Any, value: Any, path: Path) -> list[Problem]:
        """What is wrong with the value by another schema for the same place."""
        key = (id(arm), id(value), path)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = list(self.check(arm, value, path))
        found = self._known[key]
        if found is None:
            raise SchemaError("a schema leads to itself at the same place")
        return found

    def _check_object(self, schema: Mapping[str, Any], value: dict[str, Any], path: Path) -> Iterator[Problem]:
        members = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                yield Problem(type="missing", path=(*path, name), message="Field required")
        rest = schema.get("additionalProperties", True)
        patterns = schema.get("patternProperties", ())
        for name, member in value.items():
            if name in members or not any(re.search(pattern, name) for pattern in patterns):
                yield from self.check(members.get(name, rest), member, (*path, name))

    def _check_array(self, schema: Mapping[str, Any], value: list[Any], path: Path) -> Iterator[Problem]:
        if len(value) < schema.get("minItems", 0):
            message = f"List should have at least {schema['minItems']} items"
            yield Problem(type="too_short", path=path, message=message)
        if len(value) > schema.get("maxItems", math.inf):
            yield Problem(type="too_long", path=path, message=f"List should have at most {schema['maxItems']} items")
        if schema.get("uniqueItems") and len(set(map(_key, value))) < len(value):
            yield Problem(type="unique_items", path=path, message="List items should be unique")
        first = schema.get("prefixItems", ())
        for index, member in enumerate(value):
            wanted = first[index] if index < len(first) else schema.get("items", True)
            yield from self.check(wanted, member, (*path, index))


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
    if step and not _is_multiple(value, step):
        yield Problem(type="multiple_of", path=path, message=f"Input should be a multiple of {step}")


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    try:
        parts = value / step
    except OverflowError:
        return True  # no float is exact that far out
    return not math.isfinite(parts) or math.isclose(parts, round(parts), rel_tol=0, abs_tol=1e-9)


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
        try:
            target = target[int(name) if isinstance(target, list) else name]
        except (LookupError, TypeError, ValueError):
            raise SchemaError(f"{reference!r} leads nowhere") from None
    if not isinstance(target, Mapping):
        raise SchemaError(f"{reference!r} does not lead to a schema")
    return target


def _fits(kind: str, value: object) -> bool:
    return kind not in _KINDS or _KINDS[kind](value)


def _equal(one: object, other: object) -> bool:
    """Equality of JSON values: 1.0 is 1, true is not, and the order of members means nothing."""
    return bool(_key(one) == _key(other))


def _key(value: Any) -> Any:
    """What is equal for equal JSON values, and has a hash."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(member)) for name, member in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_key, value))
    return value if isinstance(value, str) or _is_number(value) else (type(value), value)


def _article(kinds: set[str]) -> str:
    names = sorted(kinds)
    return " or ".join(f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in names)
