"""How many members of objects a value was written with: a JSON text with as many colons gives none of them twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Count: TypeAlias = Callable[[Any], int]
"""The members of one value and of all that is in it; `ValueError` for a number that is not finite."""

_WITHOUT = frozenset({"int", "bool", "str", "none", "literal", "enum", "date", "datetime", "time", "timedelta", "uuid"})


def counted(core: Mapping[str, Any]) -> Count | None:
    """What counts the members of a type's values, from pydantic's description of it; None where they do not tell."""
    try:
        return _count(core) or _none
    except LookupError:
        return None


def _count(core: Mapping[str, Any]) -> Count | None:
    """None for values that have no members."""
    match core:
        case {"type": "float"}:
            return _finite
        case {"type": kind} if kind in _WITHOUT:
            return None
        case {"type": "default", "schema": inner}:
            return _count(inner)
        case {"type": "nullable", "schema": inner}:
            return _if_given(_count(inner))
        case {"type": "list", "items_schema": inner}:
            return _of_items(_count(inner))
        case {"type": "dict", "values_schema": inner}:
            return _of_dict(_count(inner))
        case {"type": "model", "schema": {"type": "model-fields", "fields": fields}}:
            return _of_model({name: _count(field["schema"]) for name, field in fields.items()})
        case {"type": "dataclass", "schema": {"type": "dataclass-args", "fields": fields}}:
            return _of_dataclass({field["name"]: _count(_given(field["schema"])) for field in fields})
    raise LookupError(core.get("type"))


def _none(value: Any) -> int:
    return 0


def _finite(value: float) -> int:
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return 0


def _if_given(count: Count | None) -> Count | None:
    return count and (lambda value: 0 if value is None else count(value))


def _of_items(count: Count | None) -> Count | None:
    return count and (lambda value: sum(map(count, value)))


def _of_dict(count: Count | None) -> Count:
    return lambda value: len(value) + sum(map(count or _none, value.values()))


def _of_model(fields: Mapping[str, Count | None]) -> Count:
    """A model knows which of its fields were given; defaults are in no text."""
    inner = [(name, count) for name, count in fields.items() if count]

    def members(value: Any) -> int:
        given = value.__pydantic_fields_set__
        return len(given) + sum([count(getattr(value, name)) for name, count in inner if name in given])

    return members


def _of_dataclass(fields: Mapping[str, Count | None]) -> Count:
    inner = [(name, count) for name, count in fields.items() if count]
    return lambda value: len(fields) + sum([count(getattr(value, name)) for name, count in inner])


def _given(core: Mapping[str, Any]) -> Mapping[str, Any]:
    """A dataclass does not tell whether a field with a default was given."""
    if core["type"] == "default":
        raise LookupError("default")
    return core
