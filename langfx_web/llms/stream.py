"""One answer being streamed: attempts, waits between them, the time limit over all, and giving up at any moment."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from langfx_web.clock import Clock
from langfx_web.errors import IncompleteGenerationError, InvalidArgumentError, LMError, LMProtocolError, LMTimeoutError
from langfx_web.llms.delta import Delta
from langfx_web.llms.fold import Fold
from langfx_web.llms.retry import RetryPolicy, is_unreachable
from langfx_web.llms.sampling import StreamChunk
from langfx_web.transport.base import Reading
from langfx_web.transport.timeouts import Watch
from langfx_web.usage import Usage

Deltas: TypeAlias = AsyncIterator[Delta | Sequence[Delta]]
"""What a model streams: deltas, or lists of those that arrived together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """How a stream comes by its answer: `start` begins an attempt, the rest says how long and how often."""

    start: Callable[[], Deltas]
    seed: Callable[[], bytes]
    retry: RetryPolicy
    timeout: float | None
    clock: Clock
    provider: str
    model: str


class ModelStream:
    """An answer as it comes: `async for chunk in stream`, once; leaving the loop in any way ends the request at once.

    Every failure is raised from the iteration, with what had arrived as `.partial`.
    """

    def __init__(self, attempts: Attempts) -> None:
        self._state = "open"
        self._source: Deltas | None = None
        self._attempts = attempts
        self._watch = Watch(attempts.clock)
        self._ready: deque[StreamChunk] = deque()
        self._fold = Fold(attempts.seed)
        self._count = 0
        self._spent: Usage | None = None
        self._requests = 0
        self._unreachable = False

    def __aiter__(self) -> AsyncIterator[StreamChunk]:
        return Reading(self)

    async def __anext__(self) -> StreamChunk:
        if not self._ready:
            await self._fill()
        if not self._ready:
            raise StopAsyncIteration
        return self._ready.popleft()

    async def arrived(self) -> list[StreamChunk]:
        """All chunks that are there, waited for where there are none; [] after the last."""
        await self._fill()
        chunks = list(self._ready)
        self._ready.clear()
        return chunks

    async def _fill(self) -> None:
        while not self._ready and self._state != "ended":
            if self._state == "left":
                raise InvalidArgumentError("this stream was left before its end and cannot be read on")
            await self._advance()

    async def finals(self) -> list[StreamChunk]:
        """Read to the end, and give the final chunk of each candidate."""
        finals: list[StreamChunk] = []
        while self._state == "open":
            await self._advance()
            finals = [chunk for chunk in self._ready if chunk.final]
            self._ready.clear()
        return finals

    async def _advance(self) -> None:
        try:
            self._ready.extend(await self._next_chunks())
        except LMError as error:
            self._drop_source()
            wait = self._wait_after(self._completed(error))
            if wait is None:
                self._end("ended")
                raise
            self._unreachable = self._unreachable or is_unreachable(error)
            try:
                await self._attempts.clock.sleep(wait)
            except BaseException:
                self._end("left")
                raise
            self._watch.spent += wait
        except BaseException:
            self.abort()
            raise

    async def _next_chunks(self) -> list[StreamChunk]:
        if self._source is None:
            self._source = self._begin()
        try:
            with self._watch.limit(self._remaining(), self._too_long):
                arrived = await self._source.__anext__()
        except StopAsyncIteration:
            chunks = self._fold.finish()
            self._source = None
            self._end("ended")
            return chunks
        try:
            return self._fold.push(arrived)
        except (AttributeError, TypeError) as error:
            # A number where a text belongs, say: decoders hand on what the server wrote.
            raise LMProtocolError(f"the answer cannot be read: {type(error).__name__}: {error}") from error

    def _begin(self) -> Deltas:
        remaining = self._remaining()
        if remaining is not None and remaining <= 0:
            raise self._too_long()
        self._count += 1
        self._fold = Fold(self._attempts.seed, spent=self._spent, requests=self._requests)
        return self._attempts.start()

    def _remaining(self) -> float | None:
        timeout = self._attempts.timeout
        return None if timeout is None else timeout - self._watch.spent

    def _too_long(self) -> LMTimeoutError:
        return LMTimeoutError(
            f"the answer took longer than the timeout of {self._attempts.timeout:g} s", retryable=False
        )

    def _wait_after(self, error: LMError) -> float | None:
        """Seconds to wait before another attempt; None to let the error stand."""
        if self._fold.emitted:
            return None
        wait = self._attempts.retry.wait(error, self._count, unreachable_before=self._unreachable)
        remaining = self._remaining()
        if wait is None or (remaining is not None and wait >= remaining):
            return None
        self._requests = self._fold.facts.requests
        usage = self._fold.facts.reported
        if usage is not None:
            usage = usage.as_lower_bound()
            self._spent = usage if self._spent is None else self._spent + usage
        return wait

    def _completed(self, error: LMError) -> LMError:
        """The error with everything that is known here."""
        facts = self._fold.facts
        cut = error.finish_reason is None
        if cut and isinstance(error, IncompleteGenerationError):
            error.retryable = not self._fold.emitted
        error.provider = error.provider or self._attempts.provider
        error.model = error.model or self._attempts.model
        error.request_id = error.request_id or facts.info.metadata.get("request_id")
        error.attempts = max(self._count, 1)
        if error.usage is None and facts.usage is not None:
            error.usage = facts.usage.as_lower_bound() if cut else facts.usage
        partial = self._fold.partial()
        if error.partial is None and partial is not None:
            error.partial = partial.replace(usage=error.usage)
        return error

    def abort(self) -> None:
        """End the request at once, where it is still going on."""
        if self._state == "open":
            self._end("left")

    def _end(self, state: str) -> None:
        self._state = state
        self._watch.close()
        self._drop_source()

    def _drop_source(self) -> None:
        source, self._source = self._source, None
        abort = getattr(source, "abort", None)
        if abort is not None:
            abort()

    async def aclose(self) -> None:
        """End the request, and wait until the model has let go of it."""
        source = self._source
        self.abort()
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self.abort()
