"""What can be called, seen from the outside: its name, its parameters, the function that it comes down to."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, get_args, get_origin

_READING: dict[str, Any] = {}
if sys.version_info >= (3, 14):
    import annotationlib

    # A name in an annotation may be defined further down, as it may where annotations are texts.
    _READING["annotation_format"] = annotationlib.Format.FORWARDREF


def parameters(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    """What a caller may give it, without what a `functools.partial` binds; `ValueError` where that is not known."""
    bound = function.keywords if isinstance(function, functools.partial) else {}
    found = inspect.signature(function, **_READING).parameters.values()
    return [parameter for parameter in found if parameter.name not in bound]


def positional_count(function: Callable[..., Any]) -> int:
    """How many arguments it may be given by position; 1 where that is not known."""
    try:
        kinds = [parameter.kind for parameter in inspect.signature(function, **_READING).parameters.values()]
    except (ValueError, TypeError, NameError):
        return 1
    single = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in single for kind in kinds) + 2 * (inspect.Parameter.VAR_POSITIONAL in kinds)


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Its annotations, resolved; `NameError` where one names what is not there."""
    return typing.get_type_hints(plain(function), include_extras=True)


def returned(function: Callable[..., Any]) -> Any:
    """The type of what it gives in the end; `Any` where nothing is said."""
    hint = hints(function).get("return", Any)
    return get_args(hint)[-1] if get_origin(hint) in (Awaitable, Coroutine) else hint


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """What has the annotations and the docstring: the function within a partial, the `__call__` of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def name_of(function: Callable[..., Any]) -> str:
    """What it is called; an object has the name of its class."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def docstring(function: Callable[..., Any]) -> str:
    """What its author says of it, without indentation; of an object, what its class says."""
    while isinstance(function, functools.partial):
        function = function.func
    owner = function if inspect.isroutine(function) else type(function)
    return inspect.getdoc(owner) or inspect.getdoc(plain(function)) or ""


def is_generator(function: Callable[..., Any]) -> bool:
    """Whether calling it gives one value after another."""
    return inspect.isgeneratorfunction(plain(function)) or inspect.isasyncgenfunction(plain(function))
