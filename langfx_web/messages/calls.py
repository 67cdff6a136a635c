"""Tool calls as a model writes them, and what a provider is told of tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.errors import InvalidValueError
from langfx_web.json_text import dumps, loads

_PLAIN = frozenset({str, bool, NoneType})
_PLAIN_INTEGERS = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True, init=False)
class ToolCall:
    """One call a model asked for; it runs nothing by itself.

    `args` is the arguments object, copied in, or None where the model's text could not be read as one: `raw_args` then
    has that text, and the call is answered with an error instead of being run. `invalid_tool_call` says what is wrong.
    """

    type: ClassVar[Literal["tool_call"]] = "tool_call"

    id: str
    name: str
    args: dict[str, Any] | None
    raw_args: str | None

    def __init__(self, id: str, name: str, args: Mapping[str, Any] | None, *, raw_args: str | None = None) -> None:
        for label, text in (("id", id), ("name", name)):
            if not isinstance(text, str) or not text:
                raise _invalid(f"a tool call's {label} must be a non-empty str")
        if not id.strip():
            raise _invalid("a tool call's id must not be blank")
        if args is None and not isinstance(raw_args, str):
            raise _invalid(f"tool call {name!r}: without args, raw_args must be the text that was no object")
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "args", None if args is None else _copied(name, args))
        object.__setattr__(self, "raw_args", raw_args if args is None else None)


def _copied(name: str, args: Any) -> dict[str, Any]:
    if not isinstance(args, Mapping):
        raise _invalid(f"tool call {name!r}: args must be an object")
    if all(type(key) is str and _is_plain(value) for key, value in args.items()):
        return dict(args)
    try:
        copy: dict[str, Any] = loads(dumps(dict(args)))
    except ValueError as error:
        raise _invalid(f"tool call {name!r}: args must be JSON: {error}") from error
    return copy


def _is_plain(value: object) -> bool:
    """Whether nobody can change a value, and JSON has a form for it, as is true of most arguments."""
    return type(value) in _PLAIN or (type(value) is int and value in _PLAIN_INTEGERS)


def _invalid(why: str) -> InvalidValueError:
    return InvalidValueError(why, code="invalid_tool_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeclaration:
    """What a provider is told of one tool: its name, what it is for, and the JSON Schema of its arguments."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


ToolChoice: TypeAlias = str
"""`"auto"`, `"any"`, `"none"`, or the name of a declared tool."""
