"""`Observer`: who is told what happens in an agent's runs."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from langfx_web.errors import InvalidArgumentError, LangfxError
from langfx_web.observation.content import Content
from langfx_web.observation.events import ObservedEvent, ParentCall

MOST_UNFINISHED = 1024
"""Calls of an async `on_event` that may be under way; while there are so many, events are left out."""


class Observer:
    """Tells `on_event` what an agent does, in order and without waiting, for tracing; it cannot change a run.

    An async `on_event` runs in a task of its own. What it raises goes to `on_error`, and nowhere else; what `on_error`
    raises goes nowhere. A slow plain function delays the run, so let it put events aside. Best effort: nothing is
    stored, and of an async function that falls behind 1,024 calls are kept. With `capture_content`, events carry
    messages, instructions, schemas, arguments and results, 64 KiB of text each: mind what your users entrust to you.
    """

    def __init__(
        self,
        on_event: Callable[[ObservedEvent], Any],
        on_error: Callable[[BaseException], Any] | None = None,
        *,
        capture_content: bool = False,
    ) -> None:
        for name, function in (("on_event", on_event), ("on_error", on_error)):
            if not callable(function) and (name == "on_event" or function is not None):
                raise InvalidArgumentError(f"{name} must be a function", details={"option": name})
        self._on_event = on_event
        self._on_error = on_error
        self._captures = bool(capture_content)
        self._parent: ParentCall | None = None
        self._unfinished: set[asyncio.Task[None]] = set()

    @property
    def parent(self) -> ParentCall | None:
        """The tool call whose inner agents this tells of; None for an observer of your own."""
        return self._parent

    def content(self) -> Content | None:
        """Room for the texts of one event; None where content is not captured."""
        return Content() if self._captures else None

    def tell(self, event: ObservedEvent) -> None:
        """Hand an event on; nothing comes out, whatever its receiver does."""
        if len(self._unfinished) < MOST_UNFINISHED:
            self._call(self._on_event, event, failed=self.failed)
        else:
            self.failed(LangfxError("on_event is too far behind: an event was left out", code="observer_behind"))

    def child(self, parent: ParentCall) -> Observer:
        """An observer that tells the same receiver of the agents that run inside a tool call."""
        child = Observer(self._on_event, self._on_error, capture_content=self._captures)
        child._parent = parent
        child._unfinished = self._unfinished
        return child

    def failed(self, error: BaseException) -> None:
        """Hand on what went wrong in telling; nothing comes of that either."""
        if self._on_error is not None:
            self._call(self._on_error, error, failed=_ignored)

    def _call(self, function: Callable[[Any], Any], argument: Any, *, failed: Callable[[BaseException], None]) -> None:
        try:
            given = function(argument)
            if inspect.isawaitable(given):
                task = asyncio.ensure_future(_finished(given, failed))
                self._unfinished.add(task)
                task.add_done_callback(self._unfinished.discard)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # watching harms nothing
            failed(error)

    def __repr__(self) -> str:
        return f"Observer(capture_content={self._captures})"


async def _finished(given: Awaitable[Any], failed: Callable[[BaseException], None]) -> None:
    try:
        await given
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        failed(error)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  # left alone, it would be reported as unhandled
        failed(error)


def _ignored(error: BaseException) -> None:
    """What `on_error` raises: there is nobody left to tell."""
