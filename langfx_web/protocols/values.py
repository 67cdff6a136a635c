"""Values of a schema written as a model should write them, for examples; reading one back gives an equal value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from langfx_web.protocols.shape import Wanted
from langfx_web.schemas import as_text
from langfx_web.schemas.tree import EnumNode, MarkNode, ObjectNode, SetNode
from langfx_web.schemas.unknown import UNKNOWN

_PLAIN = (str, bytes, bool, int, float, type(None))


def python_text(value: Any, schema: Wanted) -> str:
    """The value as one assignment in a fenced block: an argument a line, two spaces a level."""
    return f"```python\noutput = {_python(taken(value, schema), '')}\n```"


def json_text(value: Any, schema: Wanted) -> str:
    """The value as JSON on one line, non-ASCII as it is."""
    return json.dumps(plain(value, schema), ensure_ascii=False, allow_nan=False)


def plain(value: Any, schema: Wanted) -> Any:
    """What reading the JSON of a value gives."""
    return _json(taken(value, schema), schema)


def taken(value: Any, schema: Wanted) -> Any:
    """The tree that a schema would build the value from; nodes of it may stand among the values."""
    names = {type_: name for name, type_ in schema.classes.items()}
    enums = {type_: name for name, type_ in schema.enums.items()}

    def take(item: Any) -> Any:
        if type(item) in names:
            name = names[type(item)]
            return ObjectNode(name, (), {field: take(getattr(item, field)) for field in schema.fields(name)})
        if isinstance(item, Enum) and type(item) in enums:
            return EnumNode(enums[type(item)], item.name) if item.name else item.value
        if item is UNKNOWN or isinstance(item, _PLAIN):
            return item.value if isinstance(item, Enum) else item
        if isinstance(item, ObjectNode):
            return ObjectNode(item.class_name, (), {name: take(member) for name, member in item.fields.items()})
        if isinstance(item, MarkNode):
            return item
        if isinstance(item, Mapping):
            return {take(key): take(member) for key, member in item.items()}
        if isinstance(item, (set, frozenset)):
            return SetNode(tuple(sorted(map(take, item), key=repr)))
        if isinstance(item, (list, tuple)):
            return type(item)(map(take, item))
        return as_text(item)

    return take(value)


def _python(tree: Any, indent: str) -> str:
    if isinstance(tree, ObjectNode):
        return _lines(f"{tree.class_name}(", [(f"{name}=", item) for name, item in tree.fields.items()], ")", indent)
    if isinstance(tree, dict):
        members = [(f"{_python(key, '')}: ", item) for key, item in tree.items()]
        return _inline_or_lines("{", members, "}", indent)
    if isinstance(tree, SetNode):
        return _inline_or_lines("{", [("", item) for item in tree.items], "}", indent) if tree.items else "set()"
    if isinstance(tree, tuple):
        closer = ",)" if len(tree) == 1 else ")"
        return _inline_or_lines("(", [("", item) for item in tree], closer, indent)
    if isinstance(tree, list):
        return _inline_or_lines("[", [("", item) for item in tree], "]", indent)
    return repr(tree)


def _inline_or_lines(opener: str, members: list[tuple[str, Any]], closer: str, indent: str) -> str:
    if any(isinstance(item, (ObjectNode, dict, SetNode, tuple, list)) for _, item in members):
        return _lines(opener, members, closer, indent)
    return opener + ", ".join(before + repr(item) for before, item in members) + closer


def _lines(opener: str, members: list[tuple[str, Any]], closer: str, indent: str) -> str:
    if not members:
        return opener + closer
    deeper = indent + "  "
    lines = ",\n".join(f"{deeper}{before}{_python(item, deeper)}" for before, item in members)
    return f"{opener}\n{lines}\n{indent}{closer}"


def _json(tree: Any, schema: Wanted) -> Any:
    if isinstance(tree, ObjectNode):
        aliases = schema.aliases(tree.class_name)
        return {aliases[name]: _json(item, schema) for name, item in tree.fields.items()}
    if isinstance(tree, dict):
        return {_key(_json(key, schema)): _json(item, schema) for key, item in tree.items()}
    if isinstance(tree, (list, tuple, SetNode)):
        return [_json(item, schema) for item in (tree.items if isinstance(tree, SetNode) else tree)]
    if isinstance(tree, EnumNode):
        return schema.enums[tree.enum_name][tree.member].value
    if tree is UNKNOWN or isinstance(tree, MarkNode):
        return repr(tree)
    return tree.decode() if isinstance(tree, bytes) else tree


def _key(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key)
