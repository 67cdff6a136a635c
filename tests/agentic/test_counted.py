"""A model whose requests are counted where they are made."""

from __future__ import annotations

import pytest

from langfx_web.agentic.counted import CountedModel
from langfx_web.errors import RateLimitError
from langfx_web.llms import Anthropic, InMemoryCache
from langfx_web.messages import AIMessage
from langfx_web.testing import MockResponse, MockTransport, StaticResponse, StaticSequence
from langfx_web.usage import Usage

COST = Usage(input_tokens=2, output_tokens=1, total_tokens=3)
ANSWER = AIMessage("one", usage=COST)


async def test_each_way_of_asking_is_counted_once() -> None:
    """Calls, streams and samples, with changed options too; options reach the model."""
    spent: list[Usage | None] = []
    lm = StaticResponse(ANSWER, chunk_size=1, temperature=0.1)
    counted = CountedModel(lm, spent.append)
    assert (await counted("a")).text == "one"
    assert "".join([chunk.delta.text async for chunk in counted.stream("a")]) == "one"
    assert len(await counted.sample(["a", "b"])) == 2
    await counted.with_options(temperature=0.5)("a", top_k=3)
    assert spent == [COST] * 5
    assert [request.options.temperature for request in lm.requests] == [0.1, 0.1, 0.1, 0.1, 0.5]
    assert lm.requests[-1].options.top_k == 3
    assert (counted.model, counted.capabilities, counted.clock) == (lm.model, lm.capabilities, lm.clock)


async def test_failures_cost_too() -> None:
    """What is known of it; a stream that is left has no known cost."""
    spent: list[Usage | None] = []
    failure = RateLimitError("slow down", usage=COST)
    counted = CountedModel(StaticSequence([failure, failure, ANSWER], chunk_size=1), spent.append)
    with pytest.raises(RateLimitError):
        await counted("a")
    with pytest.raises(RateLimitError):
        async for _ in counted.stream("a"):
            pass
    assert spent == [COST, COST]
    async with counted.stream("a") as chunks:
        async for _ in chunks:
            break
    assert spent == [COST, COST]


async def test_a_kept_answer_costs_nothing() -> None:
    """It adds no tokens and no request, and can be forgotten."""
    spent: list[Usage | None] = []
    cache = InMemoryCache()
    counted = CountedModel(StaticSequence([ANSWER, ANSWER], cache=cache), spent.append)
    first, second = await counted("a"), await counted("a")
    assert second == first
    assert [usage and (usage.input_tokens, usage.num_requests) for usage in spent] == [(2, 1), (0, 0)]
    await counted.forget(first.metadata["cache_key"])
    assert len(cache) == 0


async def test_the_list_of_models_is_the_models() -> None:
    """Asking for it costs nothing."""
    spent: list[Usage | None] = []
    transport = MockTransport([MockResponse(body=b'{"data":[{"id":"m"}]}')])
    counted = CountedModel(Anthropic("m", transport=transport), spent.append)
    assert [info.id for info in await counted.list_models()] == ["m"]
    assert spent == []
