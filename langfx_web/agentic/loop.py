"""The one agent loop: ask the model, run its tool calls, decide whether to go on.

It serves the one-shot run and the durable turn. Clock, ids and recorder are handed in; it never asks whether anything
is being stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from langfx_web.agentic.batch import Batch, result_message
from langfx_web.agentic.call_ids import CallIds
from langfx_web.agentic.gates import Answers
from langfx_web.agentic.limits import Limits
from langfx_web.agentic.recorder import NullRecorder, PlannedCall, Recorder, Stop
from langfx_web.agentic.run import Place, Run
from langfx_web.agentic.session import Session
from langfx_web.agentic.setup import AgentSetup
from langfx_web.agentic.step import Step, paragraphs
from langfx_web.agentic.time_limit import TimeLimit
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.deferred import later
from langfx_web.errors import (
    BudgetExceededError,
    ContentFilteredError,
    DeadlineExceededError,
    IncompleteGenerationError,
    LangfxError,
    LMError,
    MappingError,
)
from langfx_web.events import TextDelta, ThoughtDelta
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, Message, SystemMessage, ToolDeclaration
from langfx_web.tools import Observation, ToolRegistry, unseen
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web.agentic import observed, observed_run
    from langfx_web.agentic.observed_run import ObservedRun
    from langfx_web.agentic.output import Wanted
else:
    # Most runs are not watched.
    observed, observed_run = later("langfx_web.agentic.observed"), later("langfx_web.agentic.observed_run")

CUT_CALL = "Error: the reply reached the output limit, so none of its tool calls was run. Ask for less at once."
INCOMPLETE = {"incomplete": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended: the stop reason, its cost, the last message, and the error behind a reason that has one."""

    stop_reason: str
    usage: Usage | None = None
    message: AIMessage | None = None
    error: LangfxError | None = None


class Loop:
    """One bounded run over a conversation, in a session that traces it: `await loop.run()`, once.

    `transcript` grows as the run goes on and is always valid to send again: every call in it has a result. Events go to
    the recorder. Questions of tools and hooks go to `answers`; without it there is nobody to ask. `keeps_texts` says
    whether the trace has what was said, too.
    """

    def __init__(
        self,
        agent: AgentSetup,
        messages: Sequence[Message],
        *,
        session: Session,
        lm: LanguageModel,
        limits: Limits,
        place: Place,
        new_id: Callable[[str], str],
        recorder: Recorder | None = None,
        answers: Answers | None = None,
        clock: Clock = SYSTEM_CLOCK,
        keeps_texts: bool = True,
    ) -> None:
        self.outcome: RunEnd | None = None
        self._wanted = _wanted(agent, lm)
        self._closing = None if self._wanted is None else self._wanted.instructions
        system = paragraphs(agent.instructions, self._closing)
        self.transcript: list[Message] = [*([SystemMessage(system)] if system else []), *messages]
        self._agent = agent
        self._session = session
        self._lm = lm
        self._keeps_texts = keeps_texts
        self._limits = limits
        self._new_id = new_id
        self._recorder = recorder or NullRecorder()
        self._limit = TimeLimit(limits.timeout, clock)
        self._watch: ObservedRun | None = None
        self._asked = lm
        observation: Callable[[str], Observation] = unseen
        if agent.observer is not None:
            watch = observed_run.ObservedRun(agent.observer, agent=agent.name, place=place, new_id=new_id, clock=clock)
            self._watch = watch
            self._asked = lm.watched(watch.sending)
            self._recorder = observed.ObservedRecorder(self._recorder, watch)
            observation = partial(observed.CallObservation, watch)
        self._run = Run(
            place=place,
            recorder=self._recorder,
            answers=answers,
            limit=self._limit,
            clock=clock,
            observation=observation,
        )
        self._declared: tuple[ToolRegistry, tuple[ToolDeclaration, ...]] | None = None
        self._calls = 0
        self._message: AIMessage | None = None
        self._batch: Batch | None = None
        self._ids = CallIds(messages)
        self._asking: asyncio.Task[Any] | None = None
        self._is_interrupted = False
        self._misread = 0

    async def run(self) -> RunEnd:
        """Run to the end, which is a value; only `CancelledError`, and what a broken recorder raises, come out."""
        watch = self._watch
        if watch is None:
            return await self._ran()
        watch.begins(self._lm, self.transcript)
        try:
            return await self._ran()
        finally:
            end = self.outcome or RunEnd(stop_reason="error", usage=self._run.usage)
            watch.ends(end.stop_reason, end.usage, end.message, end.error)

    async def _ran(self) -> RunEnd:
        self._run.begin()
        index = 0
        try:
            with self._limit:
                await self._agent.tools.ready()
                while self.outcome is None:
                    await self._step(index)
                    index += 1
        except asyncio.CancelledError:
            self._end("cancelled")
            if self._batch is not None:
                await self._recorder.cancelled(self._batch.interrupted())
            raise
        except LangfxError as error:
            await self._close_batch()
            self._fail(error)
        assert self.outcome is not None  # nothing else leaves the loop
        return self.outcome

    def interrupt(self) -> None:
        """Cut the reply that is streaming, if one is: the user has said something. Its text stays, its calls do not."""
        task = self._asking
        if task is None or self._is_interrupted:
            return
        self._is_interrupted = True
        task.cancel()

    async def _step(self, index: int) -> None:
        self._run.check()
        self._limit.check()
        if self._limits.max_steps is not None and index >= self._limits.max_steps:
            self._end("max_steps")
            return
        said = await self._recorder.before_request(index)
        if isinstance(said, Stop):
            self._end(said.stop_reason)
            return
        self.transcript.extend(said)
        async with self._session.branch("step", f"step {index}", lm=self._lm) as view:
            step = Step(
                self._run,
                index,
                view,
                self.transcript,
                tools=self._agent.tools,
                instructions=self._agent.instructions,
                closing=self._closing,
            )
            for hook in self._agent.hooks.before_step:
                await self._run.called(hook, step)
                if step.is_stopped:
                    await self._stop(step)
                    return
            if self._is_over_tokens():
                self._end("max_total_tokens")
                return
            if step.offered is not self._agent.tools:
                await step.offered.ready()
            message = await self._ask(step)
            if message is not None:
                await self._replied(step, message)

    async def _replied(self, step: Step, message: AIMessage) -> None:
        """Answer the calls of a whole reply, or decide how the run ends without any."""
        calls = self._planned(step, message)
        self.transcript.append(message)
        await self._recorder.replied(step.index, message, calls)
        self._run.check()
        if calls:
            batch = self._batch = Batch(self._run, self._agent.hooks, step, calls)
            try:
                await self._answer(batch, len(calls), step)
            finally:
                self.transcript.extend(batch.results)
            results = batch.results
            self._batch = None
        else:
            results = []
            if message.finish_reason != "pause":
                await self._conclude(step, message)
        for hook in self._agent.hooks.after_step:
            await self._run.called(hook, step, message, results)
        if step.is_stopped and self.outcome is None:
            await self._stop(step)

    async def _conclude(self, step: Step, message: AIMessage) -> None:
        """A reply without calls is the end, unless a value is wanted and it has none: then the model is told so."""
        if self._wanted is None:
            self._end("end_turn")
            return
        try:
            self._message = await self._wanted.read(message)
            self._end("end_turn")
        except MappingError as error:
            self._misread += 1
            error.attempts = error.details["attempts"] = self._misread
            is_last = self._limits.max_steps is not None and step.index + 1 >= self._limits.max_steps
            if is_last or step.is_stopped or not self._wanted.can_repair(error):
                self._end("error", error)
            else:
                self.transcript.append(self._wanted.repair(error))

    async def _ask(self, step: Step) -> AIMessage | None:
        """One request; the whole answer, or None where the user interrupted it."""
        self._message = None
        text: list[str] = []
        task = self._asking = asyncio.current_task()
        before = 0 if task is None else task.cancelling()
        try:
            message = await self._streamed(step, text)
            if self._is_interrupted and task is not None:
                await _taken_back(task)
                self._run.check()
        except asyncio.CancelledError:
            self._run.usages.append(None)
            if not self._is_interrupted or task is None or task.uncancel() > before:
                raise
            message = None
        except LMError as error:
            self._run.usages.append(error.usage)
            raise
        finally:
            self._asking = None
            self._is_interrupted = False
        if message is None and text:
            self._message = AIMessage("".join(text), metadata=INCOMPLETE)
            self.transcript.append(self._message)
        return message

    async def _streamed(self, step: Step, text: list[str]) -> AIMessage | None:
        emit = self._recorder.event
        schema = None if self._wanted is None else self._wanted.document
        lm = step.session.counted(self._asked, keeps_texts=self._keeps_texts)
        async with lm.stream(step.request(), tools=self._declarations(step.offered), schema=schema) as chunks:
            while arrived := await chunks.arrived():
                if self._watch is not None:
                    self._watch.output()
                for chunk in arrived:
                    delta = chunk.delta
                    if delta.text:
                        text.append(delta.text)
                        await emit(TextDelta(delta=delta.text))
                    if delta.thought:
                        await emit(ThoughtDelta(delta=delta.thought))
                    if chunk.final:
                        self._message = self._ids.renewed(chunk.aggregated)
                    elif self._is_interrupted:
                        self._run.usages.append(None)
                        return None
        assert self._message is not None  # a stream without a final chunk raises
        self._run.usages.append(self._message.usage)
        return self._message

    async def _answer(self, batch: Batch, count: int, step: Step) -> None:
        refusal = self._no_room_for(count, step.index)
        self._calls += count
        if refusal is None:
            await batch.run(most=self._limits.max_parallel_tools)
        else:
            await batch.refuse(refusal)
            self._end(refusal.limit)

    async def _stop(self, step: Step) -> None:
        """A hook ends the run; its text, if any, is the last thing said, and read where a value is wanted."""
        if step.text:
            self._message = AIMessage(step.text)
            await self._recorder.event(TextDelta(delta=step.text))
            self.transcript.append(self._message)
            await self._recorder.replied(step.index, self._message, [])
        await self._conclude(step, self._message or AIMessage())

    async def _close_batch(self) -> None:
        """Show how the calls ended that an error interrupted; a recorder that has failed is not told."""
        if self._batch is not None:
            with suppress(LangfxError):
                await self._batch.close()

    def _declarations(self, tools: ToolRegistry) -> tuple[ToolDeclaration, ...]:
        if self._declared is None or self._declared[0] is not tools:
            self._declared = (tools, tools.declarations())
        return self._declared[1]

    def _no_room_for(self, count: int, index: int) -> BudgetExceededError | None:
        """The limit that forbids these calls: a step must remain to read their results."""
        if self._limits.max_steps is not None and index + 1 >= self._limits.max_steps:
            return BudgetExceededError("the run has no step left to read the result of this call", limit="max_steps")
        most = self._limits.max_tool_calls
        if most is not None and self._calls + count > most:
            return BudgetExceededError(f"the run is limited to {most} tool calls", limit="max_tool_calls")
        return None

    def _is_over_tokens(self) -> bool:
        most = self._limits.max_total_tokens
        usage = None if most is None else self._run.usage
        return most is not None and usage is not None and (usage.total_tokens or 0) >= most

    def _planned(self, step: Step, message: AIMessage) -> list[PlannedCall]:
        planned = []
        for call in message.tool_calls:
            tool = step.offered.get(call.name)
            idempotent = bool(tool and tool.idempotent)
            writes = tool.writes if tool else False
            planned.append(
                PlannedCall(execution_id=self._new_id("exe_"), call=call, idempotent=idempotent, writes=writes)
            )
        return planned

    def _fail(self, error: LangfxError) -> None:
        if isinstance(error, ContentFilteredError):
            self._end("refused", error)
        elif isinstance(error, IncompleteGenerationError) and error.finish_reason == "length":
            self._keep_cut_reply(error.partial)
            self._end("max_output_tokens", error)
        elif isinstance(error, DeadlineExceededError):
            self._end("max_time", error)
        else:
            self._end("error", error)

    def _keep_cut_reply(self, partial: AIMessage | None) -> None:
        if partial is None or not partial.parts:
            return
        self._message = self._ids.renewed(partial)
        self.transcript.append(self._message)
        for call in self._message.tool_calls:
            planned = PlannedCall(execution_id="", call=call, idempotent=False, writes=False)
            self.transcript.append(result_message(planned, CUT_CALL, is_error=True))

    def _end(self, stop_reason: str, error: LangfxError | None = None) -> None:
        self.outcome = RunEnd(stop_reason=stop_reason, usage=self._run.usage, message=self._message, error=error)


def _wanted(agent: AgentSetup, lm: LanguageModel) -> Wanted | None:
    """The value that a run of this agent with this model ends with, where it is to be one."""
    return None if agent.output is None else agent.output.wanted(lm, has_tools=len(agent.tools) > 0)


async def _taken_back(task: asyncio.Task[Any]) -> None:
    """Undo a cancelling of our own that came to nothing, whether it is still to be delivered or was swallowed."""
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    task.uncancel()
