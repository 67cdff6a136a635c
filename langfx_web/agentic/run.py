"""What all steps of one run share: its recorder, its clock, its own cancel state, and the app's functions it calls."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langfx_web.agentic.gates import Answers, Gate, gate_opened, new_gate
from langfx_web.agentic.recorder import Recorder
from langfx_web.agentic.time_limit import TimeLimit
from langfx_web.clock import Clock
from langfx_web.errors import GateDeclinedError, GateTimeoutError, GateUnsupportedError, HookError
from langfx_web.events import GateClosed
from langfx_web.masking import said_by
from langfx_web.schemas import Schema
from langfx_web.tools import Observation, Registry, unseen
from langfx_web.usage import Usage, total


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a run happens: ids and context that its tools may see."""

    turn_id: str
    session_id: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)


class Run:
    """One run, from inside."""

    def __init__(
        self,
        *,
        place: Place,
        recorder: Recorder,
        answers: Answers | None,
        limit: TimeLimit,
        clock: Clock,
        observation: Callable[[str], Observation] = unseen,
    ) -> None:
        self.place = place
        self.recorder = recorder
        self.clock = clock
        self.limit = limit
        self.observation = observation
        self.checksums: Counter[str] = Counter()
        self.usages: list[Usage | None] = []
        self.stash = Registry()
        self._answers = answers
        self._questions: Counter[str] = Counter()
        self._task: asyncio.Task[Any] | None = None
        self._before = 0

    @property
    def usage(self) -> Usage | None:
        """The cost of all requests so far; None where it is not known."""
        return total(self.usages)

    def begin(self) -> None:
        """The current task is the run's own from now on."""
        self._task = asyncio.current_task()
        self._before = 0 if self._task is None else self._task.cancelling()

    def check(self) -> None:
        """Go no further if the run is being cancelled, whether or not somebody swallowed that."""
        if self._task is not None and self._task.cancelling() > self._before:
            raise asyncio.CancelledError

    def time(self) -> str:
        """The time of day as events show it."""
        return self.clock.now().isoformat(timespec="milliseconds")

    async def called(self, function: Callable[..., Any], *given: Any, passing: tuple[type[Exception], ...] = ()) -> Any:
        """What a function of the app gives, plain or async; what it raises is `hook_failed`, but for `passing`."""
        try:
            value = function(*given)
            if inspect.isawaitable(value):
                value = await value
        except asyncio.CancelledError as error:
            self.check()
            raise HookError(f"{_name(function)} was cancelled from inside") from error
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            self.check()
            if isinstance(error, (*passing, GateUnsupportedError)):
                raise
            text = said_by(error)[:500]
            raise HookError(f"{_name(function)} raised {type(error).__name__}: {text}") from error
        self.check()
        return value

    async def ask(
        self,
        gate_id: str,
        reason: str,
        *,
        payload: Any = None,
        schema: Any = bool,
        timeout: float | None = None,
        call_id: str | None = None,
    ) -> Any:
        """Put a question to a person and wait for the valid answer; the run's own time stands still meanwhile.

        `GateDeclinedError`, `GateTimeoutError`, and `GateUnsupportedError` where nobody can be asked.
        """
        wanted = Schema.of(schema)
        gate = new_gate(
            gate_id, reason, payload=payload, wanted=wanted, call_id=call_id, timeout=timeout, clock=self.clock
        )
        return await self.put(gate, wanted, timeout)

    async def put(self, gate: Gate, wanted: Schema, timeout: float | None) -> Any:
        """Open a gate, and wait for its answer."""
        if self._answers is None:
            raise GateUnsupportedError("nobody can be asked here: give invoke() or stream() an on_gate function")
        await self.recorder.event(gate_opened(gate))
        outcome = "cancelled"
        try:
            with self.limit.standing_still():
                value = await self._answers.wait(gate, wanted, timeout)
            outcome = "answered"
        except GateDeclinedError:
            outcome = "declined"
            raise
        except GateTimeoutError:
            outcome = "timeout"
            raise
        finally:
            await self.recorder.event(GateClosed(id=gate.id, outcome=outcome))
        self.check()
        return value

    async def decided(
        self, function: Callable[..., Any], *given: Any, passing: tuple[type[Exception], ...] = ()
    ) -> bool:
        """What a function of the app decides; what is neither True nor False decides nothing, and is `hook_failed`."""
        value = await self.called(function, *given, passing=passing)
        if not isinstance(value, bool):
            raise HookError(f"{_name(function)} must give True or False, not a {type(value).__name__}")
        return value

    def next_gate(self, asker: str) -> str:
        """The id of the next question of a call or step: `{asker}:{n}`, from 1."""
        self._questions[asker] += 1
        return f"{asker}:{self._questions[asker]}"


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
