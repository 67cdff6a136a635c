"""What work may cost: paid before it is sent, shared by all that runs."""

from __future__ import annotations

import asyncio

import pytest

from langfx_web.agentic import Budget, Session
from langfx_web.errors import BudgetExceededError, InvalidArgumentError
from langfx_web.messages import AIMessage
from langfx_web.testing import StaticResponse, StaticSequence
from langfx_web.usage import Usage

COST = Usage(input_tokens=6, output_tokens=4, total_tokens=10)


async def test_langfx_49_parallel_work_cannot_overshoot() -> None:
    """Of five queries at once, under a budget of three requests, three are sent."""
    lm = StaticResponse(AIMessage("s", usage=COST))
    async with Session(lm=lm, budget=Budget(max_requests=3)) as session:
        answers = await asyncio.gather(*(session.query("?") for _ in range(5)), return_exceptions=True)
        assert [answer for answer in answers if isinstance(answer, str)] == ["s"] * 3
        refused = [answer for answer in answers if isinstance(answer, BudgetExceededError)]
        assert [(error.code, error.limit) for error in refused] == [("budget_exceeded", "max_requests")] * 2
        assert (len(lm.requests), session.usage.requests) == (3, 3)
        assert [node.status for node in session.root.children].count("error") == 2


async def test_tokens_are_compared_before_each_request() -> None:
    """With what was reported so far; unknown costs count nothing, and a sum stands for a missing total."""
    costs = [None, Usage(input_tokens=6, output_tokens=4), COST, COST]
    lm = StaticSequence([AIMessage("s", usage=cost) for cost in costs])
    async with Session(lm=lm, budget=Budget(max_total_tokens=20)) as session:
        for left in (20, 10, 0):
            await session.query("?")
            assert session.budget == Budget(max_total_tokens=left)
        with pytest.raises(BudgetExceededError) as caught:
            await session.query("?")
        assert (caught.value.limit, len(lm.requests)) == ("max_total_tokens", 3)


async def test_repairs_and_streams_count() -> None:
    """A repair that cannot be paid for is not asked; in a stream it is an event."""
    lm = StaticSequence(["?", "?", "1"])
    async with Session(lm=lm, budget=Budget(max_requests=2)) as session:
        with pytest.raises(BudgetExceededError):
            await session.query("How many?", int, autofix=5)
        assert [event.type async for event in session.query_stream("?")] == ["generation_failed"]
        assert len(lm.requests) == 2
        assert [node.error.code for node in session.root.children] == ["budget_exceeded"] * 2


@pytest.mark.parametrize("bounds", [{"max_requests": -1}, {"max_requests": True}, {"max_total_tokens": 1.5}])
def test_a_bound_is_a_count(bounds) -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(InvalidArgumentError) as caught:
        Budget(**bounds)
    assert caught.value.details["option"] in bounds


def test_without_bounds_everything_is_left() -> None:
    """Of a child's bounds and its parent's the smaller ones are what is left."""
    account = Budget(max_total_tokens=5).opened(Budget(max_requests=2, max_total_tokens=50).opened(None))
    account.reserve()
    account.spend(COST)
    assert account.left() == Budget(max_requests=1, max_total_tokens=0)
    assert Budget().opened(None).left() == Budget()
