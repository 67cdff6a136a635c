"""What stands between a run and those who know nothing of its observer: its recorder, and its tools."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from langfx_web.agentic.observed_run import ObservedRun, answer_text
from langfx_web.agentic.recorder import PlannedCall, Recorder, Stop
from langfx_web.events import GateClosed, GateOpen, ToolEnd, ToolStart, TurnEvent
from langfx_web.messages import AIMessage, ToolMessage, UserMessage
from langfx_web.observation import Observer
from langfx_web.tools import Observation

Value = TypeVar("Value")


class ObservedRecorder:
    """Another recorder; what it is told, the observer is told too."""

    def __init__(self, recorder: Recorder, run: ObservedRun) -> None:
        self._recorder = recorder
        self._run = run

    async def before_request(self, step: int) -> Sequence[UserMessage] | Stop:
        """What the other recorder says; unless that is to stop, a step begins."""
        self._run.between_steps()
        said = await self._recorder.before_request(step)
        if not isinstance(said, Stop):
            self._run.step_begins()
        return said

    async def event(self, event: TurnEvent) -> None:
        """Something to show; of tools and gates the observer hears."""
        match event:
            case ToolStart():
                self._run.tool_begins(event)
            case GateOpen():
                self._run.gate_opened(event)
            case GateClosed():
                self._run.gate_closed(event)
        await self._recorder.event(event)

    async def replied(self, step: int, message: AIMessage, calls: Sequence[PlannedCall]) -> None:
        """The reply of a step is complete."""
        self._run.replied(message, calls)
        await self._recorder.replied(step, message, calls)

    async def call_starting(self, calls: Sequence[PlannedCall]) -> None:
        """These calls start as soon as this returns."""
        await self._recorder.call_starting(calls)

    async def call_done(self, call: PlannedCall, result: ToolMessage, end: ToolEnd) -> None:
        """A call has its result."""
        self._run.tool_ended(result, end)
        await self._recorder.call_done(call, result, end)
        self._run.result_joined(result, end)

    async def cancelled(self, ends: Sequence[ToolEnd]) -> None:
        """The run is being cancelled; the observer hears of open calls as the run ends."""
        await self._recorder.cancelled(ends)


class CallObservation(Observation):
    """A tool's side of the observer that watches its run."""

    __slots__ = ("_execution_id", "_numbers", "_run")

    def __init__(self, run: ObservedRun, execution_id: str) -> None:
        self._run = run
        self._execution_id = execution_id
        self._numbers = itertools.count(1)

    async def wait(self, request: str, effect: Callable[[], Awaitable[Value] | Value]) -> Value:
        """What `effect` gives, with a `wait.start` before and a `wait.end` after it."""
        wait_id = f"{self._execution_id}:app:{next(self._numbers)}"
        self._run.wait_begins(wait_id, "app", self._execution_id, request)
        outcome, answer = "failed", None
        try:
            value = await super().wait(request, effect)
            outcome, answer = "answered", answer_text(value)
            return value
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            self._run.wait_ended(wait_id, outcome, answer)

    def child(self) -> Observer:
        """The observer for an agent that is run inside the tool: its events name this call as their parent."""
        return self._run.child(self._execution_id)
