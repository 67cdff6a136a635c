"""A view of one prompt and all that is done to answer it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langfx_web.agentic import error_info
from langfx_web.durable.lines import Line, LineStream, count, decode, encode, follow
from langfx_web.durable.registration import Outcome, Registration
from langfx_web.durable.runner import Runner
from langfx_web.durable.submission import Accepted, Submission
from langfx_web.durable.wake import Wake
from langfx_web.errors import LangfxError, StoreError
from langfx_web.events import ErrorInfo, TurnEvent
from langfx_web.usage import Usage

HIDDEN = frozenset({"turn_start", "turn_resume", "turn_yield", "turn_end", "lines_pruned"})
"""Types of lines that iterating over a turn does not show."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended; `error` is set where it failed or was refused, `repeated` where its prompt was known before."""

    message_id: str
    stop_reason: str
    usage: Usage | None
    error: ErrorInfo | None
    epoch: int
    repeated: bool


class _Later(Generic[Value]):
    """Something to await, any number of times; nothing happens before, and nothing is complained of if nobody does."""

    def __init__(self, get: Callable[[], Coroutine[Any, Any, Value]]) -> None:
        self._get = get

    def __await__(self) -> Generator[Any, Any, Value]:
        return self._get().__await__()


class Turn:
    """A prompt that was handed in. A view: dropping it or leaving its iteration never cancels the turn.

    `accepted`, `result` and the iteration raise only if the prompt was not stored; how the turn failed is in `result`.
    """

    def __init__(self, runner: Runner, submission: Submission) -> None:
        self._runner = runner
        self._submission = submission

    @property
    def message_id(self) -> str:
        """The prompt's id."""
        return self._submission.message_id

    @property
    def accepted(self) -> Awaitable[Accepted]:
        """Done once the prompt is stored."""
        return _Later(self._accepted)

    @property
    def result(self) -> Awaitable[TurnResult]:
        """Done once the turn's end is stored."""
        return _Later(self._result)

    @property
    def output(self) -> Awaitable[Any]:
        """Once the turn's end is stored, the value that its last answer has, of an agent with an `output`; else a text.

        `MappingError` where there is none.
        """
        return _Later(self._output)

    @property
    def line_count(self) -> Awaitable[int]:
        """How many lines the turn has in all; known with its result."""
        return _Later(self._line_count)

    @property
    def lines(self) -> LineStream:
        """All the turn's stored lines, `turn_start` to `turn_end`."""
        return LineStream(self._batches)

    @property
    def readable(self) -> AsyncIterator[bytes]:
        """All the turn's lines as NDJSON."""
        return self.lines.readable

    async def __aiter__(self) -> AsyncIterator[TurnEvent]:
        """The turn's events from its first on, but for its start and end; any number of times."""
        async with aclosing(self._batches()) as batches:
            async for batch in batches:
                for line in batch:
                    if line.type not in HIDDEN:
                        yield line.event

    async def _accepted(self) -> Accepted:
        stored = await asyncio.shield(self._submission.stored)
        if isinstance(stored, LangfxError):
            raise stored
        return stored

    async def _ended(self) -> Outcome | LangfxError:
        await self._accepted()
        ended = await asyncio.shield(self._submission.ended)
        return ended if ended is not None else await self._told()

    async def _told(self) -> Outcome | LangfxError:
        """How the turn ends that runs elsewhere, as the store tells it."""
        runner = self._runner
        try:
            with Wake(runner.store, runner.id, runner.clock) as wake:
                while True:
                    text = await runner.store.lookup(runner.id, self.message_id)
                    if text is None:
                        raise StoreError("the conversation was deleted", code="session_missing")
                    outcome = Registration.from_text(text).outcome
                    if outcome is not None:
                        return outcome
                    await wake.wait()
        except LangfxError as error:
            return error

    async def _result(self) -> TurnResult:
        ended = await self._ended()
        if isinstance(ended, LangfxError):
            epoch = self._runner.replica.head.epoch
            ended = Outcome(stop_reason="error", error=error_info(ended), epoch=epoch, lines=0)
        return TurnResult(
            message_id=self.message_id,
            stop_reason=ended.stop_reason,
            usage=ended.usage,
            error=ended.error,
            epoch=ended.epoch,
            repeated=self._submission.repeated,
        )

    async def _output(self) -> Any:
        await self._ended()
        return await self._runner.output(self.message_id)

    async def _line_count(self) -> int:
        ended = await self._ended()
        if isinstance(ended, LangfxError):
            return await count(self._runner.store, self._runner.id, self._submission.cursor, self.message_id)
        return 1 if self._submission.is_replay else ended.lines

    async def _batches(self) -> AsyncGenerator[tuple[Line, ...], None]:
        await self._accepted()
        if self._submission.is_replay:
            yield (await self._replayed(),)
            return
        runner, submission = self._runner, self._submission
        lines = follow(runner.store, runner.id, submission.cursor, clock=runner.clock, given_up=submission.given_up)
        async with aclosing(lines) as pages:
            async for page in pages:
                batch = tuple(line for line in page if line.message_id == self.message_id)
                if batch:
                    yield batch
                if batch and batch[-1].type == "turn_end":
                    return

    async def _replayed(self) -> Line:
        """The one line of a turn that had ended before it was asked for again: its end, without a number."""
        ended = await self._ended()
        assert isinstance(ended, Outcome)  # that is what makes it a replay
        event = ended.as_event(repeated=True)
        return decode(encode(event, message_id=self.message_id, epoch=ended.epoch, cursor=None), cursor=None)

    def __repr__(self) -> str:
        return f"Turn({self.message_id!r})"
