"""Reading a tool call's arguments as a model wrote them: with the tolerance that loses nothing, and no more."""

from __future__ import annotations

import re
from typing import Any

from langfx_web.errors import JSONTextError
from langfx_web.json_text import loads

_ESCAPED_APOSTROPHE = re.compile(r"(\\\\)|\\'")


def read_arguments(written: object) -> dict[str, Any] | None:
    """The arguments object; None where there is none to be had, which is never repaired or guessed.

    Nothing, blank text and null are `{}`; an object is itself; a JSON string that holds an object is read once more;
    `\\'`, which JSON lacks, is an apostrophe.
    """
    if written is None:
        return {}
    if isinstance(written, str):
        return _from_text(written)
    return dict(written) if isinstance(written, dict) else None


def _from_text(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return {}
    try:
        value = _loads(text)
        if isinstance(value, str):
            value = loads(value)
    except JSONTextError:
        return None
    if value is None:
        return {}
    return value if isinstance(value, dict) else None


def _loads(text: str) -> Any:
    try:
        return loads(text)
    except JSONTextError:
        mended = _ESCAPED_APOSTROPHE.sub(lambda match: match.group(1) or "'", text)
        if mended == text:
            raise
        return loads(mended)
