"""What is written where a turn starts and where it ends: record, line, marks and what is remembered of its prompt."""

from __future__ import annotations

from collections.abc import Sequence

from langfx_web.agentic import AgentSetup
from langfx_web.clock import Clock
from langfx_web.durable.fold import TurnState
from langfx_web.durable.inputs import shown
from langfx_web.durable.journal import Journal
from langfx_web.durable.recorder import JournalRecorder, interrupted
from langfx_web.durable.records import Input, TurnEnd, TurnStart
from langfx_web.durable.registration import Outcome, Registration
from langfx_web.durable.setup import fingerprint
from langfx_web.durable.turn_run import Ending
from langfx_web.events import ToolEnd
from langfx_web.events import TurnStart as TurnStartEvent
from langfx_web.stores.base import Mark, Unique


def put_start(journal: Journal, input: Input, agent: AgentSetup, *, session_id: str) -> None:
    """Queue the start of a prompt's turn."""
    registration = Registration(type="prompt", nonce=input.nonce, cursor=journal.cursor)
    journal.put(
        TurnStart(
            message_id=input.message_id,
            model=(input.settings.model and input.settings.model.id) or agent.lm.model,
            tools=fingerprint(agent.tools),
        ),
        message_id=input.message_id,
        events=[TurnStartEvent(session_id=session_id, input=shown(input.prompt or ""))],
        marks=("taken", "start"),
        settle=Unique(input.message_id, registration.to_text()),
    )


def put_end(journal: Journal, turn: TurnState, ending: Ending, recorder: JournalRecorder) -> Outcome:
    """Queue the end of a turn that ran, and give the session free."""
    results, ends = recorder.closing()
    end = TurnEnd(
        message_id=turn.input.message_id,
        stop_reason=ending.stop_reason,
        usage=ending.usage,
        error=ending.error,
        partial=recorder.partial,
        results=results,
    )
    return _put(
        journal,
        end,
        turn.input,
        ends=ends,
        cursor=turn.start.cursor,
        lines=1 + recorder.lines,
        mark="end",
        release=True,
    )


def put_unknown(journal: Journal, turn: TurnState, *, lines: int, clock: Clock) -> Outcome:
    """Queue the end of a turn that nobody runs any more: how it went on after its last record is not known."""
    calls = turn.open_calls()
    results = tuple(call.answer() for call in calls)
    ends = [interrupted(call.call, call.recorded.execution_id, call.told, 0.0, clock=clock) for call in calls]
    end = TurnEnd(message_id=turn.input.message_id, stop_reason="unknown", results=results)
    cursor = turn.start.cursor
    return _put(journal, end, turn.input, ends=ends, cursor=cursor, lines=lines, mark="end", release=True)


def put_cancelled(journal: Journal, input: Input, *, release: bool = False) -> Outcome:
    """Queue the end of a prompt that was cancelled while it waited."""
    end = TurnEnd(message_id=input.message_id, stop_reason="cancelled")
    return _put(journal, end, input, ends=(), cursor=journal.cursor, lines=0, mark="taken", release=release)


def _put(
    journal: Journal,
    end: TurnEnd,
    input: Input,
    *,
    ends: Sequence[ToolEnd],
    cursor: int,
    lines: int,
    mark: Mark,
    release: bool,
) -> Outcome:
    """`cursor` is the last line before the prompt's first, `lines` how many it has so far."""
    outcome = Outcome(
        stop_reason=end.stop_reason,
        usage=end.usage,
        error=end.error,
        epoch=journal.epoch,
        lines=lines + len(ends) + 1,
    )
    registration = Registration(type="prompt", nonce=input.nonce, cursor=cursor, outcome=outcome)
    journal.put(
        end,
        message_id=input.message_id,
        events=[*ends, outcome.as_event()],
        marks=(mark,),
        settle=Unique(input.message_id, registration.to_text()),
        release=release,
    )
    return outcome
