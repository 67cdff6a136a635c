"""Values of a schema written as a model should write them, for examples; reading one back gives an equal value."""

from __future__ import annotations

import json
from typing import Any

from langfx_web.protocols.shape import Wanted
from langfx_web.schemas.tree import ObjectNode, SetNode


def python_text(value: Any, schema: Wanted) -> str:
    """The value as one assignment in a fenced block: an argument a line, two spaces a level."""
    return f"```python\noutput = {_python(schema.tree(value), '')}\n```"


def json_text(value: Any, schema: Wanted) -> str:
    """The value as JSON on one line, non-ASCII as it is."""
    text = json.dumps(schema.plain(schema.tree(value)), ensure_ascii=False, allow_nan=False)
    # A text alone has no bracket that shows where the value begins, so that a fence in it would.
    return text.replace("```", r"\u0060" * 3) if text.startswith('"') else text


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
