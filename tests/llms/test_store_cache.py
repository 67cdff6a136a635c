"""Answers kept in a store: what comes back, what is a miss, and that a broken store hides nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError
from langfx_web.llms.cache import CacheStats
from langfx_web.messages import Thought
from langfx_web.stores import MemoryStore
from langfx_web.testing import ManualClock
from tests.llms import chat_wire, gemini_wire, messages_wire, responses_wire
from tests.llms.messages_wire import answered, end, ok, start, text, thinking, tool

WIRES: dict[str, Any] = {
    "anthropic": messages_wire,
    "openai": responses_wire,
    "openai_chat": chat_wire,
    "gemini": gemini_wire,
}


@pytest.mark.parametrize("wire", WIRES)
async def test_providers_29_a_stored_answer_is_the_same_answer(wire: str) -> None:
    """Another cache over the same store finds it, whole, at no cost, with what it has cost once."""
    kit, store = WIRES[wire], MemoryStore()
    model, transport = kit.answered(kit.ok(), cache=lf.llms.StoreCache(store))
    (first,) = await model.sample(["hi"])
    later = model.with_options(cache=lf.llms.StoreCache(store))
    (second,) = await later.sample(["hi"])
    assert len(transport.requests) == 1
    assert second.samples[0].response == first.samples[0].response
    assert (first.is_cached, second.is_cached, second.cached_usage) == (False, True, first.usage)
    assert second.usage is not None
    assert (second.usage.total_tokens, second.usage.num_requests) == (0, 0)
    assert (second.model, second.response_id, second.cache_key) == (first.model, first.response_id, first.cache_key)


async def test_providers_29_thoughts_and_calls_are_stored_whole() -> None:
    """With what goes back of them."""
    answer = start() + thinking(0, "hm") + text(1, "a\u2028b") + tool(2, "t", "f", "{}") + end("tool_use")
    model, _ = answered(ok(answer), cache=lf.llms.StoreCache(MemoryStore()))
    first, second = await model("hi"), await model("hi")
    assert (second, second.tool_calls, second.finish_reason) == (first, first.tool_calls, "tool_calls")
    assert isinstance(second.parts[0], Thought)
    assert second.parts[0].payload["block"]["signature"] == "SIG=="


async def test_providers_30_stored_entries_expire_and_make_room() -> None:
    """A TTL counts from the write; an expired one is removed."""
    clock = ManualClock()
    cache = lf.llms.StoreCache(MemoryStore(clock=clock), max_entries=2, ttl=10, clock=clock)
    model, transport = answered(*[ok() for _ in range(5)], cache=cache)
    for prompt in ("a", "b", "a", "c", "c"):
        await model(prompt)
    assert len(transport.requests) == 3
    await clock.advance(10)
    await model("c")
    assert cache.stats == CacheStats(num_queries=6, num_hits=2, num_hit_expires=1, num_misses=4, num_updates=4)


async def test_providers_30_a_store_that_fails_hides_no_answer() -> None:
    """Its failure is counted."""
    store = MemoryStore()
    cache = lf.llms.StoreCache(store)
    await store.close()
    model, _ = answered(ok(), cache=cache)
    assert (await model("hi")).text == "Hello"
    assert (cache.stats.num_errors, cache.stats.num_updates) == (1, 0)


async def test_providers_33_namespaces_of_a_store() -> None:
    """One does not see what another has, and is cleared alone."""
    store = MemoryStore()
    one, other = (lf.llms.StoreCache(store, namespace=name) for name in ("one", "other"))
    model, transport = answered(*[ok() for _ in range(3)], cache=one)
    await model("hi")
    await model.with_options(cache=other)("hi")
    await other.clear()
    await model("hi")
    await model.with_options(cache=other)("hi")
    assert len(transport.requests) == 3


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"7", b'{"v":1}', b'{"v":2,"samples":[]}', b'{"v":"1"}', b"\xff", b'{"v":1,"samples":[7]}'],
)
async def test_what_cannot_be_read_is_a_miss(data: bytes) -> None:
    """Damaged entries, and those of a newer release, are asked for again and replaced."""
    store = MemoryStore()
    cache = lf.llms.StoreCache(store)
    model, transport = answered(ok(), ok(), cache=cache)
    key = (await model("hi")).metadata["cache_key"]
    await store.cache("").put(key, data)
    assert (await model("hi")).text == (await model("hi")).text == "Hello"
    assert (len(transport.requests), cache.stats.num_errors) == (2, 0)


async def test_a_kept_message_of_another_role_is_a_miss() -> None:
    """Only answers can be kept."""
    store = MemoryStore()
    cache = lf.llms.StoreCache(store)
    model, _ = answered(ok(), cache=cache)
    key = (await model("hi")).metadata["cache_key"]
    kept = await store.cache("").get(key)
    assert kept is not None
    plain = json.loads(kept.data)
    plain["samples"][0]["response"] = {"role": "user", "parts": []}
    await store.cache("").put(key, json.dumps(plain).encode())
    assert await cache.get(key) is None


async def test_a_stored_answer_can_be_forgotten() -> None:
    """By its key; twice is once."""
    cache = lf.llms.StoreCache(MemoryStore())
    model, transport = answered(ok(), ok(), cache=cache)
    key = (await model("hi")).metadata["cache_key"]
    await model.forget(key)
    await model.forget(key)
    await model("hi")
    assert (len(transport.requests), cache.stats.num_deletes) == (2, 1)


async def test_an_answer_that_is_too_large_is_not_kept() -> None:
    """It is given all the same, and is no failure."""
    cache = lf.llms.StoreCache(MemoryStore())
    model, transport = answered(*[ok(start() + text(0, "x" * 1_100_000) + end()) for _ in range(2)], cache=cache)
    assert len((await model("hi")).text) == len((await model("hi")).text) == 1_100_000
    assert (len(transport.requests), cache.stats.num_updates, cache.stats.num_errors) == (2, 0, 0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"store": "shop"}, "store"),
        ({"store": None}, "store"),
        ({"max_entries": 0}, "max_entries"),
        ({"ttl": "long"}, "ttl"),
        ({"ttl": float("nan")}, "ttl"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], named: str) -> None:
    """They are refused where the cache is made."""
    with pytest.raises(InvalidArgumentError) as caught:
        lf.llms.StoreCache(**{"store": MemoryStore()} | options)
    assert caught.value.details["option"] == named


def test_a_stored_cache_shows_its_namespace() -> None:
    """And nothing of what it keeps."""
    assert repr(lf.llms.StoreCache(MemoryStore(), namespace="n")) == "StoreCache('n')"
