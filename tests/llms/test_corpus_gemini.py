"""Every Gemini answer of the shared corpus, read whole, byte by byte and in random pieces."""

from __future__ import annotations

from collections import Counter

import pytest

from langfx_web import errors
from langfx_web.llms.gemini.parts import REPLAY_TAG
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

ITEMS = items("gemini")
QUIRKS = items("gemini", "_quirks")
FAILURES = {
    "google/gemini-2.5-flash-http-error-2.json": errors.RateLimitError,
    "google/gemini-2.5-flash-max-tokens-text-2.sse": errors.IncompleteGenerationError,
    "google/gemini-2.5-flash-max-tokens-text-3.sse": errors.IncompleteGenerationError,
    "google/gemini-2.5-flash-max-tokens-text-4.json": errors.IncompleteGenerationError,
    "google/gemini-2.5-flash-max-tokens-text.json": errors.IncompleteGenerationError,
    "google/this-model-does-not-exist-12-http-error.json": errors.ModelNotFoundError,
    "google/v-google-429-retry-info.json": errors.RateLimitError,
    "google-vertex/gemini-2.5-flash-misc.json": errors.ContentFilteredError,
    "google-vertex/gemini-2.5-flash-refusal-or-filter.json": errors.ContentFilteredError,
    "google-vertex/gemini-3-flash-preview-tool-empty-args.json": errors.MalformedGenerationError,
    "_quirks/g1-gemini-error-in-stream.sse": errors.TemporaryLMError,
}
WAITS = {"google/gemini-2.5-flash-http-error-2.json": 48.0, "google/v-google-429-retry-info.json": 34.4}


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(ITEMS and QUIRKS)


@pytest.mark.parametrize("item", ITEMS + QUIRKS, ids=lambda item: item.name)
async def test_providers_01_every_way_of_cutting_gives_the_right_reading(item: Item) -> None:
    """A recorded answer is read as the corpus says, however the network cuts it, streamed or called."""
    outcome = await read_in_every_way(item)
    if "part_order" in item.expected:
        check_reading(item, outcome)


def check_reading(item: Item, outcome: Outcome) -> None:
    """Compare with the corpus: text, thoughts, signatures in order, calls, the word it ended with, usage."""
    expected = item.expected
    message = outcome.message or AIMessage()
    assert message.text == expected["text"] == outcome.shown
    assert "".join(thought.content for thought in message.thoughts) == (expected["reasoning_text"] or "")
    check_calls(item, message)
    kept = [(thought.payload or {}) for thought in message.thoughts]
    found = [fields["thoughtSignature"] for payload in kept for fields in payload.values() if signed(fields)]
    assert found == [entry["signature"] for entry in expected["signatures"]]
    assert all(thought.replay_compatibility == REPLAY_TAG for thought in message.thoughts)
    if outcome.error is None:
        assert message.raw_finish_reason == expected["stop_reason"]
        assert (message.response_id, message.model) == (expected["id"], expected["model"])
    check_usage(item, outcome)


def signed(fields: object) -> bool:
    """Whether these are fields with a signature."""
    return isinstance(fields, dict) and "thoughtSignature" in fields


@pytest.mark.parametrize("item", ITEMS + QUIRKS, ids=lambda item: item.name)
async def test_a_failed_answer_raises_the_right_error(item: Item) -> None:
    """Filters, output limits, HTTP errors and failures inside a stream; a wait in the body is the error's."""
    wanted = FAILURES.get(item.name)
    if wanted is None:
        assert (await called(item)).error is None
        return
    with pytest.raises(wanted) as raised:
        await model(item)("hi")
    assert type(raised.value) is wanted
    if item.name in WAITS:
        assert raised.value.retry_after == pytest.approx(WAITS[item.name], abs=1)
    if item.expected.get("text"):
        assert raised.value.partial.text == item.expected["text"]


async def test_the_outcomes_add_up() -> None:
    """As many answers succeed as the corpus has of them."""
    counts = Counter([kind(await called(item)) for item in ITEMS])
    assert (counts["stop"], counts["tool_calls"], len(ITEMS)) == (23, 15, 48)
