"""JSON text as a tree, where the language's own reader takes it."""

from __future__ import annotations

import re
from typing import Any

from langfx_web.errors import JSONTextError
from langfx_web.json_text import check_depth, read_prefix
from langfx_web.protocols.limits import ParseLimits
from langfx_web.protocols.tolerant import MAX_DIGITS

_HALF_CHARACTER = re.compile(r"[\ud800-\udfff\0]|\\u[dD][89a-fA-F]")
_LONG_NUMBER = re.compile(rf"(?<![0-9])[0-9]{{{MAX_DIGITS}}}")
_END = re.compile(r"[ \t\r\n]*(?:\Z|`{3,}|~{3,})")


def strict_tree(text: str, *, limits: ParseLimits) -> tuple[Any] | None:
    """The value that the text begins with, in a tuple of one; None where only the tolerant reader can tell."""
    if text.count(",") + text.count("[") + text.count("{") >= limits.max_nodes or _HALF_CHARACTER.search(text):
        return None
    if len(text) > MAX_DIGITS and _LONG_NUMBER.search(text):
        return None
    try:
        check_depth(text, limits.max_depth)
        value, end = read_prefix(text)
    except JSONTextError:
        return None
    if not isinstance(value, (dict, list)) and not _END.match(text, end):
        return None
    return (value,)
