"""A loop to try things on: two tools, a recorder that keeps events, ids that can be read."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from langfx_web import Agent
from langfx_web.agentic import Loop, NullRecorder, Place, Session
from langfx_web.messages import AIMessage, ToolCall, UserMessage
from langfx_web.testing import StaticSequence
from langfx_web.tools import tool


@tool(idempotent=True)
def double(n: int) -> int:
    """Double a number."""
    return n * 2


@tool(idempotent=True)
def fail() -> str:
    """Fail."""
    raise ValueError("no such order")


def calls(*given: tuple[str, dict[str, Any]], text: str = "", **fields: Any) -> AIMessage:
    """A reply with these calls; their ids are c1, c2 and so on."""
    parts = [ToolCall(f"c{index}", name, args) for index, (name, args) in enumerate(given, 1)]
    return AIMessage(*([text] if text else []), *parts, **fields)


def agent(lm: Any, *tools: Any, **options: Any) -> Agent:
    """An agent with these tools, or `double` and `fail`; `lm` is a model, or the answers of one."""
    lm = StaticSequence(lm) if isinstance(lm, list) else lm
    return Agent(lm=lm, tools=tools or [double, fail], **options)


class Heard(NullRecorder):
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    async def event(self, event: Any) -> None:
        """Keep it."""
        self.events.append(event)


class HeardLoop(Loop):
    """A loop whose recorder can be looked at."""

    def __init__(self, *given: Any, recorder: Any = None, **options: Any) -> None:
        self.heard = recorder or Heard()
        super().__init__(*given, recorder=self.heard, **options)


def loop_of(some: Agent, prompt: str = "go", **options: Any) -> HeardLoop:
    """One run of an agent."""
    ids = itertools.count(1)
    return HeardLoop(
        some,
        [UserMessage(prompt)],
        session=options.pop("session", None) or Session(),
        lm=some.lm,
        limits=options.pop("limits", some.limits.with_defaults(max_steps=8, max_tool_calls=12)),
        place=Place(turn_id="msg_1"),
        new_id=lambda prefix: f"{prefix}{next(ids)}",
        **options,
    )


async def run(loop: HeardLoop) -> list[Any]:
    """Run it, and give its events."""
    await loop.run()
    return loop.heard.events if isinstance(loop.heard, Heard) else []


class SteppedClock:
    """A clock that stands still until it jumps, and counts timers: `made` in all, `open` those that may still fire."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.made = 0
        self._timers: list[SteppedTimer] = []

    @property
    def open(self) -> int:
        """Timers that may still fire."""
        return sum(timer.callback is not None for timer in self._timers)

    def now(self) -> datetime:
        """The time of day."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        """Seconds since it was made."""
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait for a jump."""
        woken = asyncio.Event()
        self.call_later(seconds, woken.set)
        await woken.wait()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> SteppedTimer:
        """Call back in the jump that reaches so far."""
        self.made += 1
        timer = SteppedTimer(self.elapsed + seconds, callback)
        self._timers.append(timer)
        return timer

    def jump(self, seconds: float) -> None:
        """Be so much later, at once."""
        self.elapsed += seconds
        for timer in [timer for timer in self._timers if timer.due <= self.elapsed]:
            callback, timer.callback = timer.callback, None
            if callback is not None:
                callback()


class SteppedTimer:
    """One of its timers."""

    def __init__(self, due: float, callback: Callable[[], None]) -> None:
        self.due = due
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Never call back."""
        self.callback = None
