"""The same work on many things at once, in views of their own: taken one by one, bounded, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from langfx_web.agentic.scope import Scope
from langfx_web.errors import InvalidArgumentError

Value = TypeVar("Value")
Items: TypeAlias = "Iterable[Any] | AsyncIterable[Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[Value]):
    """What came of one item: its `value`, or the `error` that ended it."""

    value: Value | None = None
    error: Exception | None = None


class ParallelMap:
    """`function(item, view)` for each item, at most `most` at a time; each in a task, which takes the next one after.

    With `collects` an error is the outcome of its item; without, the first one ends the others and is raised.
    """

    def __init__(
        self,
        scope: Scope,
        items: Items,
        function: Callable[[Any, Any], Awaitable[Any]],
        *,
        most: int,
        collects: bool,
    ) -> None:
        self._scope = scope
        self._source = _Source(items)
        self._function = function
        self._most = most
        self._collects = collects
        self._results: dict[int, Any] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._failures: list[BaseException] = []

    async def run(self) -> list[Any]:
        """The results in the order of the items."""
        self._start_worker()
        try:
            while running := [worker for worker in self._workers if not worker.done()]:
                await asyncio.wait(running)
        finally:
            await self._settle()
        if self._failures:
            raise self._failures[0]
        return [self._results[index] for index in sorted(self._results)]

    async def _settle(self) -> None:
        self._end_workers()
        if running := [worker for worker in self._workers if not worker.done()]:
            await asyncio.wait(running)

    def _end_workers(self) -> None:
        """Begin nothing more, and end what runs; what is ending already is left to clean up."""
        self._source.is_over = True
        for worker in self._workers:
            if worker is not asyncio.current_task() and not worker.cancelling():
                worker.cancel()

    def _start_worker(self) -> None:
        self._workers.append(asyncio.ensure_future(self._work()))

    async def _work(self) -> None:
        try:
            async for index, item in self._source:
                # Another one asks for the next item, so that no more of them begin than there are items.
                if len(self._workers) < self._most:
                    self._start_worker()
                await self._one(index, item)
        except BaseException as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            self._fail(error)

    async def _one(self, index: int, item: Any) -> None:
        try:
            async with self._scope.branch("parallel", str(index), letter="b") as view:
                work = self._function(item, view)
                if not isinstance(work, Awaitable):
                    raise _no_work(work)
                value = await work
        except Exception as error:
            if not self._collects:
                raise
            self._results[index] = Outcome(error=error)
        else:
            self._results[index] = Outcome(value=value) if self._collects else value

    def _fail(self, error: BaseException) -> None:
        self._failures.append(error)
        self._end_workers()


class _Source:
    """Items with their places, for several who take them; those of an async iterable one at a time."""

    def __init__(self, items: Items) -> None:
        self.is_over = False
        self._taken = 0
        self._turn = asyncio.Lock()
        self._plain = None if isinstance(items, AsyncIterable) else iter(items)
        self._awaited = aiter(items) if isinstance(items, AsyncIterable) else None

    def __aiter__(self) -> _Source:
        return self

    async def __anext__(self) -> tuple[int, Any]:
        async with self._turn:
            if self.is_over:
                raise StopAsyncIteration
            try:
                item = next(self._plain) if self._plain is not None else await self._next()
            except (StopIteration, StopAsyncIteration):
                self.is_over = True
                raise StopAsyncIteration from None
            self._taken += 1
            return self._taken - 1, item

    async def _next(self) -> Any:
        assert self._awaited is not None  # one of both is there
        return await anext(self._awaited)


def _no_work(given: object) -> InvalidArgumentError:
    what = f"fn must be an async function of an item and a view, not give a {type(given).__name__}"
    return InvalidArgumentError(what, details={"option": "fn"})


def check_map(items: object, fn: object, max_concurrency: object, on_error: object) -> None:
    """`invalid_argument` for what no map can be made of."""
    if not isinstance(items, (Iterable, AsyncIterable)):
        raise InvalidArgumentError("items must be an iterable, plain or async", details={"option": "items"})
    if not callable(fn):
        raise InvalidArgumentError("fn must be an async function of an item and a view", details={"option": "fn"})
    if not isinstance(max_concurrency, int) or isinstance(max_concurrency, bool) or max_concurrency < 1:
        raise InvalidArgumentError(
            f"max_concurrency must be an int of at least 1, not {max_concurrency!r}",
            details={"option": "max_concurrency"},
        )
    if on_error not in ("raise", "collect"):
        raise InvalidArgumentError(
            f'on_error must be "raise" or "collect", not {on_error!r}', details={"option": "on_error"}
        )
