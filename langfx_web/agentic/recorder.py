"""What the loop tells whoever keeps a record of it; the one here keeps none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from langfx_web.events import ToolEnd, TurnEvent
from langfx_web.messages import AIMessage, ToolCall, ToolMessage, UserMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call of a complete reply, with the id it keeps over reruns and its tool's promises at that time."""

    execution_id: str
    call: ToolCall
    idempotent: bool
    writes: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is to end here, between two steps, for this stop reason."""

    stop_reason: str


class Recorder(Protocol):
    """Told of each thing before it has an effect; the loop waits for what it is told to wait for."""

    async def before_request(self, step: int) -> Sequence[UserMessage] | Stop:
        """Before request `step` (from 0); returns what the user has said meanwhile, or that the run is to end."""

    async def event(self, event: TurnEvent) -> None:
        """Something to show."""

    async def replied(self, step: int, message: AIMessage, calls: Sequence[PlannedCall]) -> None:
        """The reply of a step is complete."""

    async def call_starting(self, calls: Sequence[PlannedCall]) -> None:
        """These calls start as soon as this returns."""

    async def call_done(self, call: PlannedCall, result: ToolMessage, end: ToolEnd) -> None:
        """A call has its result, whether it ran or was refused; `end` is the event that shows it."""

    async def cancelled(self, ends: Sequence[ToolEnd]) -> None:
        """The run is being cancelled; these events would show the calls that have no result. Nothing is waited for."""


class NullRecorder:
    """Keeps no record."""

    async def before_request(self, step: int) -> Sequence[UserMessage] | Stop:
        """Nothing was said meanwhile."""
        return ()

    async def event(self, event: TurnEvent) -> None:
        """Nothing to do."""

    async def replied(self, step: int, message: AIMessage, calls: Sequence[PlannedCall]) -> None:
        """Nothing to do."""

    async def call_starting(self, calls: Sequence[PlannedCall]) -> None:
        """Nothing to wait for."""

    async def call_done(self, call: PlannedCall, result: ToolMessage, end: ToolEnd) -> None:
        """Shown like any other event."""
        await self.event(end)

    async def cancelled(self, ends: Sequence[ToolEnd]) -> None:
        """Nothing to do."""
