"""The scope that actions run in: a model, a deadline, a trace; in memory, ended by its owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeVar
from weakref import WeakSet

from langfx_web.agentic.counted import CountedModel
from langfx_web.agentic.trace import OpenNode, Trace, TraceNode
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.deadline import Bounded, deadline_after
from langfx_web.deferred import later
from langfx_web.errors import (
    InvalidArgumentError,
    SessionCancelledError,
    SessionClosedError,
)
from langfx_web.events import GenerationCancelled, GenerationComplete, GenerationFailed, ParsingFailed, TerminalEvent
from langfx_web.llms import LanguageModel
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web import queries
    from langfx_web.queries import QueryStream
else:
    queries = later("langfx_web.queries")

Item = TypeVar("Item")
Value = TypeVar("Value")


class _Shared:
    """What all views of one session have in common."""

    def __init__(self, trace: Trace, clock: Clock) -> None:
        self.trace = trace
        self.clock = clock
        self.tasks: set[asyncio.Task[Any]] = set()
        self.streams: WeakSet[QueryStream] = WeakSet()
        self.closed_by: str | None = None


class Session:
    """A scope of work, and each view of it that an invocation gets.

    `timeout` in seconds bounds everything done in it; a nested one can only be earlier. `max_nodes` bounds its trace.
    Use it as `async with`, or call `dispose()`. Work on an ended view or session is refused (`session_closed`).
    """

    def __init__(
        self,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        max_nodes: int = 10_000,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        trace = Trace("Session", clock.now(), max_nodes=max_nodes)
        self._shared = _Shared(trace, clock)
        self._node = trace.root
        self.lm = lm
        self.deadline = deadline_after(timeout, clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    @property
    def root(self) -> TraceNode:
        """The trace of the whole session as it is now."""
        return self._shared.trace.root.frozen()

    @property
    def usage(self) -> Usage | None:
        """The cost of all requests so far; None while nothing was reported."""
        return self._shared.trace.usage()

    def remaining(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - self._shared.clock.monotonic()

    async def query(
        self,
        prompt: Any,
        schema: Any = None,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> Any:
        """`lf.query` with this session's model and deadline, and a node in its trace."""
        async with self._asking("query", lm, timeout, options) as counted:
            return await queries.query(prompt, schema, **counted)

    async def parse(
        self,
        text: Any,
        schema: Any,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> Any:
        """`lf.parse` with this session's model and deadline, and a node in its trace."""
        async with self._asking("parse", lm, timeout, options) as counted:
            return await queries.parse(text, schema, **counted)

    async def describe(
        self, value: Any, *, lm: LanguageModel | None = None, timeout: float | None = None, **options: Any
    ) -> str:
        """`lf.describe` with this session's model and deadline, and a node in its trace."""
        async with self._asking("describe", lm, timeout, options) as counted:
            return await queries.describe(value, **counted)

    async def complete(
        self, partial: Any, *, lm: LanguageModel | None = None, timeout: float | None = None, **options: Any
    ) -> Any:
        """`lf.complete` with this session's model and deadline, and a node in its trace."""
        async with self._asking("complete", lm, timeout, options) as counted:
            return await queries.complete(partial, **counted)

    async def query_batch(
        self,
        prompts: Any,
        schema: Any = None,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> list[queries.BatchItem]:
        """`lf.query_batch` with this session's model, and one node in its trace; `timeout` bounds the whole batch."""
        async with self._asking("query_batch", lm, timeout, options) as counted:
            return await queries.query_batch(prompts, schema, **counted)

    def query_stream(
        self,
        prompt: Any,
        schema: Any = None,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> QueryStream:
        """`lf.query_stream` with this session's model and deadline, and a node in its trace.

        It ends with `generation_cancelled` where the session is cancelled while the task that reads it goes on.
        """
        self._refuse_ended()
        shared = self._shared
        deadline = deadline_after(timeout, shared.clock, parent=self.deadline)
        node = shared.trace.open(self._node, "query", "query_stream", shared.clock.now())
        view = self._view(node, lm, deadline)
        model = None if view.lm is None else CountedModel(view.lm, view.spent)
        try:
            stream = queries.query_stream(prompt, schema, lm=model, timeout=view.remaining(), **options)
        except Exception as error:
            node.end("error", shared.clock.now(), error=error)
            raise
        stream.when_over(lambda event: _close(node, event, shared.clock.now()))
        shared.streams.add(stream)
        return stream

    @asynccontextmanager
    async def _asking(
        self, verb: str, lm: LanguageModel | None, timeout: float | None, options: dict[str, Any]
    ) -> AsyncIterator[dict[str, Any]]:
        """A branch for one query, and its options with models whose requests are counted there."""
        async with self.branch("query", verb, lm=lm, timeout=timeout) as view:
            models = {"lm": view.lm, "autofix_lm": options.get("autofix_lm")}
            yield options | {name: CountedModel(model, view.spent) for name, model in models.items() if model}

    async def concurrent_map(
        self,
        items: Iterable[Item],
        function: Callable[[Item, Session], Awaitable[Value]],
        *,
        max_concurrency: int = 8,
    ) -> list[Value]:
        """`function(item, view)` for each item, at most `max_concurrency` at a time; results in the order of the items.

        The first error cancels the others, waits for them, and is raised itself.
        """
        if max_concurrency < 1:
            raise InvalidArgumentError("max_concurrency must be at least 1", details={"option": "max_concurrency"})
        source = enumerate(items)
        results: dict[int, Value] = {}

        async def work(view: Session) -> None:
            for index, item in source:
                async with view.branch("branch", str(index)) as branch:
                    results[index] = await function(item, branch)

        async with self.branch("parallel", "concurrent_map") as view:
            workers = [asyncio.ensure_future(work(view)) for _ in range(max_concurrency)]
            try:
                await asyncio.gather(*workers)
            finally:
                for worker in workers:
                    worker.cancel()
                await asyncio.wait(workers)
        return [results[index] for index in sorted(results)]

    def cancel(self, reason: str = "") -> None:
        """End everything that runs in the session; it ends with `SessionCancelledError` there."""
        self._shared.closed_by = reason or "the session was cancelled"
        for stream in list(self._shared.streams):
            stream.cancel(self._shared.closed_by)
        for task in list(self._shared.tasks):
            task.cancel()

    async def dispose(self) -> None:
        """End running work, wait for it, and take no more. Idempotent; the model stays usable."""
        running = self._shared.tasks - {asyncio.current_task()}
        self.cancel("the session was disposed of")
        if running:
            await asyncio.wait(running)
        if self._shared.trace.root.ended_at is None:
            self._shared.trace.root.end("ok", self._shared.clock.now())

    def spent(self, usage: Usage | None) -> None:
        """Count the cost of a request of this invocation."""
        if usage is not None:
            self._node.usage = usage if self._node.usage is None else self._node.usage + usage

    @asynccontextmanager
    async def branch(
        self, kind: str, name: str, *, lm: LanguageModel | None = None, timeout: float | None = None
    ) -> AsyncIterator[Session]:
        """A view for one piece of work: a trace node, a deadline and a model of its own, ended with the block."""
        self._refuse_ended()
        shared = self._shared
        deadline = deadline_after(timeout, shared.clock, parent=self.deadline)
        node = shared.trace.open(self._node, kind, name, shared.clock.now())
        view = self._view(node, lm, deadline)
        try:
            with Bounded(deadline, shared.clock):
                async with _registered(shared):
                    yield view
        except asyncio.CancelledError:
            node.end("cancelled", shared.clock.now())
            raise
        except BaseException as error:
            node.end("error", shared.clock.now(), error=error)
            raise
        node.end("ok", shared.clock.now())

    def _refuse_ended(self) -> None:
        if self._shared.closed_by or self._node.ended_at:
            raise SessionClosedError(self._shared.closed_by or "this view's invocation has ended")

    def _view(self, node: OpenNode, lm: LanguageModel | None, deadline: float | None) -> Session:
        view = object.__new__(type(self))
        view._shared, view._node, view.deadline = self._shared, node, deadline
        view.lm = self.lm if lm is None else lm
        return view


@asynccontextmanager
async def _registered(shared: _Shared) -> AsyncIterator[None]:
    """Let the session cancel the task that runs the block; then `SessionCancelledError` comes out."""
    task = asyncio.current_task()
    assert task is not None
    is_outermost = task not in shared.tasks
    shared.tasks.add(task)
    try:
        yield
    except asyncio.CancelledError:
        if is_outermost and shared.closed_by and task.uncancel() == 0:
            raise SessionCancelledError(shared.closed_by) from None
        raise
    finally:
        if is_outermost:
            shared.tasks.discard(task)


def _close(node: OpenNode, event: TerminalEvent | None, at: datetime) -> None:
    """End the node of a streamed query as its stream ended; None where it was left."""
    match event:
        case GenerationComplete():
            node.end("ok", at)
        case ParsingFailed(error=error) | GenerationFailed(error=error):
            node.end("error", at, error=error)
        case GenerationCancelled() | None:
            node.end("cancelled", at)
