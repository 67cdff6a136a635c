"""What bounds a run: steps, calls, parallel tools, time, tokens."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from langfx_web.deadline import is_seconds
from langfx_web.errors import InvalidValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one run; None is filled in by the place where the agent runs.

    One-shot runs: 8 steps, 12 tool calls, 60 s. Turns of a session: 50 steps, 200 calls, no timeout. `timeout` is in
    seconds; `max_total_tokens` is compared before each request with what has been reported. `invalid_agent` otherwise.
    """

    max_steps: int | None = None
    max_tool_calls: int | None = None
    max_parallel_tools: int = 16
    timeout: float | None = None
    max_total_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, least in (
            ("max_steps", 1),
            ("max_tool_calls", 0),
            ("max_parallel_tools", 1),
            ("max_total_tokens", 1),
        ):
            value = getattr(self, name)
            may_be_open = name != "max_parallel_tools"
            if not (value is None and may_be_open) and (
                not isinstance(value, int) or isinstance(value, bool) or value < least
            ):
                raise InvalidValueError(f"limits: {name} must be an int of at least {least}", code="invalid_agent")
        if self.timeout is not None and not is_seconds(self.timeout):
            raise InvalidValueError("limits: timeout must be a number of seconds", code="invalid_agent")

    def with_defaults(self, **defaults: float | None) -> Limits:
        """A copy in which limits that are None take these values."""
        unset = {item.name for item in fields(self) if getattr(self, item.name) is None}
        return replace(self, **{name: value for name, value in defaults.items() if name in unset})  # type: ignore[arg-type]  # by field name


def of_one_run(limits: Limits) -> Limits:
    """The limits of `agent.invoke` and `agent.stream`."""
    return limits.with_defaults(max_steps=8, max_tool_calls=12, timeout=60.0)


def of_a_turn(limits: Limits) -> Limits:
    """The limits of one turn of a session."""
    return limits.with_defaults(max_steps=50, max_tool_calls=200)
