"""What an agent's author lets a run call on its way: permission for calls, and a look at each step before and after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from langfx_web.errors import InvalidValueError

if TYPE_CHECKING:
    from langfx_web.agentic.step import Step
    from langfx_web.messages import AIMessage, ToolCall, ToolMessage

Policy: TypeAlias = Literal["result", "raise"]
"""What becomes of a failed call: the model is told and may correct itself, or the run ends with the error."""

AllowTool: TypeAlias = "Callable[[ToolCall, Step], bool | Awaitable[bool]]"
"""Whether a call may run: True, False, or `ToolDeniedError(reason)`; it may ask a person with `step.ask`."""

BeforeStep: TypeAlias = "Callable[[Step], Awaitable[None] | None]"
AfterStep: TypeAlias = "Callable[[Step, AIMessage, Sequence[ToolMessage]], Awaitable[None] | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """An agent's own functions in its runs; plain ones or async. `invalid_agent` names an option that is none."""

    allow_tool: AllowTool | None = None
    before_step: Sequence[BeforeStep] = ()
    after_step: Sequence[AfterStep] = ()
    on_tool_error: Policy = "result"
    on_denied: Policy = "result"

    def __post_init__(self) -> None:
        for name in ("on_tool_error", "on_denied"):
            if getattr(self, name) not in ("result", "raise"):
                raise _invalid(f'{name}: must be "result" or "raise", not {getattr(self, name)!r}')
        if self.allow_tool is not None and not callable(self.allow_tool):
            raise _invalid(f"allow_tool: must be a function, not {type(self.allow_tool).__name__}")
        for name in ("before_step", "after_step"):
            for function in getattr(self, name):
                if not callable(function):
                    raise _invalid(f"{name}: must be a function or several, not {type(function).__name__}")


def several(given: Any) -> tuple[Any, ...]:
    """An option that takes one function or several."""
    if given is None:
        return ()
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _invalid(what: str) -> InvalidValueError:
    return InvalidValueError(what, code="invalid_agent")
