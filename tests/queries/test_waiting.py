"""A wait that somebody else can end."""

from __future__ import annotations

import asyncio

import pytest

from langfx_web.queries.waiting import Waiting


async def waiting_task(waiting: Waiting, seen: list[str]) -> None:
    with waiting:
        seen.append("waits")
        await asyncio.Event().wait()
        seen.append("never")
    seen.append("goes on")
    with waiting:
        await asyncio.sleep(0)
    seen.append("waited again")


async def test_the_task_goes_on_behind_the_wait() -> None:
    """Without an error, and not left cancelled; it can wait again."""
    waiting, seen = Waiting(), list[str]()
    waiting.end()
    task = asyncio.create_task(waiting_task(waiting, seen))
    await asyncio.sleep(0)
    assert waiting.is_on
    waiting.end()
    waiting.end()
    await task
    assert seen == ["waits", "goes on", "waited again"]
    assert (waiting.is_on, task.cancelling()) == (False, 0)


@pytest.mark.parametrize("first", ["end", "cancel"])
async def test_a_cancelled_task_stays_cancelled(first: str) -> None:
    """Also when both come at the same moment."""
    waiting, seen = Waiting(), list[str]()
    task = asyncio.create_task(waiting_task(waiting, seen))
    await asyncio.sleep(0)
    for step in (waiting.end, task.cancel) if first == "end" else (task.cancel, waiting.end):
        step()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["waits"]


async def test_other_errors_come_out() -> None:
    """Of what was awaited, ended or not."""
    waiting = Waiting()

    async def fail() -> None:
        with waiting:
            try:
                await asyncio.Event().wait()
            finally:
                raise ValueError("cleaning up")

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    waiting.end()
    with pytest.raises(ValueError, match="cleaning up"):
        await task
    assert task.cancelling() == 0
