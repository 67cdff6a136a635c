"""Typed values back into trees and plain JSON: the way that reading goes, the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from langfx_web.json_text import dumps
from langfx_web.schemas import adapters
from langfx_web.schemas.compiling import Compiled
from langfx_web.schemas.objects import ClassForm
from langfx_web.schemas.tree import EnumNode, MarkNode, ObjectNode, SetNode
from langfx_web.schemas.unknown import UNKNOWN

_PLAIN = (str, bytes, bool, int, float, type(None))
_SIMPLE = frozenset({str, int, float, bool, type(None)})


def tree_of(value: Any, compiled: Compiled) -> Any:
    """The tree that the value would be built from; nodes of it may stand among the values."""
    forms = {form.origin: form for form in reversed(compiled.classes.values())}
    enums = {type_: name for name, type_ in compiled.enums.items()}

    def take(item: Any) -> Any:
        if type(item) in _SIMPLE:
            return item
        form = forms.get(type(item))
        if form is not None:
            return ObjectNode(form.name, (), {name: take(member) for name, member in _members(item, form).items()})
        if isinstance(item, Enum):
            return EnumNode(enums[type(item)], item.name) if type(item) in enums and item.name else take(item.value)
        if item is UNKNOWN or isinstance(item, _PLAIN):
            return item
        if isinstance(item, ObjectNode):
            return ObjectNode(item.class_name, (), {name: take(member) for name, member in item.fields.items()})
        if isinstance(item, MarkNode):
            return item
        if isinstance(item, Mapping):
            return {take(key): take(member) for key, member in item.items()}
        if isinstance(item, (set, frozenset)):
            return SetNode(tuple(sorted(map(take, item), key=repr)))
        if isinstance(item, (list, tuple)):
            return (tuple if isinstance(item, tuple) else list)(map(take, item))
        return adapters.as_text(item)

    return take(value)


def _members(item: Any, form: ClassForm) -> dict[str, Any]:
    """What an instance holds of its fields; those that only its constructor is given are lost."""
    kept: dict[str, Any] = {}
    for name, missing in form.written:
        value = getattr(item, name)
        if value is not missing:
            kept[name] = value
    return kept if form.rest is None else kept | (getattr(item, "__pydantic_extra__", None) or {})


def written(value: Any, compiled: Compiled) -> Any:
    """The JSON form of a typed value: aliases, members' values, text for what JSON has as text."""
    return plain_of(tree_of(value, compiled), compiled)


def plain_of(tree: Any, compiled: Compiled) -> Any:
    """What reading the JSON of a tree's value gives."""
    if type(tree) in _SIMPLE:
        return tree
    if isinstance(tree, ObjectNode):
        return _object(tree, compiled)
    if isinstance(tree, dict):
        return {_key(plain_of(key, compiled)): plain_of(item, compiled) for key, item in tree.items()}
    if isinstance(tree, (list, tuple, SetNode)):
        return [plain_of(item, compiled) for item in (tree.items if isinstance(tree, SetNode) else tree)]
    if isinstance(tree, EnumNode):
        return plain_of(compiled.enums[tree.enum_name][tree.member].value, compiled)
    if tree is UNKNOWN or isinstance(tree, MarkNode):
        return repr(tree)
    return tree.decode() if isinstance(tree, bytes) else tree


def _object(tree: ObjectNode, compiled: Compiled) -> Any:
    form = compiled.classes[tree.class_name]
    if form.is_root:
        return plain_of(tree.fields["root"], compiled)
    if form.is_tuple:
        return [plain_of(item, compiled) for item in tree.fields.values()]
    names = {member.name: member.alias for member in form.members.values()}
    return {names.get(name, name): plain_of(item, compiled) for name, item in tree.fields.items()}


def _key(key: Any) -> str:
    return key if isinstance(key, str) else dumps(key)
