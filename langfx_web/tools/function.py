"""`@tool`: a Python function with type hints as a tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, overload

from langfx_web.tools.options import OnCollision
from langfx_web.tools.tool import Approval, Tool
from langfx_web.tools.values import Registry


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    output: Any = None,
    idempotent: bool | None = None,
    writes: bool | None = None,
    trusted: bool = False,
    approval: Approval = False,
    timeout: float | None = None,
    ephemeral: bool = False,
    on_collision: OnCollision = "error",
    meta: Mapping[str, Any] | Registry | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool: `@tool` or `@tool(idempotent=True)`, with the options of `Tool`.

    Its name and the first paragraph of its docstring are what the model sees, its annotated parameters the arguments
    (texts from `Annotated[…, Field(…)]`, else from the docstring), its return annotation the output. A parameter
    annotated `ToolContext` is filled in. Sync or async. `invalid_tool` says what is wrong with it.
    """
    return _made(**options) if function is None else Tool(function=function)


def _made(**options: Any) -> Callable[[Callable[..., Any]], Tool]:
    def make(function: Callable[..., Any]) -> Tool:
        return Tool(function=function, **options)

    return make
