"""The scope that actions run in: a model, a deadline, a trace; in memory, ended by its owner."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from langfx_web.agentic.branch import Branch
from langfx_web.agentic.counted import CountedModel, Meter
from langfx_web.agentic.shared import Shared
from langfx_web.agentic.trace import OpenNode, Trace, answer_without_bytes, without_bytes
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.deadline import Bounded, deadline_after
from langfx_web.deferred import later
from langfx_web.errors import InvalidArgumentError, SessionClosedError
from langfx_web.events import GenerationCancelled, GenerationComplete, GenerationFailed, ParsingFailed, TerminalEvent
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, Message
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web import queries
    from langfx_web.agentic.budget import Budget
    from langfx_web.events import trace as values
    from langfx_web.events.trace import Kind, TraceNode, UsageSummary
    from langfx_web.queries import QueryStream
else:
    queries = later("langfx_web.queries")
    values = later("langfx_web.events.trace")

Item = TypeVar("Item")
Value = TypeVar("Value")


class Session:
    """A scope of work, and each view of it that an invocation gets.

    `timeout` in seconds and `budget` bound everything done in it; a nested one can only be less. `max_nodes` bounds its
    trace, `max_logs` the log lines it keeps. `metadata` is shown in the trace.
    Use it as `async with`, or call `dispose()`. Work on an ended view or session is refused (`session_closed`).
    """

    def __init__(
        self,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
        max_nodes: int = 10_000,
        max_logs: int = 1_000,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        trace = Trace(clock.now(), max_nodes=max_nodes, metadata=metadata)
        self._shared = Shared(trace, clock)
        self._node = trace.root
        self._account = None if budget is None else budget.opened(None)
        self._guard: asyncio.Task[Any] | None = None
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
    def usage(self) -> UsageSummary:
        """The cost of all requests of the session so far."""
        return values.UsageSummary.of(self._shared.trace.root.walk())

    @property
    def budget(self) -> Budget | None:
        """What may still be spent here; None without a bound."""
        return None if self._account is None else self._account.left()

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
        return await self._asked("query", (prompt, schema), lm, timeout, options)

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
        return await self._asked("parse", (text, schema), lm, timeout, options)

    async def describe(
        self, value: Any, *, lm: LanguageModel | None = None, timeout: float | None = None, **options: Any
    ) -> str:
        """`lf.describe` with this session's model and deadline, and a node in its trace."""
        text: str = await self._asked("describe", (value,), lm, timeout, options)
        return text

    async def complete(
        self, partial: Any, *, lm: LanguageModel | None = None, timeout: float | None = None, **options: Any
    ) -> Any:
        """`lf.complete` with this session's model and deadline, and a node in its trace."""
        return await self._asked("complete", (partial,), lm, timeout, options)

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
        items: list[queries.BatchItem] = await self._asked("query_batch", (prompts, schema), lm, timeout, options)
        return items

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
        view, _ = self._begin("query", "query_stream", lm, timeout, None, None)
        shared, node = self._shared, view._node
        model = None if view.lm is None else view.counted()
        try:
            stream = queries.query_stream(prompt, schema, lm=model, timeout=view.remaining(), **options)
        except Exception as error:
            shared.close(node, error)
            raise
        stream.when_over(lambda event: _close(shared, node, event))
        shared.streams.add(stream)
        return stream

    async def _asked(
        self,
        verb: str,
        about: tuple[Any, ...],
        lm: LanguageModel | None,
        timeout: float | None,
        options: dict[str, Any],
    ) -> Any:
        """The outcome of one of the ways to ask, with models whose requests are counted in a node of its own."""
        async with self.branch("query", verb, lm=lm, timeout=timeout) as view:
            models = {"lm": view.lm, "autofix_lm": options.get("autofix_lm")}
            is_one = verb != "query_batch"
            counted = {name: view.counted(model, keeps_texts=is_one) for name, model in models.items() if model}
            answer = await getattr(queries, verb)(*about, **options | counted)
            view.record(result=answer.result if isinstance(answer, AIMessage) else answer)
            return answer

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
                async with view.branch("parallel", str(index), letter="b") as branch:
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
        self._shared.cancel(reason or "the session was cancelled")

    async def dispose(self) -> None:
        """End running work, wait for it, and take no more. Idempotent; the model stays usable."""
        shared = self._shared
        running = shared.tasks - {asyncio.current_task()}
        self.cancel("the session was disposed of")
        if running:
            await asyncio.wait(running)
        if shared.trace.root.ended_at is None:
            shared.close(shared.trace.root, None)

    # For those who run work in a session: actions, and the loop.

    def branch(
        self,
        kind: Kind,
        name: str,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
        letter: str | None = None,
    ) -> Branch[Self]:
        """`async with` this for one piece of work: its view has a trace node, a model and bounds of its own.

        `letter` stands in the node's id instead of the first one of its kind.
        """
        return Branch(self._shared, partial(self._begin, kind, name, lm, timeout, budget, metadata, letter))

    def counted(self, lm: LanguageModel | None = None, *, keeps_texts: bool = True) -> LanguageModel:
        """A model, or the view's own, whose requests are paid from the budget and counted in this view's node.

        With `keeps_texts` the node gets what is asked and answered; of several answers the newest, and those before
        count as repairs. `no_model` where there is none.
        """
        model = lm or self.lm
        if model is None:
            raise InvalidArgumentError("no model was given: pass lm=…", code="no_model", details={"option": "lm"})
        return CountedModel(model, Meter(self._node, self._account, keeps_texts=keeps_texts))

    def record(
        self,
        *,
        request: Sequence[Message] | None = None,
        response: AIMessage | None = None,
        result: Any = None,
        repairs: int | None = None,
    ) -> None:
        """Keep in this view's node what was asked, answered and made of it; what is None stays as it was.

        Media are named in place of their bytes.
        """
        node = self._node
        if request is not None:
            node.request = without_bytes(request)
        if response is not None:
            node.response = answer_without_bytes(response)
        if result is not None:
            node.result = result
        if repairs is not None:
            node.repairs = repairs

    def spent(self, usage: Usage | None) -> None:
        """Count the cost of a request of this invocation that its models did not count."""
        self._node.requests += 1 if usage is None else usage.num_requests
        self._node.spend(usage)

    def _begin(
        self,
        kind: Kind,
        name: str,
        lm: LanguageModel | None,
        timeout: float | None,
        budget: Budget | None,
        metadata: Mapping[str, Any] | None,
        letter: str | None = None,
    ) -> tuple[Self, Bounded | None]:
        """A view that has begun, and what bounds its block, where that is not bounded already."""
        shared = self._shared
        if shared.closed_by or self._node.ended_at:
            raise SessionClosedError(shared.closed_by or "this view's invocation has ended")
        deadline = deadline_after(timeout, shared.clock, parent=self.deadline)
        view = object.__new__(type(self))
        view._shared = shared
        view._account = self._account if budget is None else budget.opened(self._account)
        view._node = shared.open(self._node, kind, name, metadata, letter)
        view.lm = self.lm if lm is None else lm
        view.deadline = deadline
        view._guard = None
        if deadline is None:
            return view, None
        view._guard = asyncio.current_task()
        is_held = deadline == self.deadline and self._guard is view._guard
        return view, None if is_held and deadline > shared.clock.monotonic() else Bounded(deadline, shared.clock)


def _close(shared: Shared, node: OpenNode, event: TerminalEvent | None) -> None:
    """End the node of a streamed query as its stream ended; None where it was left."""
    match event:
        case GenerationComplete(value=value):
            node.result = value
            shared.close(node, None)
        case ParsingFailed(error=error) | GenerationFailed(error=error):
            shared.close(node, error)
        case GenerationCancelled() | None:
            shared.close(node, None, cancelled=True)
