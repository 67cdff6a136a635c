"""The end of the time that work has."""

from __future__ import annotations

import asyncio
import math

import pytest

from langfx_web.deadline import Bounded, deadline_after
from langfx_web.errors import DeadlineExceededError, InvalidArgumentError
from langfx_web.testing import ManualClock


def test_the_earlier_moment_counts() -> None:
    """No limit, infinity, and a parent's limit."""
    clock = ManualClock()
    assert deadline_after(None, clock) is None
    assert deadline_after(math.inf, clock, parent=3.0) == 3.0
    assert deadline_after(5, clock, parent=3.0) == 3.0
    assert deadline_after(2, clock, parent=3.0) == 2.0


@pytest.mark.parametrize("timeout", [math.nan, True, "5"])
def test_a_timeout_is_a_number(timeout: float) -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(InvalidArgumentError):
        deadline_after(timeout, ManualClock())


async def test_work_is_cancelled_at_its_deadline() -> None:
    """And one that has passed fails before the work starts."""
    clock, seen = ManualClock(), []

    async def work() -> None:
        with Bounded(2.0, clock):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

    task = asyncio.create_task(work())
    await clock.advance(2.0)
    with pytest.raises(DeadlineExceededError):
        await task
    assert (seen, task.cancelling()) == (["cancelled"], 0)
    with pytest.raises(DeadlineExceededError), Bounded(2.0, clock):
        seen.append("started")
    assert seen == ["cancelled"]


@pytest.mark.parametrize("ending", ["swallowed", "failed"])
async def test_work_that_swallows_its_end_has_failed(ending: str) -> None:
    """Its value is dropped, and an error of its cleaning up stays behind the deadline's."""
    clock = ManualClock()

    async def work() -> None:
        with Bounded(1.0, clock):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                if ending == "failed":
                    raise ValueError("cleaning up") from None

    task = asyncio.create_task(work())
    await clock.advance(1.0)
    with pytest.raises(DeadlineExceededError) as caught:
        await task
    assert isinstance(caught.value.__cause__, ValueError) == (ending == "failed")


async def test_being_cancelled_by_others_is_not_the_deadline() -> None:
    """Also at the same moment."""
    clock = ManualClock()

    async def work() -> None:
        with Bounded(1.0, clock):
            await asyncio.sleep(1000)

    task = asyncio.create_task(work())
    clock.call_later(1.0, task.cancel)
    await clock.advance(1.0)
    with pytest.raises(asyncio.CancelledError):
        await task
