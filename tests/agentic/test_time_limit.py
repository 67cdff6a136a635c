"""The time of a run: it ends the block it bounds, and stands still while it should."""

from __future__ import annotations

import asyncio

import pytest

from langfx_web.agentic.time_limit import TimeLimit
from langfx_web.errors import DeadlineExceededError
from langfx_web.testing import ManualClock


async def bounded(limit: TimeLimit, clock: ManualClock, *pauses: float, work: float = 100) -> str:
    with limit:
        for pause in pauses:
            with limit.standing_still():
                await clock.sleep(pause)
        await clock.sleep(work)
    return "done"


async def test_it_ends_the_block() -> None:
    """When the time is over, not before."""
    clock = ManualClock()
    task = asyncio.ensure_future(bounded(TimeLimit(30, clock), clock))
    await clock.advance(29)
    assert not task.done()
    await clock.advance(2)
    with pytest.raises(DeadlineExceededError):
        await task


async def test_without_a_limit_there_is_no_timer() -> None:
    """None is none; 0 and less are over at once."""
    clock = ManualClock()
    task = asyncio.ensure_future(bounded(TimeLimit(None, clock), clock))
    await clock.advance(101)
    assert await task == "done"
    for over in (0, -1):
        with pytest.raises(DeadlineExceededError):
            await bounded(TimeLimit(over, clock), clock)


async def test_pauses_do_not_count() -> None:
    """Nor do they give time back."""
    clock = ManualClock()
    task = asyncio.ensure_future(bounded(TimeLimit(30, clock), clock, 1000, 1000, work=29))
    await clock.advance(2000)
    await clock.advance(28)
    assert not task.done()
    await clock.advance(1)
    assert await task == "done"


async def test_a_cancellation_by_others_comes_out_as_it_is() -> None:
    """It is not the limit's."""
    clock = ManualClock()
    task = asyncio.ensure_future(bounded(TimeLimit(30, clock), clock))
    await clock.advance(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_work_that_swallows_the_end_has_failed_too() -> None:
    """Its value is dropped."""
    clock = ManualClock()

    async def stubborn() -> str:
        with TimeLimit(5, clock):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "mine"
        return "never"

    task = asyncio.ensure_future(stubborn())
    await clock.advance(6)
    with pytest.raises(DeadlineExceededError):
        await task
