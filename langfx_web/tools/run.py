"""Running a tool's function: within its time, and so that whatever it does to itself stays its own failure."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from langfx_web.errors import LangfxError, ToolExecutionError, ToolNotFoundError, ToolOutputError, ToolTimeoutError
from langfx_web.masking import masked, said_by

MAX_ERROR_TEXT = 2000
CLEANUP = 1.0
"""Seconds that a cancelled tool has to clean up."""


async def run(function: Callable[[], Any], *, tool: str, timeout: float | None = None) -> Any:
    """What the function gives, waited for if need be; `ToolExecutionError` from whatever it raises.

    Only the cancellation of the calling task comes out as `CancelledError`, and then no value. `timeout` bounds the
    waiting (`ToolTimeoutError`): a function that does not wait cannot be interrupted.
    """
    try:
        value = function()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _failure(error, tool) from error
    return await _waited(value, tool, timeout) if isinstance(value, Awaitable) else value


async def _waited(value: Awaitable[Any], tool: str, timeout: float | None) -> Any:
    # In a task of its own, which tells its cancellation from ours, and which can be left behind.
    task = _begun(_guarded(value))
    try:
        if not task.done():
            await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        await _stopped(task)
        raise
    if not task.done():
        await _stopped(task)
        message = f"the tool did not finish within {timeout:g} s; what it was to do may have been done"
        raise ToolTimeoutError(message, tool=tool)
    try:
        result, left = task.result()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _failure(error, tool) from error
    if left is not None:
        raise _failure(left, tool) from left
    return result


def _begun(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """A task that has come to its first wait, where Python can do that: many tools have none, and turns take time."""
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
    return asyncio.ensure_future(work)


async def _guarded(value: Awaitable[Any]) -> tuple[Any, SystemExit | None]:
    try:
        return await value, None
    except SystemExit as left:
        # Raised, it would end the loop that every other task runs in.
        return None, left


def _failure(error: BaseException, tool: str) -> LangfxError:
    """The error of ours that stands for one of the tool's."""
    match error:
        case ToolOutputError() | ToolNotFoundError():
            return error if masked(error.message) == error.message else type(error)(masked(error.message), tool=tool)
        case asyncio.CancelledError():
            text = f"the tool {tool} was cancelled from inside"
        case SystemExit():
            text = f"the tool {tool} called sys.exit({error.code})"
        case _:
            text = failure_text(error, tool)
    return ToolExecutionError(text, tool=tool, details={"type": type(error).__name__})


def failure_text(error: BaseException, tool: str) -> str:
    """The message of an exception as a model may read it: no traceback, bounded, anything shaped like a key masked."""
    text = said_by(error).strip()
    return text[:MAX_ERROR_TEXT] or f"the tool {tool} failed without a message"


async def _stopped(task: asyncio.Task[Any]) -> None:
    """Cancel a tool's task and give it a moment to clean up; afterwards nobody waits for it any more."""
    task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({task}, timeout=CLEANUP)
