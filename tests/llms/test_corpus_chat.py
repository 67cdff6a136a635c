"""Every Chat Completions answer of the shared corpus, read whole, byte by byte and in random pieces."""

from __future__ import annotations

from collections import Counter

import pytest

from langfx_web import errors
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

ITEMS = items("chat")
QUIRKS = items("chat", "_quirks")
FAILURES = {
    "azure/chat-gpt-5-nano-http-error.json": errors.ModelNotFoundError,
    "azure/chat-openllmetry-testing-refusal-or-filter.json": errors.ContentFilteredError,
    "deepseek/chat-deepseek-chat-http-error-2.json": errors.ContextLimitError,
    "deepseek/chat-deepseek-chat-http-error.json": errors.AuthenticationError,
    "gpustack/chat-qwen3-error-field-line-no-done-cut.sse": errors.LMError,
    "groq/chat-llama-3.3-70b-versatlie-http-error.json": errors.ModelNotFoundError,
    "groq/chat-openai-gpt-oss-120b-http-error-2.json": errors.MalformedGenerationError,
    "groq/chat-openai-gpt-oss-120b-http-error.json": errors.MalformedGenerationError,
    "mistral/chat-mistral-small-latest-http-error.json": errors.AuthenticationError,
    "ollama-cloud/chat-gpt-oss-120b-http-error-2.json": errors.ContextLimitError,
    "openai/chat-gpt-4-http-error.json": errors.AuthenticationError,
    "openai/chat-gpt-4o-http-error.json": errors.AuthenticationError,
    "openai/chat-gpt-4o-mini-http-error-image-or-file-input.json": errors.LMInputError,
    "openai/chat-gpt-4o-refusal-or-filter-structured-output-2.sse": errors.ContentFilteredError,
    "openai/chat-gpt-4o-refusal-or-filter-structured-output-3.json": errors.ContentFilteredError,
    "openai/chat-gpt-5-mini-http-error.json": errors.LMInputError,
    "openai/chat-gpt-5-mini-max-tokens.sse": errors.IncompleteGenerationError,
    "openai/chat-o1-mini-http-error.json": errors.LMInputError,
    "openai/chat-this-model-does-not-exist-http-error.json": errors.ModelNotFoundError,
    "openrouter/chat-google-gemini-2.0-flash-exp-http-error.json": errors.RateLimitError,
    "openrouter/chat-minimax-minimax-m2-free-error-in-stream-max-tokens-reasoning.sse": errors.LMInputError,
    "perplexity/chat-sonar-http-error.json": errors.ContextLimitError,
    "vllm/chat-facebook-opt-125m-max-tokens-text.sse": errors.IncompleteGenerationError,
    "_quirks/11-error-mid-stream.sse": errors.TemporaryLMError,
    "_quirks/12-error-event.sse": errors.MalformedGenerationError,
    "_quirks/13-error-field-line.sse": errors.TemporaryLMError,
}
READ_OTHERWISE = {"openai/chat-gpt-4-misc.json"}
"""The official reader does not read the call that the wire had before it had lists of them."""
GROQ_USAGE = "groq/chat-llama3-8b-8192-text.sse"
"""The official reader does not look for usage where Groq had it first."""


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(ITEMS and QUIRKS)


@pytest.mark.parametrize("item", ITEMS + QUIRKS, ids=lambda item: item.name)
async def test_providers_01_every_way_of_cutting_gives_the_right_reading(item: Item) -> None:
    """A recorded answer is read as the corpus says, however the network cuts it, streamed or called."""
    outcome = await read_in_every_way(item)
    if "text" in item.expected:
        check_reading(item, outcome)


def check_reading(item: Item, outcome: Outcome) -> None:
    """Compare with the corpus: text, calls, reasoning, the word it ended with, usage."""
    expected = item.expected
    message = outcome.message or AIMessage()
    assert message.text == (expected["text"] or "") == outcome.shown
    assert "".join(thought.content for thought in message.thoughts) == expected.get("reasoning_text", "")
    if item.name not in READ_OTHERWISE:
        check_calls(item, message)
    if outcome.error is None:
        assert message.raw_finish_reason == (expected["stop_reason"] or None)
        assert message.response_id == (expected.get("id") or message.response_id)
        assert message.model == (expected.get("model") or message.model)
    if item.name == GROQ_USAGE:
        assert outcome.usage is not None
        assert (outcome.usage.input_tokens, outcome.usage.output_tokens) == (12, 26)
    elif "usage_norm" in expected:
        check_usage(item, outcome)


@pytest.mark.parametrize("item", ITEMS + QUIRKS, ids=lambda item: item.name)
async def test_a_failed_answer_raises_the_right_error(item: Item) -> None:
    """Refusals, output limits, HTTP errors and broken streams each have their class, status and provider's word."""
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
        assert raised.value.provider_code in {error.get("code"), error.get("type"), None}
    elif item.expected["text"]:
        assert raised.value.partial.text == item.expected["text"]


async def test_the_outcomes_add_up() -> None:
    """As many answers succeed as the corpus has of them."""
    counts = Counter([kind(await called(item)) for item in ITEMS])
    assert (counts["stop"], counts["tool_calls"], len(ITEMS)) == (50, 29, 102)


async def test_the_old_form_of_a_call_is_one() -> None:
    """The single call that the wire had before it had lists of them is a tool call like any."""
    item = next(item for item in ITEMS if item.name in READ_OTHERWISE)
    outcome = await called(item)
    assert outcome.message is not None
    (call,) = outcome.message.tool_calls
    assert (call.name, call.args, outcome.message.finish_reason) == (
        "get_current_weather",
        {"location": "Boston"},
        "tool_calls",
    )
    assert call.id.startswith("lf_")
