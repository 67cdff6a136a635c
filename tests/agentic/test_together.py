"""Several pieces of work at once: all succeed, or the first that does not ends the others."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from langfx_web.agentic.together import together


async def test_the_first_failure_ends_the_others() -> None:
    """They are cancelled, and over before it is raised."""
    ended = []

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("x")

    async def waiting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(ValueError, match="x"):
        await together([waiting(), failing(), waiting()])
    assert ended == [True, True]


async def test_work_that_cancelled_itself_has_not_succeeded() -> None:
    """It comes out as cancelled, so that nothing goes on as if all had been done."""

    async def leaving() -> None:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await together([asyncio.sleep(0), leaving(), asyncio.sleep(0)])


async def test_no_failure_is_reported_late() -> None:
    """Of work that fails because the whole was cancelled, as tools do whose session was."""
    reports: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context["message"]))

    async def failing() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("cancelled") from None

    task = asyncio.ensure_future(together([failing(), failing()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    gc.collect()
    await asyncio.sleep(0)
    assert reports == []
