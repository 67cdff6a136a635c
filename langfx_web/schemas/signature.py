"""A function's parameters as a schema: names, types, defaults, and texts from annotations or the docstring."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from langfx_web.deferred import later
from langfx_web.errors import InvalidValueError
from langfx_web.schemas import adapters
from langfx_web.schemas.schema import Schema

if TYPE_CHECKING:
    from langfx_web.schemas import compiling
else:
    compiling = later("langfx_web.schemas.compiling")

_SECTION = re.compile(r"^(\s*)(Args|Arguments|Parameters):\s*$")
_ENTRY = re.compile(r"^(\s+)\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


class Signature:
    """What can be known of a function from the outside: its parameters, its return type, its description.

    Looking at it loads nothing; the schemas are built at first use. `without` names types whose parameters are filled
    in by the caller and are not arguments.
    """

    def __init__(self, function: Callable[..., Any], *, without: type) -> None:
        self.function = function
        self.without = without
        self.parameters = [
            _checked(parameter, function) for parameter in inspect.signature(function).parameters.values()
        ]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The resolved annotations."""
        try:
            return typing.get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError) as error:
            raise InvalidValueError(f"{_name(self.function)}: {error}", code="invalid_tool") from error

    @cached_property
    def injected(self) -> tuple[str, ...]:
        """Names of the parameters that the caller fills in."""
        return tuple(name for name, hint in self.hints.items() if name != "return" and hint is self.without)

    @cached_property
    def arguments(self) -> Schema:
        """The schema of an object with one member per argument."""
        texts = parameter_texts(inspect.getdoc(self.function) or "")
        members = {
            parameter.name: (_described(self.hints[parameter.name], texts.get(parameter.name)), _default(parameter))
            for parameter in self.parameters
            if parameter.name not in self.injected
        }
        return ArgumentsSchema(f"{_name(self.function)}_arguments", members)

    @cached_property
    def output(self) -> Schema | None:
        """The schema of what the function returns; None where any JSON value is fine."""
        hint = self.hints.get("return", Any)
        return None if hint in (Any, inspect.Signature.empty) else Schema(hint)


class ArgumentsSchema(Schema):
    """The arguments of one function; validated values are a dict by parameter name."""

    def __init__(self, name: str, members: Mapping[str, tuple[Any, Any]]) -> None:
        self._members = dict(members)
        super().__init__(dict, name=name)

    def _look(self) -> None:
        """Declaring a tool loads nothing: its arguments are looked at when a model is told of them."""

    @cached_property
    def _record(self) -> Any:
        return adapters.record_type(self.name, self._members)

    @cached_property
    def _compiled(self) -> compiling.Compiled:
        return compiling.Compiled(self._record)

    @cached_property
    def _adapter(self) -> adapters.Adapter:
        return adapters.adapter(self._record)

    def validate(self, value: Any) -> dict[str, Any]:
        """The arguments by name, defaults filled in."""
        record = super().validate(value)
        return {name: getattr(record, f"arg_{name}") for name in self._members}

    def dump(self, value: Any) -> Any:
        """The JSON form of arguments by name."""
        return super().dump(value)


def parameter_texts(docstring: str) -> dict[str, str]:
    """The parameter descriptions of a Google-style `Args:` section; a continuation line is joined by a blank."""
    texts: dict[str, str] = {}
    current, indent, inside = "", 0, False
    for line in docstring.splitlines():
        if _SECTION.match(line):
            inside, indent = True, 0
        elif inside and line.strip():
            entry = _ENTRY.match(line)
            depth = len(line) - len(line.lstrip())
            if depth == 0:
                inside = False
            elif entry and (not indent or depth == indent):
                indent, current = depth, entry.group(2)
                texts[current] = entry.group(3).strip()
            elif current:
                texts[current] = f"{texts[current]} {line.strip()}".strip()
    return {name: text for name, text in texts.items() if text}


def first_paragraph(docstring: str) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join(docstring.strip().split("\n\n")[0].split())


def _described(hint: Any, text: str | None) -> Any:
    has_own = get_origin(hint) is Annotated and any(getattr(item, "description", None) for item in get_args(hint)[1:])
    return hint if text is None or has_own else adapters.with_description(hint, text)


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is inspect.Parameter.empty else parameter.default


def _checked(parameter: inspect.Parameter, function: Callable[..., Any]) -> inspect.Parameter:
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise InvalidValueError(
            f"{_name(function)}: the parameter {parameter.name!r} cannot be named by a model", code="invalid_tool"
        )
    if parameter.annotation is inspect.Parameter.empty:
        raise InvalidValueError(f"{_name(function)}: the parameter {parameter.name!r} has no type", code="invalid_tool")
    return parameter


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
