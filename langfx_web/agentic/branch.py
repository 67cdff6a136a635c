"""One piece of work in a session: a node, a deadline and a place in the session's tasks, from its begin to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from langfx_web.agentic.shared import Shared
from langfx_web.deadline import Bounded
from langfx_web.errors import SessionCancelledError

if TYPE_CHECKING:
    from langfx_web.agentic.trace import OpenNode


class Viewed(Protocol):
    """What a branch needs to know of its view."""

    _node: OpenNode


View = TypeVar("View", bound=Viewed)


class Branch(Generic[View]):
    """`async with` one of these: `begin` opens the node and makes the view when the block is entered.

    With the block the node ends, as the block does: cancelling by the session comes out as `SessionCancelledError`, the
    deadline as `DeadlineExceededError`, and a block that swallowed a cancellation is cancelled all the same.
    """

    # A class, as one is entered for each step and tool of a run, and a generator costs twice as much.
    __slots__ = ("_begin", "_bounded", "_cancelling", "_is_outermost", "_node", "_shared", "_task")

    def __init__(self, shared: Shared, begin: Callable[[], tuple[View, Bounded | None]]) -> None:
        self._shared = shared
        self._begin = begin

    async def __aenter__(self) -> View:
        shared = self._shared
        view, self._bounded = self._begin()
        self._node = view._node
        task = asyncio.current_task()
        assert task is not None  # a coroutine runs in one
        self._task = task
        if self._bounded is not None:
            try:
                self._bounded.__enter__()
            except BaseException as error:
                shared.close(self._node, error)
                raise
        self._cancelling = task.cancelling()
        self._is_outermost = task not in shared.tasks
        shared.tasks.add(task)
        return view

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_outermost:
            self._shared.tasks.discard(self._task)
            if self._task in self._shared.cancelled and not isinstance(error, asyncio.CancelledError):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0)  # where the block itself ended the session, that is still to come
        ended = self._ended(error)
        self._shared.close(self._node, ended)
        if ended is not None and ended is not error:
            raise ended from ended.__cause__

    def _ended(self, error: BaseException | None) -> BaseException | None:
        """What comes out of the block, seeing what did."""
        task, shared = self._task, self._shared
        if self._is_outermost and shared.closed_by is not None and task in shared.cancelled:
            shared.cancelled.discard(task)
            if task.uncancel() <= self._cancelling and _is_replaced(error):
                error = SessionCancelledError(shared.closed_by)
        late = self._bounded.ended(error) if self._bounded is not None else None
        if late is not None:
            return late
        if error is None and task.cancelling() > self._cancelling:
            return asyncio.CancelledError()
        return error


def _is_replaced(error: BaseException | None) -> bool:
    """Whether the end of the session stands for what came out of a block."""
    return error is None or isinstance(error, (Exception, asyncio.CancelledError))
