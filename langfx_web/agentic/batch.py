"""The tool calls of one step: prepared and permitted together, then run by schedule, each with exactly one result."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from langfx_web.agentic.asking import CallAsker
from langfx_web.agentic.branch import Branch
from langfx_web.agentic.hooks import AllowTool, Hooks
from langfx_web.agentic.recorder import PlannedCall
from langfx_web.agentic.run import Run
from langfx_web.agentic.schedule import groups
from langfx_web.agentic.session import Session
from langfx_web.agentic.step import Step
from langfx_web.agentic.together import together
from langfx_web.errors import (
    GateDeclinedError,
    GateTimeoutError,
    LangfxError,
    ToolArgumentError,
    ToolDeniedError,
    ToolError,
    ToolNotFoundError,
)
from langfx_web.events import ToolEnd, ToolStart
from langfx_web.json_text import dumps
from langfx_web.masking import masked
from langfx_web.messages import Modality, ToolCall, ToolMessage
from langfx_web.tools import PreparedCall, ToolContext, ToolOutcome, call_checksum, run_call

MAX_SHOWN = 64 * 1024
INTERRUPTED = "Error: the call was interrupted before it had a result."


@dataclass(slots=True)
class _Call:
    """A call on its way: what was planned, what was made of it, and why it may not run."""

    planned: PlannedCall
    prepared: PreparedCall | None = None
    refusal: LangfxError | None = None
    since: float | None = None

    @property
    def checksum(self) -> str:
        """The same for equal calls."""
        return call_checksum(self.planned.call) if self.prepared is None else self.prepared.checksum


class Batch:
    """The calls of one reply. `results` has one message per call, in call order, once all have run."""

    def __init__(self, run: Run, hooks: Hooks, step: Step, calls: Sequence[PlannedCall]) -> None:
        self._run = run
        self._hooks = hooks
        self._step = step
        self._calls = [_Call(planned) for planned in calls]
        self._results: dict[str, ToolMessage] = {}

    @property
    def results(self) -> list[ToolMessage]:
        """The results so far in call order; a call that has none is told to have been interrupted."""
        return [
            self._results.get(call.planned.execution_id) or result_message(call.planned, INTERRUPTED, is_error=True)
            for call in self._calls
        ]

    async def run(self, *, most: int) -> None:
        """Prepare all calls, ask whether they may run, answer those that may not, run the others.

        Nothing runs, and nothing is shown, before the whole batch has passed. Raises what ends the run instead: a
        `HookError`, or the first problem where the agent's `on_tool_error` or `on_denied` is `"raise"`.
        """
        for call in self._calls:
            self._prepare(call)
        self._run.checksums.update([call.checksum for call in self._calls])
        if self._hooks.allow_tool is not None:
            await self._ask_the_app(self._hooks.allow_tool)
        await self._ask_people()
        for call in self._calls:
            if call.refusal is not None:
                await self._refuse(call, call.refusal)
        ready = [call for call in self._calls if call.refusal is None]
        for group in groups(ready, alone=lambda call: call.planned.writes, most=most):
            self._run.check()
            await self._run_group(group)
        await self.close()

    async def refuse(self, error: LangfxError) -> None:
        """Answer every call with the same error; none runs."""
        for call in self._calls:
            await self._refuse(call, error)

    async def close(self) -> None:
        """Answer the calls that were interrupted."""
        for call in self._calls:
            if call.planned.execution_id not in self._results:
                await self._finish(call, ToolOutcome(content=INTERRUPTED, is_error=True))

    def interrupted(self) -> list[ToolEnd]:
        """What would show the ends of the calls that have no result."""
        outcome = ToolOutcome(content=INTERRUPTED, is_error=True)
        return [self._end(call, outcome) for call in self._calls if call.planned.execution_id not in self._results]

    def _prepare(self, call: _Call) -> None:
        asked = call.planned.call
        tool = self._step.offered.get(asked.name)
        try:
            if tool is None:
                names = ", ".join(self._step.offered.names()) or "none"
                raise ToolNotFoundError(f"there is no tool {asked.name!r}. Available: {names}.", tool=asked.name)
            call.prepared = tool.prepare(asked)
        except (ToolNotFoundError, ToolArgumentError) as error:
            if self._hooks.on_tool_error == "raise":
                raise
            call.refusal = error

    async def _ask_the_app(self, allow: AllowTool) -> None:
        passing = (ToolDeniedError, GateDeclinedError, GateTimeoutError)
        for call in self._calls:
            if call.refusal is not None:
                continue
            try:
                allowed = await self._run.decided(allow, _copy(call.planned.call), self._step, passing=passing)
                reason = ""
            except ToolDeniedError as error:
                allowed, reason = False, masked(error.message)
            except (GateDeclinedError, GateTimeoutError) as error:
                allowed, reason = False, _reason(error)
            if not allowed:
                self._deny(call, reason)

    async def _ask_people(self) -> None:
        """Open the gates of all calls that need approval, together, and wait until each is settled."""
        asking = [call for call in self._calls if call.refusal is None and await self._needs_approval(call)]
        if len(asking) == 1:
            await self._approve(asking[0])
        elif asking:
            await together([self._approve(call) for call in asking])

    async def _needs_approval(self, call: _Call) -> bool:
        assert call.prepared is not None  # a call without a refusal is prepared
        approval = call.prepared.tool.approval
        if callable(approval):
            # Of its own: what a person allows is what runs.
            return await self._run.decided(approval, copy.deepcopy(call.prepared.arguments))
        return approval

    async def _approve(self, call: _Call) -> None:
        asked = call.planned.call
        try:
            allowed = await self._run.ask(
                f"approval:{asked.id}",
                f"May the tool {asked.name} run?",
                payload={"tool": asked.name, "args": asked.args, "checksum": call.checksum},
                call_id=asked.id,
            )
            reason = ""
        except GateDeclinedError as error:
            allowed, reason = False, _reason(error)
        if not allowed:
            self._deny(call, reason)

    def _deny(self, call: _Call, reason: str) -> None:
        """The call may not run."""
        name = call.planned.call.name
        denied = ToolDeniedError(reason or "the call was not allowed", tool=name, details={"reason": reason})
        if self._hooks.on_denied == "raise":
            raise denied
        call.refusal = denied

    async def _run_group(self, group: Sequence[_Call]) -> None:
        await self._run.recorder.call_starting([call.planned for call in group])
        self._run.check()
        if len(group) == 1:
            await self._run_one(group[0])
        else:
            await together([self._run_one(call) for call in group])
        self._run.check()

    async def _run_one(self, call: _Call) -> None:
        self._run.check()
        prepared = call.prepared
        assert prepared is not None  # only prepared calls run
        call.since = self._run.clock.monotonic()
        await self._started(call, prepared)
        self._run.check()
        outcome = await self._outcome(call, prepared)
        await self._finish(call, outcome)
        if outcome.error is not None and self._hooks.on_tool_error == "raise":
            raise outcome.error

    async def _outcome(self, call: _Call, prepared: PreparedCall) -> ToolOutcome:
        """Run a call in a node of its own, which has failed where the tool has."""
        outcome: ToolOutcome | None = None
        try:
            async with self._node(call, prepared.input) as view:
                outcome = await run_call(prepared, self._context(call, prepared, view))
                view.record(result=outcome.content)
                if outcome.error is not None:
                    raise outcome.error
        except ToolError:
            if outcome is None:
                raise
        return outcome

    def _node(self, call: _Call, args: Any) -> Branch[Session]:
        """Where the trace has a call, with what was asked of the tool."""
        planned = call.planned
        metadata = {"execution_id": planned.execution_id, "args": args}
        return self._step.session.branch("tool", f"Tool:{planned.call.name}", metadata=metadata)

    def _context(self, call: _Call, prepared: PreparedCall, view: Any) -> ToolContext:
        place = self._run.place
        return ToolContext(
            call=_copy(call.planned.call),
            checksum=call.checksum,
            execution_id=call.planned.execution_id,
            turn_id=place.turn_id,
            session_id=place.session_id,
            context=copy.deepcopy(dict(place.context)) if place.context else {},
            session=view,
            meta=prepared.tool.meta,
            asker=CallAsker(self._run, call.planned),
            observation=self._run.observation(call.planned.execution_id),
        )

    async def _started(self, call: _Call, prepared: PreparedCall) -> None:
        event = ToolStart(
            id=call.planned.call.id,
            execution_id=call.planned.execution_id,
            name=call.planned.call.name,
            checksum=call.checksum,
            started_at=self._run.time(),
            input=prepared.input,
        )
        if not _is_small(prepared.input):
            text = dumps(prepared.input)
            if len(text.encode("utf-8", "replace")) > MAX_SHOWN:
                event = replace(event, input=None, input_truncated=True, input_preview=text[:MAX_SHOWN])
        await self._run.recorder.event(event)

    async def _refuse(self, call: _Call, error: LangfxError) -> None:
        """Answer a call that may not run; the trace has it as failed at once."""
        try:
            async with self._node(call, call.planned.call.args):
                raise error
        except LangfxError as raised:
            if raised is not error:
                raise
        await self._finish(call, ToolOutcome(content=_told(error), is_error=True, error=error))

    async def _finish(self, call: _Call, outcome: ToolOutcome) -> None:
        planned = call.planned
        result = result_message(planned, *(outcome.parts or (outcome.content,)), is_error=outcome.is_error)
        self._results[planned.execution_id] = result
        await self._run.recorder.call_done(planned, result, self._end(call, outcome))

    def _end(self, call: _Call, outcome: ToolOutcome) -> ToolEnd:
        planned, clock = call.planned, self._run.clock
        return ToolEnd(
            id=planned.call.id,
            execution_id=planned.execution_id,
            name=planned.call.name,
            checksum=call.checksum,
            is_error=outcome.is_error,
            ended_at=self._run.time(),
            duration_ms=0 if call.since is None else round((clock.monotonic() - call.since) * 1000),
            content=outcome.content,
            content_truncated=outcome.is_cut or None,
            error_code=None if outcome.error is None else outcome.error.code,
        )


def _copy(call: ToolCall) -> ToolCall:
    """The call with arguments of its own, for functions of the app: the conversation keeps what the model wrote."""
    return ToolCall(call.id, call.name, call.args, raw_args=call.raw_args)


def result_message(planned: PlannedCall, *content: str | Modality, is_error: bool) -> ToolMessage:
    """The message that answers a call."""
    return ToolMessage(*content, call_id=planned.call.id, name=planned.call.name, is_error=is_error)


def _told(error: LangfxError) -> str:
    """What the model reads of a call that was not run: bad arguments are listed, anything else is said."""
    if isinstance(error, ToolArgumentError):
        return error.message
    if isinstance(error, ToolDeniedError):
        return f"Error: the call was not allowed. {error.details['reason']}".rstrip()
    return f"Error: {error.message}"


def _is_small(input: Any) -> bool:
    """Whether arguments are so few and short that nobody need measure them."""
    return isinstance(input, dict) and len(input) <= 16 and all(map(_is_short, input.values()))


def _is_short(value: Any) -> bool:
    return len(value) <= 512 if type(value) is str else value is None or type(value) in (bool, int, float)


def _reason(error: GateDeclinedError | GateTimeoutError) -> str:
    """Why a person did not allow a call, as far as that was said."""
    return str(error.details["reason"]) if "reason" in error.details else error.message
