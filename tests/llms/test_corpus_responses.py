"""Every Responses answer of the shared corpus, read whole, byte by byte and in random pieces."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.openai.items import REPLAY_TAG
from langfx_web.messages import AIMessage
from tests.llms.corpus import (
    Item,
    Outcome,
    called,
    check_calls,
    check_usage,
    items,
    kind,
    model,
    read_in_every_way,
    require,
)

ITEMS = items("responses")
QUIRKS = items("responses", "_quirks")
FAILURES = {
    "deepseek/responses-deepseek-v4-flash-http-error.json": errors.LMInputError,
    "openai/responses-gpt-4-does-not-exist-12345-http-error.json": errors.AuthenticationError,
    "openai/responses-gpt-4o-http-error-2.json": errors.AuthenticationError,
    "openai/responses-gpt-4o-http-error.json": errors.LMInputError,
    "openai/responses-gpt-4o-max-tokens-text-2.sse": errors.IncompleteGenerationError,
    "openai/responses-gpt-4o-max-tokens-text-3.json": errors.IncompleteGenerationError,
    "openai/responses-gpt-4o-max-tokens-text.sse": errors.IncompleteGenerationError,
    "openai/responses-gpt-4o-mini-http-error.json": errors.LMInputError,
    "openai/responses-gpt-4o-misc.json": errors.IncompleteGenerationError,
    "openai/responses-gpt-4o-refusal-or-filter-structured-output-2.sse": errors.ContentFilteredError,
    "openai/responses-gpt-4o-refusal-or-filter-structured-output-3.sse": errors.ContentFilteredError,
    "openai/responses-gpt-4o-refusal-or-filter-structured-output.json": errors.ContentFilteredError,
    "openai/responses-gpt-5-mini-http-error.json": errors.LMInputError,
    "openai/responses-gpt-5-nano-http-error.json": errors.ContextLimitError,
    "openai/responses-model-misc.json": errors.IncompleteGenerationError,
    "openai/responses-this-model-does-not-exist-http-error.json": errors.ModelNotFoundError,
    "openai/responses-v-openai-error.1-2.json": errors.QuotaExceededError,
    "openai/responses-v-openai-error.1.sse": errors.QuotaExceededError,
    "openai/responses-v-reasoning-model-temperature-error.json": errors.LMInputError,
    "xai/responses-grok-4.3-http-error.json": errors.AuthenticationError,
    "_quirks/r1-responses-error-flat.sse": errors.RateLimitError,
}


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(ITEMS and QUIRKS)


@pytest.mark.parametrize("item", ITEMS + QUIRKS, ids=lambda item: item.name)
async def test_providers_01_every_way_of_cutting_gives_the_right_reading(item: Item) -> None:
    """A recorded answer is read as the corpus says, however the network cuts it, streamed or called."""
    outcome = await read_in_every_way(item)
    if "id" in item.expected:
        check_reading(item, outcome)


def check_reading(item: Item, outcome: Outcome) -> None:
    """Compare with the corpus: text, calls, reasoning items, opaque items, the word it ended with, usage."""
    expected = item.expected
    message = outcome.message or AIMessage()
    assert message.text == expected["text"] == outcome.shown
    check_calls(item, message)
    blocks = [thought.payload["block"] for thought in message.thoughts if "block" in (thought.payload or {})]
    thoughts = [block for block in blocks if block["type"] == "reasoning"]
    assert [readable(block) for block in thoughts] == [
        {name: item[name] for name in ("summary", "content")} for item in expected["reasoning"]
    ]
    assert thoughts == announced(item)
    opaque = [kind for kind in expected["item_order"] if kind not in ("message", "function_call", "reasoning")]
    assert sorted(block["type"] for block in blocks if block["type"] != "reasoning") == sorted(opaque)
    assert all(thought.replay_compatibility == REPLAY_TAG for thought in message.thoughts)
    if outcome.error is None:
        assert message.raw_finish_reason == expected["stop_reason"]
        assert (message.response_id, message.model) == (expected["id"], expected["model"])
    check_usage(item, outcome)


def readable(block: dict[str, Any]) -> dict[str, Any]:
    """The words of a reasoning item as the corpus writes them."""
    return {
        "summary": [part["text"] for part in block.get("summary") or []],
        "content": [part["text"] for part in block.get("content") or []],
    }


def announced(item: Item) -> list[dict[str, Any]]:
    """The reasoning items as the server finished them; the ones in a stream's last event are encrypted anew."""
    if item.body.lstrip().startswith(b"{"):
        output = json.loads(item.body)["output"]
    else:
        lines = [line[5:] for line in item.body.decode().splitlines() if line.startswith("data:") and "{" in line]
        events = [json.loads(line) for line in lines]
        output = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    return [block for block in output if block["type"] == "reasoning"]


@pytest.mark.parametrize("item", ITEMS + QUIRKS, ids=lambda item: item.name)
async def test_a_failed_answer_raises_the_right_error(item: Item) -> None:
    """Refusals, output limits, HTTP errors and failures inside a stream each have their class, status and word."""
    wanted = FAILURES.get(item.name)
    if wanted is None:
        assert (await called(item)).error is None
        return
    with pytest.raises(wanted) as raised:
        await model(item)("hi")
    assert type(raised.value) is wanted
    if item.reading.get("http_status", 200) != 200:
        error = item.expected["error"]
        assert raised.value.status == item.reading["http_status"]
        assert raised.value.provider_code in {error.get("code"), error.get("type")} or error.get("code") is None
    elif item.expected.get("text"):
        assert raised.value.partial.text == item.expected["text"]


async def test_the_outcomes_add_up() -> None:
    """As many answers succeed as the corpus has of them."""
    counts = Counter([kind(await called(item)) for item in ITEMS])
    assert (counts["stop"], counts["tool_calls"], len(ITEMS)) == (36, 16, 72)
