"""The scope that actions run in: a model, bounds, a trace; in memory, ended by its owner."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from langfx_web.agentic.scope import Scope
from langfx_web.agentic.shared import Shared
from langfx_web.agentic.trace import OpenNode
from langfx_web.deferred import later
from langfx_web.errors import InvalidArgumentError
from langfx_web.events import GenerationCancelled, GenerationComplete, GenerationFailed, ParsingFailed, TerminalEvent
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage

if TYPE_CHECKING:
    from langfx_web import queries
    from langfx_web.agentic import parallel
    from langfx_web.agentic.parallel import Outcome
    from langfx_web.agentic.telling import Observer
    from langfx_web.events import trace as values
    from langfx_web.events.trace import LogEntry, TraceNode, UsageSummary
    from langfx_web.queries import QueryStream
else:
    queries = later("langfx_web.queries")
    parallel = later("langfx_web.agentic.parallel")
    values = later("langfx_web.events.trace")

Item = TypeVar("Item")
Value = TypeVar("Value")


class Session(Scope):
    """A scope of work, and each view of it that an invocation gets.

    `timeout` in seconds and `budget` bound everything done in it; those of a nested invocation can only be less.
    `max_nodes` bounds its trace, `max_logs` the newest log lines that it keeps; `metadata` is shown in the trace.
    Use it as `async with`, or call `dispose()`. Work on an ended view or session is refused (`session_closed`).
    """

    # What it has seen

    @property
    def root(self) -> TraceNode:
        """The trace of the whole session as it is now."""
        return self._shared.trace.root.frozen()

    @property
    def all_actions(self) -> list[TraceNode]:
        """The actions of the session as they are now, in the order they began."""
        return [node for node in self.root.walk() if node.kind == "action"]

    @property
    def all_queries(self) -> list[TraceNode]:
        """Its queries, and the steps of its agents."""
        return [node for node in self.root.walk() if node.kind in ("query", "step")]

    @property
    def all_logs(self) -> list[LogEntry]:
        """The newest log lines, the oldest first."""
        return list(self._shared.telling.logs)

    @property
    def dropped_logs(self) -> int:
        """How many older lines made room for them."""
        return self._shared.telling.dropped_logs

    @property
    def usage(self) -> UsageSummary:
        """The cost of all requests of the session so far."""
        return values.UsageSummary.of(self._shared.trace.root.walk())

    def subscribe(self, fn: Observer) -> Callable[[], None]:
        """Have `fn` called with each event of the session from now on; the result ends that, any number of times.

        It is a plain function, and quick: it runs in the time of the work. What it raises is kept in `observer_errors`.
        """
        return self._shared.telling.subscribe(fn)

    @property
    def observer_errors(self) -> list[BaseException]:
        """The newest 100 exceptions that observers raised."""
        return list(self._shared.telling.errors)

    # What an invocation says of itself

    def debug(self, message: str, **data: Any) -> None:
        """Log a line of the current invocation that only its author needs."""
        self._shared.telling.log(self._node.id, "debug", message, data)

    def info(self, message: str, **data: Any) -> None:
        """Log a line of the current invocation."""
        self._shared.telling.log(self._node.id, "info", message, data)

    def warning(self, message: str, **data: Any) -> None:
        """Log that something is not as it should be."""
        self._shared.telling.log(self._node.id, "warning", message, data)

    def error(self, message: str, **data: Any) -> None:
        """Log that something failed."""
        self._shared.telling.log(self._node.id, "error", message, data)

    def fatal(self, message: str, **data: Any) -> None:
        """Log that the work cannot go on."""
        self._shared.telling.log(self._node.id, "fatal", message, data)

    def progress(self, title: str, fraction: float | None = None, **data: Any) -> None:
        """Say how far the current invocation is, `fraction` from 0 to 1; it stands in place of what was said before."""
        if fraction is not None and not (isinstance(fraction, (int, float)) and 0 <= fraction <= 1):
            raise InvalidArgumentError(
                f"fraction must be from 0 to 1, not {fraction!r}", details={"option": "fraction"}
            )
        progress = values.Progress(title=title, fraction=fraction, data=values.read_only(data))
        self._shared.telling.progress(self._node, progress)

    def add_metadata(self, **data: Any) -> None:
        """Show these values in the trace, at the current invocation."""
        self._node.metadata.update(data)
        self._shared.telling.metadata(self._node)

    # What it does

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
        view, _ = self._begin("query", "query_stream", lm, timeout)
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

    @overload
    async def concurrent_map(
        self,
        items: Iterable[Item] | AsyncIterable[Item],
        fn: Callable[[Item, Session], Awaitable[Value]],
        *,
        max_concurrency: int = 8,
        on_error: Literal["raise"] = "raise",
    ) -> list[Value]: ...
    @overload
    async def concurrent_map(
        self,
        items: Iterable[Item] | AsyncIterable[Item],
        fn: Callable[[Item, Session], Awaitable[Value]],
        *,
        max_concurrency: int = 8,
        on_error: Literal["collect"],
    ) -> list[Outcome[Value]]: ...
    async def concurrent_map(
        self, items: Any, fn: Any, *, max_concurrency: int = 8, on_error: Literal["raise", "collect"] = "raise"
    ) -> list[Any]:
        """`fn(item, view)` for each item, at most `max_concurrency` at a time; results in the order of the items.

        Items are taken one by one as there is room, also from an async iterable. The first error ends the others, is
        waited for, and is raised itself; with `"collect"` each item has an `Outcome`, its value or its error.
        """
        parallel.check_map(items, fn, max_concurrency, on_error)
        async with self.branch("parallel", "concurrent_map") as view:
            collects = on_error == "collect"
            return await parallel.ParallelMap(view, items, fn, most=max_concurrency, collects=collects).run()


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
