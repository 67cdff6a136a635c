"""Many prompts, each with an outcome of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError, MappingError, RateLimitError
from langfx_web.llms import ModelRequest
from langfx_web.testing import ManualClock, StaticResponse, StaticSequence


class Doubling:
    """Twice the number that it is asked for, after a second; 3 and 11 are nonsense, 7 is a failure."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._in_flight = 0
        self.most = 0

    async def answer(self, request: ModelRequest) -> Any:
        self._in_flight += 1
        self.most = max(self.most, self._in_flight)
        await self._clock.sleep(1.0)
        self._in_flight -= 1
        number = int("".join(filter(str.isdigit, request.messages[-1].text)))
        return {3: "three", 7: RateLimitError("slow down"), 11: "{}"}.get(number, str(number * 2))


async def test_langfx_38_every_prompt_has_its_outcome() -> None:
    """In order, at most so many at a time, whatever becomes of the others."""
    clock = ManualClock()
    doubling = Doubling(clock)
    lm = StaticResponse(doubling.answer, clock=clock)
    task = asyncio.create_task(lf.query_batch([f"Double {n}." for n in range(20)], int, lm=lm, max_concurrency=4))
    for _ in range(5):
        await clock.advance(1.0)
    items = await task
    assert [item.index for item in items] == list(range(20))
    failed = {3: MappingError, 7: RateLimitError, 11: MappingError}
    assert {item.index: type(item.error) for item in items if item.error} == failed
    assert all(item.value == item.index * 2 for item in items if item.error is None)
    assert (doubling.most, len(lm.requests)) == (4, 20)
    assert [item.message.text for item in items[3:5] if item.message] == ["three", "8"]


async def test_cancelling_a_batch_cancels_all_of_it() -> None:
    """Nothing goes on, nothing is started."""
    lm = StaticResponse("1", delay=1000.0)
    task = asyncio.create_task(lf.query_batch(["a", "b", "c"], lm=lm, max_concurrency=2))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(lm.requests) == 2
    assert len(asyncio.all_tasks()) == 1


async def test_options_are_those_of_a_query() -> None:
    """A default, repairs, variables; no prompts, no request."""
    lm = StaticSequence(["x", "1", "y", "z"])
    items = await lf.query_batch(["{{a}}", "{{a}}"], int, lm=lm, vars={"a": 1}, autofix=1, max_concurrency=1, default=0)
    assert [(item.value, item.error) for item in items] == [(1, None), (0, None)]
    assert await lf.query_batch([], int, lm=StaticSequence([])) == []


async def test_bad_options_are_refused_before_anything_is_sent() -> None:
    """They are no outcome of a prompt."""
    lm = StaticSequence([])
    bad: list[tuple[type[Exception], dict[str, Any]]] = [
        (TypeError, {"warmth": 3}),
        (TypeError, {"returns_message": True}),
        (InvalidArgumentError, {"max_concurrency": 0}),
        (InvalidArgumentError, {"autofix": "x"}),
        (InvalidArgumentError, {"protocol": "yaml"}),
    ]
    for kind, options in bad:
        with pytest.raises(kind):
            await lf.query_batch(["a"], lm=lm, **options)
    with pytest.raises(InvalidArgumentError):
        await lf.query_batch("abc", lm=lm)
    with pytest.raises(InvalidArgumentError):
        await lf.query_batch(["a"])
    assert lm.requests == []
