"""A run outside of any conversation: how it is entered, who answers its questions, and how it comes to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langfx_web.agentic.gates import Answers, Gate, OnGate, checked_answer, in_time
from langfx_web.agentic.loop import Loop, RunEnd
from langfx_web.agentic.recorder import NullRecorder, Recorder
from langfx_web.agentic.trace import error_info
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import (
    BudgetExceededError,
    DeadlineExceededError,
    HookError,
    InvalidArgumentError,
    LangfxError,
    SessionCancelledError,
)
from langfx_web.events import TurnEnd
from langfx_web.masking import said_by
from langfx_web.messages import AIMessage
from langfx_web.schemas import Schema
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web.observation import Observer


@dataclass(slots=True, kw_only=True)
class Entry:
    """How a run was entered, and the run itself once it began.

    Who hears of its events, who answers its questions, and who watches the call that it is made in.
    """

    recorder: Recorder = field(default_factory=NullRecorder)
    answers: Answers | None = None
    observer: Observer | None = None
    loop: Loop | None = None

    @property
    def usage(self) -> Usage | None:
        """What the run has cost."""
        return None if self.loop is None or self.loop.outcome is None else self.loop.outcome.usage


class FunctionAnswers:
    """Answers of a function that whoever started the run gave along; what it returns is checked strictly."""

    def __init__(self, function: OnGate, clock: Clock = SYSTEM_CLOCK) -> None:
        self._function = function
        self._clock = clock

    async def wait(self, gate: Gate, wanted: Schema, timeout: float | None) -> Any:
        """What the function returns; another exception than ours is `hook_failed`."""
        try:
            value = await in_time(self._function(gate), gate, timeout, self._clock)
        except LangfxError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise HookError("on_gate was cancelled from inside") from error
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            raise HookError(f"on_gate raised {type(error).__name__}: {said_by(error)[:500]}") from error
        return await checked_answer(value, wanted, gate.id)


def answers_of(on_gate: OnGate | None) -> Answers | None:
    """Where the answers to a run's questions come from; None where nobody can be asked."""
    if on_gate is not None and not callable(on_gate):
        raise InvalidArgumentError("on_gate must be an async function", details={"option": "on_gate"})
    return None if on_gate is None else FunctionAnswers(on_gate)


def answer(end: RunEnd) -> AIMessage:
    """The last answer, with the cost of the whole run; an error where it ended otherwise."""
    if end.stop_reason == "end_turn":
        return (end.message or AIMessage()).replace(usage=end.usage)
    if end.error is not None:
        raise end.error
    raise BudgetExceededError(f"the run ended at its limit {end.stop_reason}", limit=end.stop_reason)


async def ending(run: Awaitable[AIMessage], entry: Entry) -> TurnEnd:
    """The last event of a run, of a failed one too."""
    try:
        message = await run
    except LangfxError as error:
        end = entry.loop and entry.loop.outcome
        reason = end.stop_reason if end and end.stop_reason != "cancelled" else _reason(error)
        info = error_info(error) if reason in ("error", "refused") else None
        return TurnEnd(stop_reason=reason, usage=entry.usage, error=info)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        own = LangfxError("the run was cancelled from inside")
        return TurnEnd(stop_reason="error", usage=entry.usage, error=error_info(own))
    except Exception as error:  # noqa: BLE001  # a model of the app's own may raise anything
        return TurnEnd(stop_reason="error", usage=entry.usage, error=error_info(error))
    return TurnEnd(stop_reason="end_turn", usage=entry.usage, output=message.result)


def _reason(error: LangfxError) -> str:
    """Why a run ended that was cancelled by its session or by a time limit around it."""
    if isinstance(error, DeadlineExceededError):
        return "max_time"
    return "cancelled" if isinstance(error, SessionCancelledError) else "error"
