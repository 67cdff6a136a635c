"""The work on one turn whose start is stored: the loop in a task of its own, and how it came to an end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from langfx_web.agentic import AgentSetup, Answers, Loop, Place, Session, error_info
from langfx_web.clock import Clock
from langfx_web.deferred import later
from langfx_web.durable.fold import TurnState
from langfx_web.durable.recorder import JournalRecorder
from langfx_web.durable.setup import turn_setup
from langfx_web.errors import LangfxError
from langfx_web.events import ErrorInfo
from langfx_web.llms import current_session_id
from langfx_web.messages import Message
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web.agentic import observed_run
    from langfx_web.durable.watching import Watchers
else:
    observed_run = later("langfx_web.agentic.observed_run")

MAX_NODES = 1_000_000
"""A turn's trace is bounded by the turn's own limits; it is for its tools, and ends with the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How the work on a turn ended."""

    stop_reason: str
    usage: Usage | None = None
    error: ErrorInfo | None = None


class TurnRun:
    """Runs the loop over a conversation's messages, the open turn's prompt the last of them."""

    def __init__(
        self,
        agent: AgentSetup,
        turn: TurnState,
        transcript: Sequence[Message],
        *,
        recorder: JournalRecorder,
        answers: Answers,
        watchers: Watchers,
        session_id: str,
        clock: Clock,
        new_id: Callable[[str], str],
    ) -> None:
        self._agent = agent
        self._turn = turn
        self._transcript = transcript
        self._recorder = recorder
        self._answers = answers
        self._watchers = watchers
        self._session_id = session_id
        self._clock = clock
        self._new_id = new_id
        self._loop: Loop | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopped = False

    @property
    def message_id(self) -> str:
        """The prompt that is being answered."""
        return self._turn.input.message_id

    async def run(self) -> Ending:
        """Work to the end; errors are in it. If this is cancelled, the loop is, and has ended before this goes on."""
        self._task = asyncio.get_running_loop().create_task(self._work())
        if self._is_stopped:
            self._task.cancel()
        try:
            await asyncio.wait([self._task])
        finally:
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait([self._task])
        return self._ending(self._task)

    def stop(self) -> None:
        """Ask and run nothing more: abort the request, cancel the tools."""
        if not self._is_stopped:
            self._is_stopped = True
            if self._task is not None:
                self._task.cancel()

    async def _work(self) -> None:
        current_session_id.set(self._session_id)
        place = Place(
            turn_id=self.message_id,
            session_id=self._session_id,
            context=self._turn.input.context or {},
        )
        try:
            setup = turn_setup(self._agent, self._turn.input.settings)
        except LangfxError as error:
            self._tell_refused(place, error)
            raise
        async with Session(lm=setup.lm, max_nodes=MAX_NODES, clock=self._clock) as session:
            with self._watchers.shown(session):
                await self._run_in(session, setup, place)

    async def _run_in(self, session: Session, setup: AgentSetup, place: Place) -> None:
        """Run the loop in a node of its own, which fails where the run does; that is an outcome here, no exception."""
        error: LangfxError | None = None
        try:
            node = session.branch("action", f"Agent:{setup.name}", metadata={"message_id": self.message_id})
            async with node as view:
                self._loop = Loop(
                    setup,
                    self._transcript,
                    session=view,
                    lm=setup.lm,
                    limits=setup.limits,
                    place=place,
                    new_id=self._new_id,
                    recorder=self._recorder,
                    answers=self._answers,
                    clock=self._clock,
                    keeps_texts=False,
                )
                error = (await self._loop.run()).error
                if error is not None:
                    raise error
        except LangfxError as raised:
            if raised is not error:
                raise

    def _tell_refused(self, place: Place, error: LangfxError) -> None:
        """Let the agent's observer know of a turn that cannot even begin."""
        agent = self._agent
        if agent.observer is not None:
            watch = observed_run.ObservedRun(
                agent.observer, agent=agent.name, place=place, new_id=self._new_id, clock=self._clock
            )
            watch.begins(agent.lm, self._transcript)
            watch.ends("error", None, None, error)

    def _ending(self, work: asyncio.Task[None]) -> Ending:
        outcome = self._loop.outcome if self._loop else None
        usage = outcome.usage if outcome else None
        if work.cancelled():
            if self._is_stopped:
                return Ending(stop_reason="cancelled", usage=usage)
            return _failed(LangfxError("the work on the turn was cancelled from inside"), usage)
        failure = work.exception()
        if failure is not None:
            return _failed(failure, usage)
        assert outcome is not None  # the loop's events end with an outcome
        error = None
        if outcome.error is not None and outcome.stop_reason in ("error", "refused"):
            error = error_info(outcome.error)
        return Ending(stop_reason=outcome.stop_reason, usage=usage, error=error)


def _failed(error: BaseException, usage: Usage | None) -> Ending:
    return Ending(stop_reason="error", usage=usage, error=error_info(error))
