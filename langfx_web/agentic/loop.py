"""The one agent loop: ask the model, run its tool calls, decide whether to go on.

It serves the one-shot run and the durable turn. Clock, ids and recorder are handed in; it never asks whether anything
is being stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from langfx_web.agentic.batch import Batch, Place, result_message
from langfx_web.agentic.limits import Limits
from langfx_web.agentic.recorder import NullRecorder, PlannedCall, Recorder
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import (
    BudgetExceededError,
    ContentFilteredError,
    DeadlineExceededError,
    IncompleteGenerationError,
    LangfxError,
    LMError,
    LMTimeoutError,
)
from langfx_web.events import TextDelta, ThoughtDelta, TurnEvent
from langfx_web.llms import LanguageModel, Models
from langfx_web.messages import AIMessage, Message, SystemMessage, ToolCall
from langfx_web.tools import ToolRegistry
from langfx_web.usage import Usage, total

CUT_CALL = "Error: the reply reached the output limit, so none of its tool calls was run. Ask for less at once."


class AgentSetup(Protocol):
    """What the loop and durable turns need to know of an agent."""

    @property
    def name(self) -> str:
        """The agent's name, the owner of its sessions."""

    @property
    def lm(self) -> LanguageModel:
        """The model it asks."""

    @property
    def instructions(self) -> str | None:
        """The whole system message."""

    @property
    def tools(self) -> ToolRegistry:
        """What the model may call."""

    @property
    def limits(self) -> Limits:
        """Bounds of a run, as the agent's author gave them."""

    @property
    def models(self) -> Models:
        """What is known of other models that a session may switch to, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended: the stop reason, its cost, the last message, and the error behind `error` and `refused`."""

    stop_reason: str
    usage: Usage | None = None
    message: AIMessage | None = None
    error: LangfxError | None = None


class Loop:
    """One bounded run over a transcript. Read `events()` to its end, then `outcome`.

    `transcript` grows as the run goes on and is always valid to send again: every call in it has a result.
    """

    def __init__(
        self,
        agent: AgentSetup,
        transcript: Sequence[Message],
        *,
        lm: LanguageModel,
        limits: Limits,
        place: Place,
        new_id: Callable[[str], str],
        recorder: Recorder | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.transcript = list(transcript)
        self.outcome: RunEnd | None = None
        self._agent = agent
        self._lm = lm
        self._limits = limits
        self._place = place
        self._new_id = new_id
        self._recorder = recorder or NullRecorder()
        self._clock = clock
        self._ends_at = None if limits.timeout is None else clock.monotonic() + limits.timeout
        self._usages: list[Usage | None] = []
        self._calls = 0
        self._message: AIMessage | None = None
        self._call_ids = {call.id for message in transcript for call in message.tool_calls}

    async def events(self) -> AsyncGenerator[TurnEvent, None]:
        """Run; each event was given to the recorder before it comes out here.

        What ends the run is in `outcome`; only `CancelledError`, and what a broken model or recorder raises, come out.
        """
        step = 0
        try:
            while self.outcome is None:
                async with aclosing(self._step(step)) as events:
                    async for event in events:
                        yield event
                step += 1
        except (asyncio.CancelledError, GeneratorExit):
            self._end("cancelled")
            raise
        except LangfxError as error:
            self._fail(error)

    async def _step(self, step: int) -> AsyncGenerator[TurnEvent, None]:
        if self._out_of_bounds(step):
            return
        self.transcript.extend(await self._recorder.before_request(step))
        async with aclosing(self._ask()) as deltas:
            async for event in deltas:
                await self._recorder.event(event)
                yield event
        message = self._message
        assert message is not None  # _ask raises when it has no complete answer
        calls = self._planned(message)
        self.transcript.append(message)
        await self._recorder.replied(step, message, calls)
        if message.finish_reason == "pause" and not calls:
            return
        if not calls:
            self._end("end_turn")
            return
        batch = Batch(calls, self._agent.tools, recorder=self._recorder, clock=self._clock, place=self._place)
        try:
            async with aclosing(self._answer(batch, calls, step)) as events:
                async for event in events:
                    yield event
        finally:
            self.transcript.extend(batch.results)

    async def _ask(self) -> AsyncGenerator[TurnEvent, None]:
        """One request; leaves the whole answer in `_message`."""
        self._message = None
        lm = self._lm
        left = self._remaining()
        if left is not None and (lm.timeout is None or left < lm.timeout):
            lm = lm.with_options(timeout=left)
        await self._agent.tools.ready()
        try:
            async with lm.stream(self.transcript, tools=self._agent.tools.declarations()) as chunks:
                async for chunk in chunks:
                    if chunk.delta.text:
                        yield TextDelta(delta=chunk.delta.text)
                    if chunk.delta.thought:
                        yield ThoughtDelta(delta=chunk.delta.thought)
                    if chunk.final:
                        self._message = self._with_new_ids(chunk.aggregated)
        except LMError as error:
            self._usages.append(error.usage)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            self._usages.append(None)
            raise
        if self._message is not None:
            self._usages.append(self._message.usage)

    async def _answer(self, batch: Batch, calls: Sequence[PlannedCall], step: int) -> AsyncGenerator[TurnEvent, None]:
        refusal = self._no_room_for(calls, step)
        self._calls += len(calls)
        events = batch.refuse(refusal) if refusal else self._run(batch)
        async with aclosing(events):
            async for event in events:
                yield event
        if refusal:
            self._end(refusal.limit)

    async def _run(self, batch: Batch) -> AsyncGenerator[TurnEvent, None]:
        events = batch.run(most=self._limits.max_parallel_tools, remaining=self._remaining)
        async with aclosing(events):
            async for event in events:
                yield event

    def _no_room_for(self, calls: Sequence[PlannedCall], step: int) -> BudgetExceededError | None:
        """The limit that forbids these calls: a step must remain to read their results."""
        if self._limits.max_steps is not None and step + 1 >= self._limits.max_steps:
            return BudgetExceededError("the run has no step left to read the result of this call", limit="max_steps")
        most = self._limits.max_tool_calls
        if most is not None and self._calls + len(calls) > most:
            return BudgetExceededError(f"the run is limited to {most} tool calls", limit="max_tool_calls")
        return None

    def _out_of_bounds(self, step: int) -> bool:
        """End the run where a limit has been reached between two steps."""
        left = self._remaining()
        tokens = total(self._usages)
        spent = tokens.total_tokens if tokens else None
        if left is not None and left <= 0:
            self._end("max_time", DeadlineExceededError("the run reached its time limit"))
        elif self._limits.max_total_tokens is not None and (spent or 0) >= self._limits.max_total_tokens:
            self._end("max_total_tokens")
        elif self._limits.max_steps is not None and step >= self._limits.max_steps:
            self._end("max_steps")
        return self.outcome is not None

    def _remaining(self) -> float | None:
        return None if self._ends_at is None else self._ends_at - self._clock.monotonic()

    def _planned(self, message: AIMessage) -> list[PlannedCall]:
        planned = []
        for call in message.tool_calls:
            tool = self._agent.tools.get(call.name)
            idempotent = bool(tool and tool.idempotent)
            writes = tool.writes if tool else False
            planned.append(
                PlannedCall(execution_id=self._new_id("exe_"), call=call, idempotent=idempotent, writes=writes)
            )
        return planned

    def _with_new_ids(self, message: AIMessage) -> AIMessage:
        """The answer, in which a call id that an earlier answer used is made a new one."""
        parts = [self._unused(part) if isinstance(part, ToolCall) else part for part in message.parts]
        self._call_ids.update(part.id for part in parts if isinstance(part, ToolCall))
        return message if list(message.parts) == parts else message.replace(parts=parts)

    def _unused(self, call: ToolCall) -> ToolCall:
        if call.id not in self._call_ids:
            return call
        number = 2
        while f"{call.id[:60]}_{number}" in self._call_ids:
            number += 1
        return ToolCall(f"{call.id[:60]}_{number}", call.name, call.args, raw_args=call.raw_args)

    def _fail(self, error: LangfxError) -> None:
        partial = getattr(error, "partial", None)
        if isinstance(error, ContentFilteredError):
            self._end("refused", error)
        elif isinstance(error, IncompleteGenerationError) and error.finish_reason == "length":
            self._keep_cut_reply(partial)
            self._end("max_output_tokens", error)
        elif isinstance(error, LMTimeoutError) and self._ends_at is not None and (self._remaining() or 0) <= 0:
            self._end("max_time", DeadlineExceededError("the run reached its time limit"))
        else:
            self._end("error", error)

    def _keep_cut_reply(self, partial: AIMessage | None) -> None:
        if partial is None or not partial.parts:
            return
        self._message = self._with_new_ids(partial)
        self.transcript.append(self._message)
        for planned in self._planned(self._message):
            self.transcript.append(result_message(planned, CUT_CALL, is_error=True))

    def _end(self, stop_reason: str, error: LangfxError | None = None) -> None:
        self.outcome = RunEnd(stop_reason=stop_reason, usage=total(self._usages), message=self._message, error=error)


def opening(agent: AgentSetup, *messages: Message) -> list[Message]:
    """The transcript a run starts with: the agent's instructions, where it has any, then the messages."""
    system = [SystemMessage(agent.instructions)] if agent.instructions else []
    return [*system, *messages]
