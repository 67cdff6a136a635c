"""Every Anthropic answer of the shared corpus, read whole, byte by byte and in random pieces."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.messages import AIMessage, Text
from tests.llms.corpus import (
    CORPUS,
    Item,
    Outcome,
    called,
    check_calls,
    check_usage,
    feeds,
    items,
    kind,
    model,
    read_in_every_way,
    require,
    streamed,
)

ITEMS = items("anthropic")
FAILURES = {
    "anthropic/claude-haiku-4-5-20251001-misc.json": errors.EmptyGenerationError,
    "anthropic/v-spliced-message-start.sse": errors.LMProtocolError,
}
STATUS = {400: errors.ContextLimitError, 401: errors.AuthenticationError, 404: errors.ModelNotFoundError}
REASONS = {"max_tokens": errors.IncompleteGenerationError, "refusal": errors.ContentFilteredError}


def failure(item: Item) -> type[errors.LMError] | None:
    """The error that an answer is."""
    if item.name in FAILURES:
        return FAILURES[item.name]
    return STATUS.get(item.reading["http_status"]) or REASONS.get(item.expected.get("stop_reason", ""))


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
async def test_providers_01_every_way_of_cutting_gives_the_right_reading(item: Item) -> None:
    """A recorded answer is read as the corpus says, however the network cuts it, streamed or called."""
    outcome = await read_in_every_way(item)
    if failure(item) is not errors.LMProtocolError:
        check_reading(item, outcome)


def check_reading(item: Item, outcome: Outcome) -> None:
    """Compare with the corpus: texts, calls, thoughts, the word it ended with, usage."""
    expected = item.expected
    message = outcome.message or AIMessage()
    if "text" in expected:
        assert message.text == (expected["text"] or "") == outcome.shown
        assert [part.text for part in message.parts if isinstance(part, Text)] == [
            text for text in expected["text_blocks"] if text
        ]
        check_calls(item, message)
        assert thinking_blocks(message) == expected["reasoning"]
        if outcome.error is None:
            assert message.raw_finish_reason == expected["stop_reason"]
    check_usage(item, outcome)


def thinking_blocks(message: AIMessage) -> list[dict[str, Any]]:
    """The thoughts as the corpus writes them."""
    blocks = []
    for thought in message.thoughts:
        if thought.payload is None:
            blocks.append({"text": thought.content, "signature": ""})
            continue
        assert thought.replay_compatibility == REPLAY_TAG
        block = thought.payload.get("block", {})
        if block.get("type") == "thinking":
            assert block["thinking"] == thought.content
            blocks.append({"text": block["thinking"], "signature": block["signature"]})
        elif block.get("type") == "redacted_thinking":
            blocks.append({"redacted": block["data"]})
    return blocks


@pytest.mark.parametrize("item", [item for item in ITEMS if failure(item)], ids=lambda item: item.name)
async def test_a_failed_answer_raises_the_right_error(item: Item) -> None:
    """Refusals, output limits, HTTP errors and broken streams each have their class, status and provider's word."""
    wanted = failure(item)
    assert wanted is not None
    with pytest.raises(wanted) as raised:
        await model(item)("hi")
    assert type(raised.value) is wanted
    assert raised.value.provider == "anthropic"
    if item.reading["http_status"] != 200:
        assert raised.value.status == item.reading["http_status"]
        assert raised.value.provider_code == item.expected["error"]["type"]
        assert not raised.value.retryable
    elif item.expected["text"]:
        assert raised.value.partial.text == item.expected["text"]


async def test_the_outcomes_add_up() -> None:
    """As many answers succeed, and fail in each way, as the corpus has of them."""
    counts = Counter([kind(await called(item)) for item in ITEMS])
    assert counts == {
        "stop": 42,
        "tool_calls": 19,
        "pause": 1,
        "IncompleteGenerationError": 3,
        "ContentFilteredError": 2,
        "EmptyGenerationError": 1,
        "LMProtocolError": 1,
        "ContextLimitError": 1,
        "AuthenticationError": 1,
        "ModelNotFoundError": 1,
    }


@pytest.mark.parametrize("name", ["a1-anthropic-error-event", "a2-anthropic-truncated"])
async def test_self_written_quirks_are_read_as_documented(name: str) -> None:
    """An error inside a stream is classified like the status it stands for; a cut stream is never a success."""
    body = (CORPUS / "_quirks" / f"{name}.sse").read_bytes()
    expected = json.loads((CORPUS / "_quirks" / f"{name}.expected.json").read_text())["expected"]
    item = Item(name, body, {"api": "anthropic", "http_status": 200, "headers": {}, "expected": expected})
    outcomes = await asyncio.gather(*(streamed(item, chunks) for chunks in feeds(item).values()))
    assert len(set(map(repr, outcomes))) == 1
    with pytest.raises(errors.LMError) as raised:
        await model(item)("hi")
    wanted = errors.TemporaryLMError if name.startswith("a1") else errors.IncompleteGenerationError
    assert type(raised.value) is wanted
    assert raised.value.partial.text == expected["text"] == outcomes[0].shown
    assert raised.value.provider_code == expected["error"].get("type")
