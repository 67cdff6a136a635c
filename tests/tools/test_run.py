"""Running a function: what it does to itself is its own failure, and what we do to it comes through."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from langfx_web.errors import ToolExecutionError, ToolOutputError, ToolTimeoutError
from langfx_web.tools.run import run


async def test_values_of_plain_and_async_functions() -> None:
    """As they are given."""

    async def later() -> int:
        await asyncio.sleep(0)
        return 2

    assert await run(lambda: 1, tool="t") == 1
    assert await run(later, tool="t", timeout=60) == 2


async def test_a_plain_function_costs_no_task() -> None:
    """It cannot wait, so it cannot be late; only what waits gets a task of its own."""
    before = asyncio.all_tasks()
    seen: list[int] = []

    async def later() -> None:
        seen.append(len(asyncio.all_tasks() - before))

    await run(lambda: seen.append(len(asyncio.all_tasks() - before)), tool="t")
    await run(later, tool="t")
    assert seen == [0, 1]


class Mute(Exception):
    """Cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Own(BaseException):
    """Outside of all ordinary exceptions."""


@pytest.mark.parametrize(
    "error", [ValueError("x"), asyncio.CancelledError(), SystemExit(2), GeneratorExit(), Mute(), Own()]
)
@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_function_raises_is_its_failure(error: BaseException, is_async: bool) -> None:
    """With the exception as the cause; it ends nothing but the call."""

    def plain() -> Any:
        raise error

    async def waiting() -> Any:
        await asyncio.sleep(0)
        raise error

    with pytest.raises(ToolExecutionError) as caught:
        await run(waiting if is_async else plain, tool="t")
    assert (caught.value.code, caught.value.tool) == ("tool_failed", "t")
    assert caught.value.details == {"type": type(error).__name__}
    assert isinstance(caught.value.__cause__, type(error))


async def test_a_function_that_cancels_its_own_task() -> None:
    """Only itself: the run goes on."""

    async def stops() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    with pytest.raises(ToolExecutionError, match="cancelled from inside"):
        await run(stops, tool="t")
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0


async def test_our_errors_of_values_stay_as_they_are() -> None:
    """They say already what went wrong."""
    mine = ToolOutputError("mine", tool="other")

    def function() -> None:
        raise mine

    with pytest.raises(ToolOutputError) as caught:
        await run(function, tool="t")
    assert caught.value is mine
    mine = ToolOutputError("for sk-live-abcdef123456", tool="other")
    with pytest.raises(ToolOutputError) as caught:
        await run(function, tool="t")
    assert (caught.value.message, caught.value.__cause__) == ("for ***", mine)


async def test_a_value_that_comes_too_late_is_dropped() -> None:
    """Of a function that swallows its cancellation, whether it was late or the run was cancelled."""

    async def swallows() -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return "late"

    with pytest.raises(ToolTimeoutError):
        await run(swallows, tool="t", timeout=0.001)
    task = asyncio.ensure_future(run(swallows, tool="t"))
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
