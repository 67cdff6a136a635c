"""A wait of one task that another can end."""

from __future__ import annotations

import asyncio
from types import TracebackType


class Waiting:
    """`with waiting: await …`, as often as wanted; `end()` from outside lets the block be left without an error.

    Cancelling the task by anybody else comes out as it is, also at the same moment.
    """

    __slots__ = ("_before", "_ended", "_task")

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None
        self._before = 0
        self._ended = False

    @property
    def is_on(self) -> bool:
        """Whether a task waits."""
        return self._task is not None

    def end(self) -> None:
        """Let the wait be over; nothing happens where nobody waits."""
        if self._task is not None and not self._ended:
            self._ended = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._task = asyncio.current_task()
        self._before = 0 if self._task is None else self._task.cancelling()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        task, self._task = self._task, None
        if not self._ended or task is None:
            return False
        self._ended = False
        is_ours = task.uncancel() <= self._before
        return is_ours and kind is not None and issubclass(kind, asyncio.CancelledError)
