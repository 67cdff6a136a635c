"""The tool calls of one step: prepared together, then run by schedule, each with exactly one result."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from langfx_web.agentic.recorder import PlannedCall, Recorder
from langfx_web.agentic.schedule import groups
from langfx_web.clock import Clock
from langfx_web.errors import LangfxError, ToolArgumentError, ToolNotFoundError
from langfx_web.events import ToolEnd, ToolStart, TurnEvent
from langfx_web.json_text import dumps
from langfx_web.messages import Modality, ToolMessage
from langfx_web.tools import PreparedCall, ToolContext, ToolOutcome, ToolRegistry, call_checksum, run_call

MAX_SHOWN = 64 * 1024
INTERRUPTED = "Error: the call was interrupted before it had a result."


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a batch runs: ids and context that its tools may see."""

    turn_id: str
    session_id: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)


class Batch:
    """The calls of one reply. `results` has one message per call, in call order, once all have run."""

    def __init__(
        self, calls: Sequence[PlannedCall], tools: ToolRegistry, *, recorder: Recorder, clock: Clock, place: Place
    ) -> None:
        self._calls = calls
        self._tools = tools
        self._recorder = recorder
        self._clock = clock
        self._place = place
        self._results: dict[str, ToolMessage] = {}

    @property
    def results(self) -> list[ToolMessage]:
        """The results so far in call order; a call that has none is told to have been interrupted."""
        return [
            self._results.get(planned.execution_id) or result_message(planned, INTERRUPTED, is_error=True)
            for planned in self._calls
        ]

    async def run(self, *, most: int, remaining: Callable[[], float | None]) -> AsyncGenerator[TurnEvent, None]:
        """Prepare all calls, answer the bad ones, run the others; events as they happen.

        Nothing runs before the whole batch is prepared. `remaining` gives the seconds left to the run; when they are
        over, what runs is cancelled and counts as interrupted.
        """
        good: list[tuple[PlannedCall, PreparedCall]] = []
        for planned in self._calls:
            prepared = self._prepare(planned)
            if isinstance(prepared, PreparedCall):
                good.append((planned, prepared))
            else:
                yield await self._finish(planned, ToolOutcome(content=_told(prepared), is_error=True, error=prepared))
        for group in groups(good, alone=lambda item: item[0].writes, most=most):
            left = remaining()
            if left is not None and left <= 0:
                break
            await self._recorder.call_starting([planned for planned, _ in group])
            async with aclosing(self._run_group(group, remaining)) as events:
                async for event in events:
                    yield event
        for planned in self._calls:
            if planned.execution_id not in self._results:
                yield await self._finish(planned, ToolOutcome(content=INTERRUPTED, is_error=True))

    async def refuse(self, error: LangfxError) -> AsyncGenerator[TurnEvent, None]:
        """Answer every call with the same error; none runs."""
        for planned in self._calls:
            yield await self._finish(planned, ToolOutcome(content=_told(error), is_error=True, error=error))

    def _prepare(self, planned: PlannedCall) -> PreparedCall | LangfxError:
        call = planned.call
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools.names()) or "none"
            return ToolNotFoundError(f"there is no tool {call.name!r}. Available: {names}.", tool=call.name)
        try:
            return tool.prepare(call)
        except ToolArgumentError as error:
            return error

    async def _run_group(
        self, group: Sequence[tuple[PlannedCall, PreparedCall]], remaining: Callable[[], float | None]
    ) -> AsyncGenerator[TurnEvent, None]:
        running: dict[asyncio.Task[ToolOutcome], tuple[PlannedCall, float]] = {}
        try:
            for planned, prepared in group:
                yield await self._started(planned, prepared)
                task = asyncio.ensure_future(run_call(prepared, self._context(planned, prepared)))
                running[task] = (planned, self._clock.monotonic())
            while running:
                done, _ = await asyncio.wait(running, timeout=remaining(), return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    return
                for task in sorted(done, key=list(running).index):
                    planned, since = running.pop(task)
                    yield await self._finish(planned, task.result(), since=since)
        finally:
            await _cancelled(list(running))

    def _context(self, planned: PlannedCall, prepared: PreparedCall) -> ToolContext:
        return ToolContext(
            call=planned.call,
            checksum=prepared.checksum,
            execution_id=planned.execution_id,
            turn_id=self._place.turn_id,
            session_id=self._place.session_id,
            context=copy.deepcopy(dict(self._place.context)),
        )

    async def _started(self, planned: PlannedCall, prepared: PreparedCall) -> ToolStart:
        event = ToolStart(
            id=planned.call.id,
            execution_id=planned.execution_id,
            name=planned.call.name,
            checksum=prepared.checksum,
            started_at=self._time(),
            input=prepared.input,
        )
        text = dumps(prepared.input)
        if len(text.encode("utf-8", "replace")) > MAX_SHOWN:
            event = replace(event, input=None, input_truncated=True, input_preview=text[:MAX_SHOWN])
        await self._recorder.event(event)
        return event

    async def _finish(self, planned: PlannedCall, outcome: ToolOutcome, *, since: float | None = None) -> ToolEnd:
        content = outcome.parts or (outcome.content,)
        result = result_message(planned, *content, is_error=outcome.is_error)
        end = ToolEnd(
            id=planned.call.id,
            execution_id=planned.execution_id,
            name=planned.call.name,
            checksum=call_checksum(planned.call),
            is_error=outcome.is_error,
            ended_at=self._time(),
            duration_ms=0 if since is None else round((self._clock.monotonic() - since) * 1000),
            content=outcome.content,
            content_truncated=outcome.is_cut or None,
            error_code=None if outcome.error is None else outcome.error.code,
        )
        self._results[planned.execution_id] = result
        await self._recorder.call_done(planned, result, end)
        return end

    def _time(self) -> str:
        return self._clock.now().isoformat(timespec="milliseconds")


def result_message(planned: PlannedCall, *content: str | Modality, is_error: bool) -> ToolMessage:
    """The message that answers a call."""
    return ToolMessage(*content, call_id=planned.call.id, name=planned.call.name, is_error=is_error)


def _told(error: LangfxError) -> str:
    """What the model reads of a call that was not run: bad arguments are listed, anything else is said."""
    return error.message if isinstance(error, ToolArgumentError) else f"Error: {error.message}"


async def _cancelled(tasks: list[asyncio.Task[ToolOutcome]]) -> None:
    """Cancel and wait; each task bounds its own tool's cleanup."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
