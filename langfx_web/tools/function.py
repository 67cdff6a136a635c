"""`@tool`: a Python function with type hints as a tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args, overload

from langfx_web.errors import InvalidValueError
from langfx_web.messages import Modality
from langfx_web.schemas import Signature, first_paragraph
from langfx_web.tools.context import ToolContext
from langfx_web.tools.tool import Tool


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    idempotent: bool | None = None,
    writes: bool | None = None,
    trusted: bool = False,
    timeout: float | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool: `@tool` or `@tool(idempotent=True)`.

    Its name and the first paragraph of its docstring are what the model sees, its annotated parameters the arguments
    (texts from `Annotated[…, Field(…)]` or an `Args:` section), its return annotation the output. A parameter annotated
    `ToolContext` is filled in. Sync or async. `invalid_tool` says what is wrong with it.
    """
    return _from_function(function) if function is not None else lambda given: _from_function(given, **options)


def _from_function(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None, **options: Any
) -> Tool:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidValueError(f"{function.__name__}: a generator cannot be a tool", code="invalid_tool")
    signature = Signature(function, without=ToolContext)

    def call(arguments: dict[str, Any], context: ToolContext) -> Any:
        return function(**arguments, **dict.fromkeys(signature.injected, context))

    return Tool(
        name=name or function.__name__,
        description=description or first_paragraph(inspect.getdoc(function) or ""),
        input=lambda: signature.arguments,
        output=lambda: None if _has_media(signature.hints.get("return")) else signature.output,
        function=call,
        **options,
    )


def _has_media(hint: Any) -> bool:
    """Whether a return annotation has media in it, which have no JSON form."""
    return (isinstance(hint, type) and issubclass(hint, Modality)) or any(map(_has_media, get_args(hint)))
