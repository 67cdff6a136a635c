"""Kept answers: which requests share one, what a hit gives, what is never kept."""

from __future__ import annotations

from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.llms.cache import CacheStats
from langfx_web.messages import AIMessage, Image, SystemMessage, Thought, ToolDeclaration, UserMessage
from langfx_web.testing import ManualClock, StaticResponse
from langfx_web.transport import MockTransport
from tests.llms import chat_wire, gemini_wire, messages_wire, responses_wire
from tests.llms.messages_wire import answered, end, ok, refused, start, text, thinking

TOOL = ToolDeclaration(name="f", description="", input_schema={})
SCHEMA = {"type": "object", "properties": {}}
WIRES: dict[str, Any] = {
    "anthropic": messages_wire,
    "openai": responses_wire,
    "openai_chat": chat_wire,
    "gemini": gemini_wire,
}


def pictured(last: bytes) -> UserMessage:
    """A question about a picture."""
    return UserMessage("hi", Image.from_bytes(b"\x89PNG\r\n\x1a\n" + last))


@pytest.mark.parametrize("wire", WIRES)
async def test_providers_28_everything_that_shapes_an_answer_tells_it_apart(wire: str) -> None:
    """System text, tools, schema, a byte of a picture, options, extras and the seed each make a request of its own."""
    asked: list[tuple[Any, dict[str, Any]]] = [
        ("hi", {}),
        ([SystemMessage("be"), UserMessage("hi")], {}),
        ([SystemMessage("be kind"), UserMessage("hi")], {}),
        (pictured(b"a"), {}),
        (pictured(b"b"), {}),
        ("hi", {"temperature": 0.5}),
        ("hi", {"reasoning_effort": "low"}),
        ("hi", {"extras": {"x": 1}}),
        ("hi", {"tools": [TOOL]}),
        ("hi", {"schema": SCHEMA}),
        ("hi", {"cache_seed": 1}),
    ]
    if wire != "openai":
        asked.append(("hi", {"stop": ["x"]}))
    kit, cache = WIRES[wire], lf.llms.InMemoryCache()
    model, _ = kit.answered(*[kit.ok() for _ in asked], cache=cache)
    keys = {(await model(prompt, **options)).metadata["cache_key"] for prompt, options in asked}
    assert len(keys) == len(asked) == len(cache)


@pytest.mark.parametrize("wire", WIRES)
async def test_providers_29_the_same_question_is_asked_once(wire: str) -> None:
    """The second answer is equal, costs nothing, and says what the first has cost."""
    kit = WIRES[wire]
    model, transport = kit.answered(kit.ok(), cache=lf.llms.InMemoryCache())
    (first,), (second,) = await model.sample(["hi"]), await model.sample(["hi"])
    assert len(transport.requests) == 1
    assert (first.is_cached, second.is_cached) == (False, True)
    assert second.samples[0].response == first.samples[0].response
    assert second.usage is not None
    assert (second.usage.input_tokens or 0, second.usage.num_requests) == (0, 0)
    assert second.cached_usage == first.usage
    assert second.cache_key == second.samples[0].response.metadata["cache_key"]
    assert (await model("hi")).usage == second.usage


async def test_providers_29_thoughts_are_kept_whole() -> None:
    """With what goes back of them."""
    model, _ = answered(ok(start() + thinking(0, "hm") + text(1, "a") + end()), cache=lf.llms.InMemoryCache())
    first, second = await model("hi"), await model("hi")
    assert second.parts == first.parts
    assert isinstance(second.parts[0], Thought)
    assert second.parts[0].payload["block"]["signature"] == "SIG=="


async def test_providers_30_entries_expire_and_make_room() -> None:
    """A TTL counts from the write; the entry that was not used for longest goes first."""
    clock = ManualClock()
    cache = lf.llms.InMemoryCache(max_entries=2, ttl=10, clock=clock)
    model, transport = answered(*[ok() for _ in range(6)], cache=cache)
    for prompt in ("a", "b", "a", "c", "a", "b"):
        await model(prompt)
    assert (len(transport.requests), len(cache)) == (4, 2)
    await clock.advance(10)
    await model("b")
    assert cache.stats == CacheStats(
        num_queries=7, num_hits=2, num_hit_expires=1, num_misses=5, num_updates=5, num_deletes=0
    )


async def test_providers_30_without_a_seed_nothing_is_kept() -> None:
    """Nor read."""
    cache = lf.llms.InMemoryCache()
    model, transport = answered(ok(), ok(), cache=cache)
    assert "cache_key" not in (await model("hi", cache_seed=None)).metadata
    await model("hi", cache_seed=None)
    assert (len(transport.requests), len(cache), cache.stats.num_queries) == (2, 0, 0)


class Broken(lf.llms.InMemoryCache):
    """A cache that neither reads nor writes."""

    async def get(self, key: str) -> Any:
        raise OSError("gone")

    async def put(self, key: str, result: Any) -> None:
        raise OSError("full")


async def test_providers_30_a_cache_that_fails_hides_no_answer() -> None:
    """Its failures are counted; what could not be read is not written."""
    cache = Broken()
    model, _ = answered(ok(), cache=cache)
    assert (await model("hi")).text == "Hello"
    assert cache.stats.num_errors == 1


async def test_providers_31_only_whole_answers_are_kept() -> None:
    """Nothing cut, filtered, paused or failed."""
    cache = lf.llms.InMemoryCache()
    model, transport = answered(
        ok(start() + text(0, "a") + end("max_tokens")),
        ok(start() + text(0, "a") + end("refusal")),
        ok(start() + text(0, "a")),
        refused(500),
        ok(start() + text(0, "a") + end("pause_turn")),
        cache=cache,
    )
    for _ in range(4):
        with pytest.raises(errors.LMError):
            await model("hi")
    assert (await model("hi")).finish_reason == "pause"
    assert (len(cache), len(transport.requests)) == (0, 5)


async def test_providers_32_two_fakes_share_nothing() -> None:
    """Though they look alike and have one cache; nor does a copy with other options."""
    cache = lf.llms.InMemoryCache()
    first, second = (StaticResponse(said, cache=cache) for said in ("a", "b"))
    assert [(await model("hi")).text for model in (first, second, first, second)] == ["a", "b", "a", "b"]
    assert cache.stats.num_hits == 2
    assert first.with_options().cache_scope() != first.cache_scope()


async def test_providers_33_models_of_one_wire_address_and_name_share() -> None:
    """Whatever key they send; not in another namespace, nor with other betas, nor under another name."""
    cache = lf.llms.InMemoryCache()
    model, transport = answered(*[ok() for _ in range(5)], cache=cache)
    await model("hi")
    same, _ = answered(api_key="other-key", base_url="https://api.anthropic.com/v1?team=x", cache=cache, timeout=5)
    assert (await same("hi")).text == "Hello"
    others = [
        model.with_options(cache=lf.llms.InMemoryCache(namespace="n")),
        model.with_options(betas=["b"]),
        model.with_options(model="claude-y"),
        model.with_options(headers={"anthropic-beta": "c"}),
    ]
    for other in others:
        await other("hi")
    assert len(transport.requests) == 5


async def test_namespaces_share_no_entries() -> None:
    """Two names in one place."""
    cache = lf.llms.InMemoryCache()
    model, transport = answered(ok(), ok(), cache=cache)
    await model("hi")
    cache.namespace = "other"
    await model("hi")
    assert len(transport.requests) == 2


async def test_an_answer_can_be_forgotten() -> None:
    """By the key in its metadata; without a cache there is nothing to forget."""
    cache = lf.llms.InMemoryCache()
    model, transport = answered(ok(), ok(), cache=cache)
    key = (await model("hi")).metadata["cache_key"]
    await model.forget(key)
    await model("hi")
    assert (len(transport.requests), cache.stats.num_deletes) == (2, 1)
    await lf.llms.Anthropic("m", transport=MockTransport([])).forget(key)


async def test_streams_neither_read_nor_write() -> None:
    """What is shown while it comes is asked for anew."""
    cache = lf.llms.InMemoryCache()
    model, transport = answered(ok(), ok(), cache=cache)
    await model("hi")
    assert [chunk async for chunk in model.stream("hi")]
    assert (len(transport.requests), cache.stats.num_queries) == (2, 1)


async def test_a_request_that_cannot_be_sent_says_so_with_a_cache_too() -> None:
    """The cache is not asked about it."""
    cache = lf.llms.InMemoryCache()
    model, _ = answered(cache=cache)
    with pytest.raises(errors.UnsupportedCapabilityError):
        await model("hi", random_seed=5)
    assert cache.stats.num_queries == 0


async def test_what_was_said_before_shapes_an_answer_and_its_cost_does_not() -> None:
    """A model without a wire tells conversations apart by what they say."""
    cache = lf.llms.InMemoryCache()
    model = StaticResponse("a", cache=cache)
    history = [UserMessage("hi"), AIMessage("x", model="m-1"), UserMessage("go")]
    again = [UserMessage("hi"), AIMessage("x", model="m-2", response_id="r"), UserMessage("go")]
    other = [UserMessage("hi"), AIMessage(Thought("hm"), "x"), UserMessage("go")]
    first, second, third = [(await model(messages)).metadata["cache_key"] for messages in (history, again, other)]
    assert first == second != third
    assert cache.stats.num_hits == 1


def test_a_cache_holds_something() -> None:
    """No room at all is a mistake."""
    for options in ({"max_entries": 0}, {"max_entries": "many"}, {"ttl": "long"}):
        with pytest.raises(errors.InvalidArgumentError):
            lf.llms.InMemoryCache(**options)  # type: ignore[arg-type]  # that is what is refused
    assert repr(lf.llms.InMemoryCache(namespace="n")) == "InMemoryCache('n', 0 entries)"
