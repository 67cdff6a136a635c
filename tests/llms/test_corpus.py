"""Every Anthropic answer of the shared corpus, read whole, byte by byte and in random pieces."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.messages import AIMessage, Text
from langfx_web.transport import MockResponse, MockTransport, cut_every, cut_random
from langfx_web.usage import Usage

IN_CI = os.environ.get("CI") == "true"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
WIRES = ("anthropic",)
FAILURES = {
    "anthropic/claude-haiku-4-5-20251001-misc.json": errors.EmptyGenerationError,
    "anthropic/v-spliced-message-start.sse": errors.LMProtocolError,
}
STATUS = {400: errors.ContextLimitError, 401: errors.AuthenticationError, 404: errors.ModelNotFoundError}
REASONS = {"max_tokens": errors.IncompleteGenerationError, "refusal": errors.ContentFilteredError}


class Item(NamedTuple):
    """One recorded answer and its right reading."""

    name: str
    body: bytes
    reading: dict[str, Any]

    @property
    def expected(self) -> dict[str, Any]:
        return self.reading["expected"]

    @property
    def failure(self) -> type[errors.LMError] | None:
        if self.name in FAILURES:
            return FAILURES[self.name]
        return STATUS.get(self.reading["http_status"]) or REASONS.get(self.expected.get("stop_reason", ""))


def items() -> list[Item]:
    """The answers of the wires that exist here."""
    found = []
    for path in sorted(CORPUS.glob("[!_]*/*.expected.json")):
        reading = json.loads(path.read_text())
        if reading["api"] in WIRES:
            stem = path.name.removesuffix(".expected.json")
            body = next(file for ext in (".sse", ".json") if (file := path.with_name(stem + ext)).exists())
            found.append(Item(f"{path.parent.name}/{body.name}", body.read_bytes(), reading))
    return found


ITEMS = items()


@pytest.fixture(autouse=True)
def _corpus() -> None:
    if not ITEMS:
        missing = pytest.fail if IN_CI else pytest.skip
        missing(f"the shared corpus is not at {CORPUS}")


class Outcome(NamedTuple):
    """What came of reading an answer: the message or the error, and the texts that were shown on the way."""

    message: AIMessage | None
    usage: Usage | None
    error: str | None
    shown: str


def feeds(item: Item) -> dict[str, list[bytes]]:
    """The body in the ways it is cut."""
    return {
        "whole": [item.body],
        "byte by byte": cut_every(item.body, 1),
        "random": cut_random(item.body, 50, item.name),
    }


def model(item: Item, chunks: list[bytes]) -> lf.llms.Anthropic:
    """A model that is answered so."""
    answer = MockResponse(status=item.reading["http_status"], headers=item.reading["headers"] or {}, body=chunks)
    return lf.llms.Anthropic("m", api_key="test-key", transport=MockTransport([answer]))


async def streamed(item: Item, chunks: list[bytes]) -> Outcome:
    """The outcome of streaming it."""
    shown = []
    try:
        async for chunk in model(item, chunks).stream("hi"):
            shown.append(chunk.delta.text)
            last = chunk
    except errors.LMError as error:
        return failed(error, "".join(shown))
    return Outcome(last.aggregated, last.usage, None, "".join(shown))


async def called(item: Item) -> Outcome:
    """The outcome of a call."""
    try:
        message = await model(item, [item.body])("hi")
    except errors.LMError as error:
        return failed(error, error.partial.text if error.partial else "")
    return Outcome(message, message.usage, None, message.text)


def failed(error: errors.LMError, shown: str) -> Outcome:
    """The outcome that an error is."""
    return Outcome(error.partial, error.usage, f"{type(error).__name__}: {error} {error.status}", shown)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
async def test_every_way_of_cutting_gives_the_right_reading(item: Item) -> None:
    """A recorded answer is read as the corpus says, however the network cuts it, streamed or called."""
    outcomes = {name: await streamed(item, chunks) for name, chunks in feeds(item).items()}
    outcomes["called"] = await called(item)
    first = outcomes["whole"]
    for name, outcome in outcomes.items():
        assert outcome == first, name
    if item.failure is not errors.LMProtocolError:
        check_reading(item, first)


def check_reading(item: Item, outcome: Outcome) -> None:
    """Compare with the corpus: texts, calls, thoughts, the word it ended with, usage."""
    expected = item.expected
    message = outcome.message or AIMessage()
    if "text" in expected:
        assert message.text == (expected["text"] or "") == outcome.shown
        assert [part.text for part in message.parts if isinstance(part, Text)] == [
            text for text in expected["text_blocks"] if text
        ]
        assert [(call.id, call.name, call.args) for call in message.tool_calls] == [
            (call["id"], call["name"], call["arguments"]) for call in expected["tool_calls"]
        ]
        assert thinking_blocks(message) == expected["reasoning"]
        if outcome.message is not None:
            assert message.raw_finish_reason == expected["stop_reason"]
    norm = expected.get("usage_norm")
    if norm:
        assert outcome.usage is not None
        assert {name: getattr(outcome.usage, name) for name in norm} == norm
    else:
        assert outcome.usage is None


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


@pytest.mark.parametrize("item", [item for item in ITEMS if item.failure], ids=lambda item: item.name)
async def test_a_failed_answer_raises_the_right_error(item: Item) -> None:
    """Refusals, output limits, HTTP errors and broken streams each have their class, status and provider's word."""
    assert item.failure is not None
    with pytest.raises(item.failure) as raised:
        await model(item, [item.body])("hi")
    assert type(raised.value) is item.failure
    assert raised.value.provider == "anthropic"
    if item.reading["http_status"] != 200:
        assert raised.value.status == item.reading["http_status"]
        assert raised.value.provider_code == item.expected["error"]["type"]
        assert not raised.value.retryable
    elif item.expected["text"]:
        assert raised.value.partial.text == item.expected["text"]


async def test_the_outcomes_add_up() -> None:
    """As many answers succeed, and fail in each way, as the corpus has of them."""
    counts: Counter[str] = Counter()
    for item in ITEMS:
        outcome = await called(item)
        reason = outcome.message.finish_reason if outcome.message else None
        counts[outcome.error.partition(":")[0] if outcome.error else str(reason)] += 1
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
    item = Item(name, body, {"http_status": 200, "headers": {}, "expected": expected})
    outcomes = await asyncio.gather(*(streamed(item, chunks) for chunks in feeds(item).values()))
    assert len(set(map(repr, outcomes))) == 1
    with pytest.raises(errors.LMError) as raised:
        await model(item, [body])("hi")
    wanted = errors.TemporaryLMError if name.startswith("a1") else errors.IncompleteGenerationError
    assert type(raised.value) is wanted
    assert raised.value.partial.text == expected["text"] == outcomes[0].shown
    assert raised.value.provider_code == expected["error"].get("type")
