"""The shared corpus of recorded answers: its items, the ways they are cut, and what comes of reading one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.messages import AIMessage
from langfx_web.transport import MockResponse, MockTransport, cut_every, cut_random
from langfx_web.usage import Usage

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


class Item(NamedTuple):
    """One recorded answer and its right reading."""

    name: str
    body: bytes
    reading: dict[str, Any]

    @property
    def expected(self) -> dict[str, Any]:
        return self.reading["expected"]


class Outcome(NamedTuple):
    """What came of reading an answer: the message or the error, and the texts that were shown on the way."""

    message: AIMessage | None
    usage: Usage | None
    error: str | None
    shown: str


def items(api: str, folder: str = "[!_]*") -> list[Item]:
    """The answers of one wire."""
    found = []
    for path in sorted(CORPUS.glob(f"{folder}/*.expected.json")):
        reading = json.loads(path.read_text())
        if reading["api"] == api:
            stem = path.name.removesuffix(".expected.json")
            body = next(file for ext in (".sse", ".json") if (file := path.with_name(stem + ext)).exists())
            found.append(Item(f"{path.parent.name}/{body.name}", body.read_bytes(), reading))
    return found


def require(found: object) -> None:
    """Skip where there is no corpus; in CI there must be one."""
    if not found:
        missing = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        missing(f"the shared corpus is not at {CORPUS}")


def feeds(item: Item) -> dict[str, list[bytes]]:
    """The body in the ways it is cut."""
    return {
        "whole": [item.body],
        "byte by byte": cut_every(item.body, 1),
        "random": cut_random(item.body, 50, item.name),
    }


def model(item: Item, chunks: list[bytes] | None = None) -> lf.LanguageModel:
    """A model of the item's wire that is answered so, at the address where the answer was recorded."""
    answer = MockResponse(
        status=item.reading.get("http_status", 200),
        headers=item.reading.get("headers") or {},
        body=[item.body] if chunks is None else chunks,
    )
    settings: dict[str, Any] = {"api_key": "test-key", "transport": MockTransport([answer])}
    endpoint = item.reading.get("endpoint") or ""
    match item.reading["api"]:
        case "chat":
            if "/chat/completions" in endpoint:
                settings |= {"base_url": endpoint.replace("/chat/completions", ""), "allow_insecure": True}
            return lf.llms.OpenAIChat("m", **settings)
        case "responses":
            if endpoint.endswith("/responses"):
                settings |= {"base_url": endpoint.removesuffix("/responses"), "allow_insecure": True}
            return lf.llms.OpenAI("m", **settings)
        case "gemini":
            return lf.llms.Gemini("m", **settings)
    return lf.llms.Anthropic("m", **settings)


async def streamed(item: Item, chunks: list[bytes]) -> Outcome:
    """The outcome of streaming it."""
    shown = []
    final = None
    try:
        async for chunk in model(item, chunks).stream("hi"):
            shown.append(chunk.delta.text if chunk.index == 0 else "")
            final = chunk if chunk.index == 0 else final
    except errors.LMError as error:
        return failed(error, "".join(shown))
    assert final is not None
    return Outcome(final.aggregated, final.usage, None, "".join(shown))


async def called(item: Item) -> Outcome:
    """The outcome of a call."""
    try:
        message = await model(item)("hi")
    except errors.LMError as error:
        return failed(error, error.partial.text if error.partial else "")
    return Outcome(message, message.usage, None, message.text)


def failed(error: errors.LMError, shown: str) -> Outcome:
    """The outcome that an error is."""
    return Outcome(error.partial, error.usage, f"{type(error).__name__}: {error} {error.status}", shown)


async def read_in_every_way(item: Item) -> Outcome:
    """The outcome, which has to be the same however the network cuts the answer, streamed or called."""
    outcomes = {name: await streamed(item, chunks) for name, chunks in feeds(item).items()}
    outcomes["called"] = await called(item)
    first = outcomes["whole"]
    for name, outcome in outcomes.items():
        assert outcome == first, name
    return first


def kind(outcome: Outcome) -> str:
    """The name of the error, or the finish reason of a success."""
    if outcome.error:
        return outcome.error.partition(":")[0]
    assert outcome.message is not None
    return str(outcome.message.finish_reason)


def check_usage(item: Item, outcome: Outcome) -> None:
    """Compare what an answer cost; what the corpus does not have is not compared."""
    norm = item.expected.get("usage_norm")
    if norm and norm["input_tokens"] is not None:
        assert outcome.usage is not None
        assert {name: getattr(outcome.usage, name, norm[name]) for name in norm} == norm
    else:
        assert outcome.usage is None


def check_calls(item: Item, message: AIMessage) -> None:
    """Compare tool calls; where the wire had no id, ours is some other than the rest. Free-form calls are opaque."""
    expected = [call for call in item.expected.get("tool_calls") or [] if not call.get("custom")]
    assert [(call.name, call.args) for call in message.tool_calls] == [
        (call["name"], call["arguments"]) for call in expected
    ]
    assert len({call.id for call in message.tool_calls}) == len(expected)
    for call, wanted in zip(message.tool_calls, expected, strict=True):
        assert call.id == wanted["id"] or (not wanted["id"] and call.id.startswith("lf_"))
