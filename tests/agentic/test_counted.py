"""A model whose requests are counted where they are made."""

from __future__ import annotations

import pytest

from langfx_web.agentic.budget import Budget
from langfx_web.agentic.counted import CountedModel, Meter
from langfx_web.agentic.trace import OpenNode
from langfx_web.clock import SYSTEM_CLOCK
from langfx_web.errors import BudgetExceededError, RateLimitError
from langfx_web.llms import Anthropic, InMemoryCache
from langfx_web.messages import AIMessage
from langfx_web.testing import MockResponse, MockTransport, StaticResponse, StaticSequence
from langfx_web.usage import Usage

COST = Usage(input_tokens=2, output_tokens=1, total_tokens=3)
ANSWER = AIMessage("one", usage=COST)


def node() -> OpenNode:
    """Where the requests of a test are counted."""
    return OpenNode("s0/q1", "s0", "query", "query", SYSTEM_CLOCK.now())


def spent(node: OpenNode) -> tuple[int, int, int | None]:
    """Requests, kept answers, and tokens."""
    return node.requests, node.cached, node.usage and node.usage.total_tokens


async def test_each_way_of_asking_is_counted_once() -> None:
    """Calls, streams and samples, with changed options too; options reach the model."""
    lm, kept = StaticResponse(ANSWER, chunk_size=1, temperature=0.1), node()
    counted = CountedModel(lm, Meter(kept, None))
    assert (await counted("a")).text == "one"
    assert "".join([chunk.delta.text async for chunk in counted.stream("a")]) == "one"
    assert len(await counted.sample(["a", "b"])) == 2
    await counted.with_options(temperature=0.5)("a", top_k=3)
    assert spent(kept) == (5, 0, 15)
    assert [request.options.temperature for request in lm.requests] == [0.1, 0.1, 0.1, 0.1, 0.5]
    assert lm.requests[-1].options.top_k == 3
    assert (counted.model, counted.capabilities, counted.clock) == (lm.model, lm.capabilities, lm.clock)


async def test_failures_cost_too() -> None:
    """What is known of it; a stream that is left has no known cost."""
    failure, kept = RateLimitError("slow down", usage=COST), node()
    counted = CountedModel(StaticSequence([failure, failure, ANSWER], chunk_size=1), Meter(kept, None))
    with pytest.raises(RateLimitError):
        await counted("a")
    with pytest.raises(RateLimitError):
        async for _ in counted.stream("a"):
            pass
    assert spent(kept) == (2, 0, 6)
    async with counted.stream("a") as chunks:
        async for _ in chunks:
            break
    assert spent(kept) == (3, 0, 6)


async def test_a_kept_answer_costs_nothing() -> None:
    """It adds no tokens and no request, is in the node all the same, and can be forgotten."""
    cache, kept = InMemoryCache(), node()
    counted = CountedModel(StaticSequence([ANSWER, ANSWER], cache=cache), Meter(kept, None))
    first, _ = await counted("a"), await counted("b")
    assert await counted("a") == first
    assert spent(kept) == (2, 1, 6)
    assert [message.text for message in kept.request or ()] == ["a"]
    assert len(await counted.sample(["a"])) == 1
    assert spent(kept) == (2, 2, 6)
    await counted.forget(first.metadata["cache_key"])
    assert len(cache) == 1


async def test_a_request_is_paid_for_before_it_is_sent() -> None:
    """Retries too: what the budget does not have is not sent."""
    lm, kept = StaticSequence([RateLimitError("wait")] * 5, max_attempts=5, retry_interval=0.0), node()
    counted = CountedModel(lm, Meter(kept, Budget(max_requests=3).opened(None)))
    with pytest.raises(BudgetExceededError) as caught:
        await counted("a")
    assert (caught.value.limit, len(lm.requests), kept.requests) == ("max_requests", 3, 3)


async def test_the_list_of_models_is_the_models() -> None:
    """Asking for it costs nothing."""
    transport, kept = MockTransport([MockResponse(body=b'{"data":[{"id":"m"}]}')]), node()
    counted = CountedModel(Anthropic("m", transport=transport), Meter(kept, None))
    assert [info.id for info in await counted.list_models()] == ["m"]
    assert spent(kept) == (0, 0, None)
