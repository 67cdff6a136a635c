"""`query_stream`: one prompt, and its answer shown while the model writes it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

from langfx_web.deadline import deadline_after
from langfx_web.errors import DeadlineExceededError, InvalidArgumentError, MappingError, OutputLimitError
from langfx_web.events import (
    GenerationCancelled,
    GenerationComplete,
    GenerationFailed,
    ParsingFailed,
    QueryEvent,
    TerminalEvent,
    TextDelta,
    ThoughtDelta,
)
from langfx_web.llms import LanguageModel, StreamChunk
from langfx_web.messages import AIMessage
from langfx_web.protocols import ParseLimits, ProtocolName
from langfx_web.queries.answering import Reading as AnswerReading
from langfx_web.queries.answering import finished
from langfx_web.queries.example import MappingExample
from langfx_web.queries.inquiry import Inquiry, inquiry
from langfx_web.queries.waiting import Waiting
from langfx_web.queries.wrapped import reader_of
from langfx_web.schemas import pydantic_arrived
from langfx_web.transport.base import Reading
from langfx_web.transport.timeouts import Watch

LONGEST_PIECE = 1024
"""Characters that are read at a time; a model's own pieces are far shorter."""

BUSY = 0.025
"""Seconds of work after which the event loop gets a turn, and a wait after which it has had one."""

Value = TypeVar("Value")

Piece: TypeAlias = str | ThoughtDelta | AIMessage
"""What an answer arrives as: text, reasoning, and at last the whole message."""


def query_stream(
    prompt: Any,
    schema: Any = None,
    *,
    lm: LanguageModel | None = None,
    vars: Mapping[str, Any] | None = None,
    protocol: ProtocolName = "python",
    native_structured_output: bool = False,
    examples: Sequence[MappingExample] = (),
    context: Any = None,
    system_message: str | None = None,
    parse_limits: ParseLimits | None = None,
    cache_seed: int | None = 0,
    timeout: float | None = None,
    include_text: bool = False,
    **sampling: Any,
) -> QueryStream:
    """Ask a model as `query` does, and show its answer while it is written, to be read with `async for`.

    Without a schema the text is shown as it comes, with one its fields are; `include_text` shows the text beside them.
    The events end with exactly one that says what came of it, which is what `query` would have returned or raised.
    `timeout` is seconds from now for all of it. No kept answer is used and none is kept, whatever the `cache_seed`. Bad
    options are raised here, and nothing is sent before the first event is asked for.
    """
    question = inquiry(
        prompt,
        schema,
        lm=lm,
        vars=vars,
        protocol=protocol,
        native_structured_output=native_structured_output,
        examples=examples,
        context=context,
        system_message=system_message,
        parse_limits=parse_limits,
        **sampling,
    )
    if question.lm.options.merged(sampling).n > 1:
        raise InvalidArgumentError("a query has one answer: n must be 1", details={"option": "n"})
    return QueryStream(question, timeout=timeout, include_text=include_text)


class QueryStream:
    """An answer as it comes: `async for event in stream`, once; leaving the loop in any way ends the request at once.

    Failures are events. Only cancelling the task that reads is raised in it, after the request has ended. What is kept
    in a variable is best held in `async with`.
    """

    def __init__(self, question: Inquiry, *, timeout: float | None, include_text: bool) -> None:
        self._state = "new"
        self._question = question
        self._clock = question.lm.clock
        self._deadline = deadline_after(timeout, self._clock)
        self._source = question.lm.stream(question.message, **question.options)
        self._shows_text = include_text or question.schema is None
        self._reader = reader_of(question)
        self._has_reader = False
        self._pieces: deque[Piece] = deque()
        self._ready: deque[QueryEvent] = deque()
        self._waiting = Waiting()
        self._watch = Watch(self._clock)
        self._turn_due = self._clock.monotonic() + BUSY
        self._observers: list[Callable[[TerminalEvent | None], None]] = []
        self._state = "open"

    def __aiter__(self) -> AsyncIterator[QueryEvent]:
        if self._has_reader:
            raise InvalidArgumentError("a stream has one reader, and is read once")
        self._has_reader = True
        return Reading(self)

    async def __anext__(self) -> QueryEvent:
        while not self._ready:
            if self._state == "ended":
                raise StopAsyncIteration
            if self._state == "left":
                raise InvalidArgumentError("this stream was left before its end and cannot be read on")
            if self._waiting.is_on:
                raise InvalidArgumentError("a stream has one reader, and that waits for the next event")
            await self._advance()
        return self._ready.popleft()

    def cancel(self, reason: str = "") -> None:
        """End the query: the request at once, and the events with `generation_cancelled`, unless they had ended."""
        if self._state == "open":
            self._ready.clear()
            self._end(GenerationCancelled(reason=reason or "the query was cancelled"))
            self._waiting.end()

    def when_over(self, observer: Callable[[TerminalEvent | None], None]) -> None:
        """Have `observer` called with the event that this ends with, or None when it is left before."""
        self._observers.append(observer)

    async def aclose(self) -> None:
        """Leave the stream: the request ends, and the model has let go of it. Any number of times."""
        if self._waiting.is_on:
            self.cancel("the stream was closed")
        elif self._state == "open":
            self._state = "left"
            try:
                await self._source.aclose()
            finally:
                self._over(None)

    def abort(self) -> None:
        """Leave the stream without waiting; nothing happens where it has ended."""
        if self._state == "open":
            self._state = "left"
            self._source.abort()
            self._over(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self.abort()

    # Reading

    async def _advance(self) -> None:
        """Get on by a piece of the answer, or by a wait for some."""
        try:
            if self._clock.monotonic() >= self._turn_due:
                await self._give_turn()
            if not self._pieces and self._state == "open":
                await self._wait_for_pieces()
            piece = self._pieces.popleft() if self._pieces else None
            if isinstance(piece, AIMessage):
                await self._finish(finished(piece))
            elif piece is not None:
                self._take(piece)
        except Exception as error:  # noqa: BLE001  # a failure is an event
            self._end(GenerationFailed(error=error))
        except BaseException:
            self.abort()
            raise

    async def _give_turn(self) -> None:
        await asyncio.sleep(0)
        self._turn_due = self._clock.monotonic() + BUSY

    async def _wait_for_pieces(self) -> None:
        started = self._clock.monotonic()
        if self._deadline is not None and self._deadline <= started:
            raise _too_late()
        self._pieces.extend(_pieces(await self._until(self._source.arrived) or ()))
        now = self._clock.monotonic()
        if now - started >= BUSY:
            self._turn_due = now + BUSY

    async def _until(self, arrives: Callable[[], Awaitable[Value]]) -> Value | None:
        """What was waited for, in time; None where the query was cancelled meanwhile."""
        value = None
        with self._waiting:
            if self._deadline is None:
                value = await arrives()
            else:
                with self._watch.limit(self._deadline - self._clock.monotonic(), _too_late):
                    value = await arrives()
        return value if self._state == "open" else None

    def _take(self, piece: str | ThoughtDelta) -> None:
        if isinstance(piece, ThoughtDelta):
            self._ready.append(piece)
            return
        if self._shows_text:
            self._ready.append(TextDelta(delta=piece))
        if self._reader is not None:
            self._ready.extend(self._reader.feed(piece))
            if self._reader.limit_error is not None:
                raise self._reader.limit_error

    async def _finish(self, answer: AIMessage) -> None:
        if self._reader is not None:
            await self._until(pydantic_arrived)
            self._ready.extend(self._reader.finish() if self._state == "open" else ())
        if self._state == "open":
            self._end(self._outcome(answer))

    def _outcome(self, answer: AIMessage) -> TerminalEvent:
        """What `query` makes of the whole answer."""
        try:
            message = AnswerReading(parse=self._question.read).read(answer)
        except MappingError as error:
            if isinstance(error.cause, OutputLimitError):
                return GenerationFailed(error=error.cause)
            return ParsingFailed(error=error, message=answer)
        return GenerationComplete(value=message.result, message=message, usage=message.usage)

    def _end(self, event: TerminalEvent) -> None:
        if self._state != "open":
            return
        self._state = "ended"
        self._pieces.clear()
        self._ready.append(event)
        self._source.abort()
        self._over(event)

    def _over(self, event: TerminalEvent | None) -> None:
        self._watch.close()
        observers, self._observers = self._observers, []
        for observer in observers:
            observer(event)


def _pieces(chunks: Iterable[StreamChunk]) -> Iterator[Piece]:
    for chunk in chunks:
        delta = chunk.delta
        if delta.thought:
            yield ThoughtDelta(delta=delta.thought)
        elif len(delta.text) <= LONGEST_PIECE:
            if delta.text:
                yield delta.text
        else:
            yield from (delta.text[at : at + LONGEST_PIECE] for at in range(0, len(delta.text), LONGEST_PIECE))
        if chunk.final:
            yield chunk.aggregated


def _too_late() -> DeadlineExceededError:
    return DeadlineExceededError("the deadline has passed")
