"""JSON texts that pydantic may read on its own: those of types whose values it takes exactly as the forms do.

It is asked in its strict mode, with unknown keys refused. What it then accepts, the forms would have built the same;
where it refuses they are asked, so that what is wrong, and where, is theirs alone to say. Types that run an author's
code are left to them, since that code would run once more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from langfx_web.errors import JSONTextError, SchemaError
from langfx_web.json_text import check_depth, is_unambiguous
from langfx_web.schemas import adapters
from langfx_web.schemas.members import Count, counted
from langfx_web.schemas.objects import ClassForm

_SCALARS = frozenset({"int", "float", "bool", "str", "none", "date", "datetime", "time", "timedelta", "uuid"})
_ANYTHING = {"type": "any"}
_FACTORIES = (None, list, dict, set, tuple, frozenset)
_HARMLESS = frozenset({"title", "extra_fields_behavior"})
"""Settings of a class that change nothing of what strict reading takes."""


class Direct:
    """Reads texts of one type; `levels` is how deep they may nest, infinite for a type that contains itself.

    `count` tells the members that a value was written with, where it can be known.
    """

    def __init__(self, type_: Any, levels: float, count: Count | None) -> None:
        self._type = type_
        self._levels = levels
        self._count = count

    def read(self, text: str, *, max_depth: int) -> tuple[Any] | None:
        """The value of a text that is one JSON document, in a tuple of one; None where the forms must be asked."""
        try:
            if self._levels > max_depth:
                check_depth(text, max_depth)
            value = adapters.read_json(self._type, text)
            # Strings with colons are the usual reason for more of them.
            if self._count is not None and self._count(value) == text.count(":"):
                return (value,)
            return (value,) if is_unambiguous(text) else None
        except (JSONTextError, ValueError):
            return None


def direct(type_: Any, classes: Mapping[type, ClassForm]) -> Direct | None:
    """What reads the type's texts, where pydantic may; `classes` has the form of each class in it."""
    try:
        core = adapters.core_schema(type_)
    except SchemaError:
        return None
    levels = _levels(core, classes)
    return None if levels is None else Direct(type_, levels, counted(core))


def _levels(core: Mapping[str, Any], classes: Mapping[type, ClassForm]) -> float | None:
    """How deep the values of a part of pydantic's description nest; None where it is not for pydantic alone."""
    parts: list[Mapping[str, Any]]
    own = 0.0
    match core:
        case {"type": kind} if kind in _SCALARS:
            return 0
        case {"type": "any"} | {"type": "definition-ref"}:
            return math.inf
        case {"type": "literal", "expected": values}:
            return 0 if all(type(value) is str for value in values) else None
        case {"type": "enum", "members": members}:
            return 0 if not core.get("missing") and all(type(item.value) is str for item in members) else None
        case {"type": "nullable", "schema": inner}:
            parts = [inner]
        case {"type": "default", "schema": inner} if core.get("default_factory") in _FACTORIES:
            parts = [inner]
        case {"type": "definitions", "schema": inner, "definitions": definitions}:
            parts = [inner, *definitions]
        case {"type": "list" | "set" | "frozenset"}:
            parts, own = [core.get("items_schema", _ANYTHING)], 1
        case {"type": "tuple", "items_schema": parts}:
            own = 1
        case {"type": "dict", "keys_schema": {"type": "str"}}:
            parts, own = [core.get("values_schema", _ANYTHING)], 1
        case {"type": "model" | "dataclass", "cls": type_, "schema": inner} if _is_plain(core, classes.get(type_)):
            parts, own = [field["schema"] for field in _fields(inner).values()], 1
        case {"type": "typed-dict", "fields": fields} if core.get("config", {}).keys() <= _HARMLESS:
            parts, own = [field["schema"] for field in fields.values()], 1
        case _:
            return None
    below = [_levels(part, classes) for part in parts]
    return None if None in below else own + max([0.0, *filter(None, below)])


def _is_plain(core: Mapping[str, Any], form: ClassForm | None) -> bool:
    """Whether a class stands for itself alone, shows all of its fields, and runs no code of its author."""
    if form is None or form.offered != [form] or core.get("config", {}).keys() - _HARMLESS:
        return False
    if any(core.get(hook) for hook in ("custom_init", "post_init", "root_model")):
        return False
    aliases = {name: field.get("validation_alias", name) for name, field in _fields(core["schema"]).items()}
    return aliases == {member.name: None if member.is_hidden else member.alias for member in form.members.values()}


def _fields(core: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The fields of a class by name; one that no argument sets has no place among them."""
    match core:
        case {"type": "model-fields", "fields": fields} if not core.get("extras_schema"):
            return dict(fields)
        case {"type": "dataclass-args", "fields": fields} if all(field.get("init", True) for field in fields):
            return {field["name"]: field for field in fields}
    return {"": {}}
