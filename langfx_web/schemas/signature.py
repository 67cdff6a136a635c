"""A function's parameters as a schema: names, types, defaults, and texts from annotations or the docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from langfx_web.deferred import later
from langfx_web.errors import InvalidValueError
from langfx_web.schemas import callables

if TYPE_CHECKING:
    from langfx_web.schemas import arguments
else:
    arguments = later("langfx_web.schemas.arguments")

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature:
    """What can be known of a function from the outside: its parameters, its return type, its description.

    Looking at it loads nothing; the schema is built at first use. `without` is a type whose parameters are filled in by
    the caller and are not arguments. `invalid_tool` has the given `name` and the parameter that no model can give.
    """

    def __init__(self, function: Callable[..., Any], name: str, *, without: type) -> None:
        self.name = name
        self._function = function
        self._without = without
        try:
            found = callables.parameters(function)
        except (ValueError, TypeError, NameError) as error:
            raise self._refused(f"its parameters cannot be read: {error}") from error
        self.parameters = [self._checked(parameter) for parameter in found]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The resolved annotations; `invalid_tool` where one names what is not there."""
        try:
            return callables.hints(self._function)
        except (NameError, TypeError, AttributeError) as error:
            raise self._refused(f"its annotations cannot be read: {error}") from error

    @cached_property
    def injected(self) -> tuple[str, ...]:
        """Names of the parameters that the caller fills in."""
        return tuple(item.name for item in self.parameters if self._is_injected(self.hints[item.name]))

    @cached_property
    def arguments(self) -> arguments.ArgumentsSchema:
        """The schema of an object with one member per argument."""
        members = {
            item.name: (self.hints[item.name], ... if item.default is item.empty else item.default)
            for item in self.parameters
            if item.name not in self.injected
        }
        return arguments.ArgumentsSchema(self.name, members, docstring=callables.docstring(self._function))

    def _is_injected(self, hint: Any) -> bool:
        return hint is self._without or self._without in get_args(hint)

    def _checked(self, parameter: inspect.Parameter) -> inspect.Parameter:
        if parameter.kind not in _NAMED:
            raise self._refused(f"the parameter {parameter.name!r} cannot be named by a model")
        if parameter.annotation is parameter.empty:
            advice = ": take the method of an object" if parameter.name in ("self", "cls") else ""
            raise self._refused(f"the parameter {parameter.name!r} has no type{advice}")
        return parameter

    def _refused(self, why: str) -> InvalidValueError:
        return InvalidValueError(f"tool {self.name!r}: {why}", code="invalid_tool")


def first_paragraph(docstring: str) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join(docstring.strip().split("\n\n")[0].split())
