"""What the loop tells its recorder, written to a journal: stored before it has an effect, and the lines with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langfx_web.agentic import PlannedCall
from langfx_web.clock import Clock
from langfx_web.durable.fold import AMBIGUOUS, NOT_RUN
from langfx_web.durable.journal import Journal
from langfx_web.durable.records import CallResult, CallStart, Record, RecordedCall, Reply
from langfx_web.errors import FencedError, JournalTooLargeError
from langfx_web.events import TextDelta, ToolEnd, ToolStart, TurnEvent
from langfx_web.messages import AIMessage, Text, ToolCall, ToolMessage, UserMessage
from langfx_web.stores.base import Hold
from langfx_web.tools import call_checksum


@dataclass(slots=True)
class _OpenCall:
    planned: PlannedCall
    since: float | None = None


class JournalRecorder:
    """The recorder of one turn.

    `room` is how many bytes of records the conversation may still grow by; beyond, `journal_too_large` ends the turn.
    """

    def __init__(self, journal: Journal, *, message_id: str, hold: Hold, room: int, clock: Clock) -> None:
        self.lines = 0
        self._journal = journal
        self._message_id = message_id
        self._hold = hold
        self._room = room
        self._clock = clock
        self._partial: list[str] = []
        self._open: dict[str, _OpenCall] = {}

    @property
    def partial(self) -> str:
        """The text of the reply that has not come to its end."""
        return "".join(self._partial)

    async def before_request(self, step: int) -> Sequence[UserMessage]:
        """Returns once everything so far is stored."""
        await self._journal.stored(barrier=True)
        return ()

    async def event(self, event: TurnEvent) -> None:
        """Queue the event's line; waits only where too many are queued."""
        if isinstance(event, TextDelta):
            self._partial.append(event.delta)
        elif isinstance(event, ToolStart):
            self._open[event.execution_id].since = self._clock.monotonic()
        self._put(events=[event])
        if self._journal.is_full:
            await self._journal.room()

    async def replied(self, step: int, message: AIMessage, calls: Sequence[PlannedCall]) -> None:
        """Queue the reply; it is stored with what follows."""
        recorded = tuple(
            RecordedCall(
                execution_id=planned.execution_id,
                call_id=planned.call.id,
                idempotent=planned.idempotent,
                writes=planned.writes,
            )
            for planned in calls
        )
        self._put(Reply(step=step, message=message, calls=recorded))
        self._partial.clear()
        self._open = {planned.execution_id: _OpenCall(planned) for planned in calls}

    async def call_starting(self, calls: Sequence[PlannedCall]) -> None:
        """Returns once the reply and the start of these calls are stored."""
        self._put(CallStart(execution_ids=tuple(planned.execution_id for planned in calls)))
        await self._journal.stored(barrier=any(planned.writes or not planned.idempotent for planned in calls))
        if self._hold.lost.is_set():
            lost = FencedError("the conversation was taken over")
            self._journal.fail(lost)
            raise lost

    async def call_done(self, call: PlannedCall, result: ToolMessage, end: ToolEnd) -> None:
        """Queue the result with its line."""
        parts = tuple(result.parts)
        record = CallResult(execution_id=call.execution_id, parts=parts, is_error=result.is_error)
        self._put(record, events=[end])
        del self._open[call.execution_id]

    async def cancelled(self, ends: Sequence[ToolEnd]) -> None:
        """Whether the turn ends here, and how its calls do, is for others to decide."""

    def closing(self) -> tuple[tuple[CallResult, ...], list[ToolEnd]]:
        """Error results for the calls that have none, and the events that show them."""
        results = tuple(
            CallResult(execution_id=id, parts=(Text(_told(call)),), is_error=True) for id, call in self._open.items()
        )
        return results, [self._end(call) for call in self._open.values()]

    def _end(self, call: _OpenCall) -> ToolEnd:
        seconds = 0.0 if call.since is None else self._clock.monotonic() - call.since
        return interrupted(call.planned.call, call.planned.execution_id, _told(call), seconds, clock=self._clock)

    def _put(self, *records: Record, events: Sequence[TurnEvent] = ()) -> None:
        size = self._journal.put(*records, message_id=self._message_id, events=events)
        self.lines += len(events)
        self._room -= size
        if self._room < 0:
            raise JournalTooLargeError("the conversation has reached its size limit")


def interrupted(call: ToolCall, execution_id: str, told: str, seconds: float, *, clock: Clock) -> ToolEnd:
    """The event that shows the end of a call that got no result of its own."""
    return ToolEnd(
        id=call.id,
        execution_id=execution_id,
        name=call.name,
        checksum=call_checksum(call),
        is_error=True,
        ended_at=clock.now().isoformat(timespec="milliseconds"),
        duration_ms=round(seconds * 1000),
        content=told,
        error_code="interrupted",
    )


def _told(call: _OpenCall) -> str:
    return NOT_RUN if call.since is None else AMBIGUOUS
