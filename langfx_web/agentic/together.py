"""Several pieces of work at once that end as one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def together(works: Sequence[Coroutine[Any, Any, Any]]) -> None:
    """Do these at once; the first failure cancels the others, waits until they have settled, and is raised.

    Work that cancelled itself has failed, too: then `CancelledError` comes out.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        cancelled_itself = any(task.cancelled() for task in tasks)
    finally:
        for task in tasks:
            if not task.cancelling():  # what is ending already is left to clean up
                task.cancel()
        failures = await _settled(tasks)
    if failures:
        raise failures[0]
    if cancelled_itself:
        raise asyncio.CancelledError


async def _settled(tasks: Sequence[asyncio.Task[Any]]) -> list[BaseException]:
    """Wait for tasks that were cancelled, also while being cancelled once more; each bounds its own cleanup.

    Gives what they raised.
    """
    again: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            again = error
    # Looked at even where something else comes out: asyncio reports a failure that nobody has seen.
    failures = [failure for task in tasks if not task.cancelled() and (failure := task.exception())]
    if again is not None:
        raise again
    return failures
