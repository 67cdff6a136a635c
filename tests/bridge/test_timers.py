"""Timers of a browser's loop, on a loop that behaves like Pyodide's."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from langfx_web.bridge.timers import SLICE, mend_timers

NAME: ContextVar[str] = ContextVar("NAME", default="nobody")


class PyodideLoop:
    """Keeps each timer until it is due, cancelled or not; a test turns its clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.held: list[tuple[float, asyncio.Handle]] = []
        self.delays: list[float] = []

    def time(self) -> float:
        return self.now

    def get_debug(self) -> bool:
        return False

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> asyncio.Handle:
        if delay < 0:
            raise ValueError("Can't schedule in the past")
        handle = asyncio.Handle(callback, args, self, context)  # type: ignore[arg-type]
        self.delays.append(delay)
        if delay < math.inf:
            self.held.append((self.now + delay, handle))
        return handle

    def turn(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while due := [entry for entry in self.held if entry[0] <= end]:
            entry = min(due, key=lambda entry: entry[0])
            self.held.remove(entry)
            self.now = max(self.now, entry[0])
            if not entry[1].cancelled():
                entry[1]._run()
        self.now = end


@pytest.fixture
def loop() -> PyodideLoop:
    """A loop with mended timers."""
    loop = PyodideLoop()
    mend_timers(loop)
    return loop


def called_at(loop: PyodideLoop, delay: float) -> list[float]:
    """The times at which a timer of this delay calls."""
    times: list[float] = []
    loop.call_later(delay, lambda: times.append(loop.now))
    return times


@pytest.mark.parametrize("delay", [-5.0, 0.0, 0.002, 0.5, SLICE, 1.5, 60.0, 86400.0])
def test_platform_37_every_delay_is_kept(loop: PyodideLoop, delay: float) -> None:
    """To the moment, once; below zero means now."""
    times = called_at(loop, delay)
    loop.turn(max(0.0, delay - 0.001))
    assert times == ([] if delay > 0 else [0.0])
    loop.turn(10)
    assert times == [pytest.approx(max(0.0, delay))]
    assert max(loop.delays) <= SLICE


def test_platform_37_an_endless_delay_is_no_timer(loop: PyodideLoop) -> None:
    """It may be cancelled like any other."""
    handle = loop.call_later(math.inf, lambda: None)
    assert loop.held == []
    handle.cancel()


def test_platform_37_cancelled_timers_do_not_pile_up(loop: PyodideLoop) -> None:
    """Two thousand limits of thirty seconds are gone a second later."""
    for _ in range(2000):
        handle = loop.call_later(30, lambda: pytest.fail("called"))
        assert handle.when() == 30
        handle.cancel()
        assert handle.cancelled()
    assert len(loop.held) == 2000
    loop.turn(SLICE)
    assert loop.held == []


def test_a_timer_cancelled_late_is_never_called(loop: PyodideLoop) -> None:
    """Also in its last slice."""
    handle = loop.call_later(2.5, lambda: pytest.fail("called"))
    loop.turn(2.2)
    handle.cancel()
    handle.cancel()
    loop.turn(5)


def test_arguments_and_context_go_with_it(loop: PyodideLoop) -> None:
    """The callback runs with the context of whoever set the timer, or the one that was given."""
    seen: list[tuple[int, str]] = []
    token = NAME.set("Ada")
    loop.call_later(3, lambda number: seen.append((number, NAME.get())), 7)
    NAME.reset(token)
    loop.turn(3)
    assert seen == [(7, "Ada")]


async def test_with_asyncio() -> None:
    """Timeouts and sleeps of a real loop work as before."""
    loop = asyncio.get_running_loop()
    mend_timers(loop)
    assert await asyncio.wait({asyncio.ensure_future(asyncio.sleep(0))}, timeout=-1)
    async with asyncio.timeout(30):
        await asyncio.sleep(0.01)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(SLICE + 0.05):
            await asyncio.sleep(30)
