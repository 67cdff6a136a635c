"""What an author may say of a tool, checked where it is said."""

from __future__ import annotations

import math
import re
from typing import Any, Literal, TypeAlias, get_args

from langfx_web.deadline import is_seconds
from langfx_web.errors import InvalidValueError

OnCollision: TypeAlias = Literal["error", "replace", "keep"]
"""What becomes of a tool whose name is taken: it is refused, takes the other's place, or is left out."""

MAX_TEXT = 64 * 1024
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_RESERVED_PREFIX = "artifact_"


def invalid(name: object, why: str) -> InvalidValueError:
    """The error for what is wrong with the declaration of a tool."""
    return InvalidValueError(f"tool {name!r}: {why}", code="invalid_tool")


def checked_name(name: Any) -> str:
    """A name that every provider takes, and that is not one of ours."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise invalid(name, "a name has letters, digits, _ and -, does not begin with a digit, and is not above 64")
    if name.startswith(_RESERVED_PREFIX):
        raise invalid(name, f"the prefix {_RESERVED_PREFIX!r} is reserved")
    return name


def checked_description(description: Any, name: str) -> str:
    """A text for the model of at most 64 KiB."""
    if not isinstance(description, str) or not description.strip():
        raise invalid(name, "it needs a description, such as the first paragraph of a docstring")
    if len(description.encode("utf-8", "replace")) > MAX_TEXT:
        raise invalid(name, "its description has more than 64 KiB")
    return description.strip()


def checked_timeout(timeout: Any, name: str) -> float | None:
    """Seconds above 0, or None."""
    if timeout is not None and not (is_seconds(timeout) and 0 < timeout < math.inf):
        raise invalid(name, f"timeout: {timeout!r} is no number of seconds above 0")
    return timeout  # type: ignore[no-any-return]


def checked_flag(option: str, value: Any, name: str, *, or_none: bool = False) -> None:
    """True or False; None where that may stay open."""
    if not isinstance(value, bool) and not (or_none and value is None):
        raise invalid(name, f"{option}: {value!r} is not True or False")


def checked_on_collision(on_collision: Any, name: str) -> None:
    """One of its three words."""
    if on_collision not in get_args(OnCollision):
        raise invalid(name, f"on_collision: {on_collision!r} is not one of {', '.join(get_args(OnCollision))}")
