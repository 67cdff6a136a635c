"""Requests that Anthropic accepted, rebuilt from our own messages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.messages import (
    AIMessage,
    Message,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.transport import MockResponse, MockTransport

IN_CI = os.environ.get("CI") == "true"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SAID = ("text", "tool_use", "tool_result", "thinking", "redacted_thinking", "mcp_tool_use", "mcp_tool_result")
COMPARED = (
    "max_tokens",
    "messages",
    "model",
    "stop_sequences",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
)


def requests() -> dict[str, dict[str, Any]]:
    """The request bodies that were answered with 200 and hold nothing but what our messages can say."""
    found = {}
    for path in sorted(CORPUS.glob("[!_]*/*.request.json")):
        reading = json.loads(path.with_name(path.name.replace(".request.", ".expected.")).read_text())
        body = json.loads(path.read_text())
        if reading["api"] == "anthropic" and reading["http_status"] == 200 and sayable(body):
            found[path.name] = body
    return found


def sayable(body: dict[str, Any]) -> bool:
    """Whether our messages can say all of it."""
    blocks = [block for message in body["messages"] for block in listed(message["content"])]
    return all(block["type"] in SAID and worded(block) for block in blocks)


def worded(block: dict[str, Any]) -> bool:
    """Whether a tool result, if it is one, is text."""
    return block["type"] != "tool_result" or all(part["type"] == "text" for part in listed(block["content"]))


def listed(content: Any) -> list[dict[str, Any]]:
    """Content as a list of blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


REQUESTS = requests()


@pytest.fixture(autouse=True)
def _corpus() -> None:
    if not REQUESTS:
        missing = pytest.fail if IN_CI else pytest.skip
        missing(f"the shared corpus is not at {CORPUS}")


def conversation(body: dict[str, Any]) -> list[Message]:
    """The conversation of a body."""
    messages: list[Message] = [SystemMessage(block["text"]) for block in listed(body.get("system") or [])]
    for message in body["messages"]:
        blocks = listed(message["content"])
        if message["role"] == "assistant":
            messages.append(AIMessage(*map(answer_part, blocks)))
            continue
        messages += [
            ToolMessage(
                *(part["text"] for part in listed(block["content"])),
                call_id=block["tool_use_id"],
                is_error=block.get("is_error", False),
            )
            for block in blocks
            if block["type"] == "tool_result"
        ]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        if texts:
            messages.append(UserMessage(*texts))
    return messages


def answer_part(block: dict[str, Any]) -> Text | Thought | ToolCall:
    """The part that a block of an answer is."""
    if block["type"] == "text":
        return Text(block["text"])
    if block["type"] == "tool_use":
        return ToolCall(block["id"], block["name"], block["input"])
    payload = {"v": 1, "host": "api.anthropic.com", "model": "m", "block": block}
    return Thought(block.get("thinking", ""), payload=payload, replay_compatibility=REPLAY_TAG)


def options(body: dict[str, Any]) -> dict[str, Any]:
    """The options that ask for what a body asks for."""
    thinking = body.get("thinking") or {}
    choice = body.get("tool_choice") or {}
    wanted: dict[str, Any] = {
        **{name: body.get(name) for name in ("max_tokens", "temperature", "top_k", "top_p")},
        "stop": body.get("stop_sequences"),
        "max_thinking_tokens": thinking.get("budget_tokens"),
        "thoughts": thinking.get("display") == "summarized" or None,
        "reasoning_effort": "none" if thinking.get("type") == "disabled" else None,
        "tool_choice": choice.get("name") or choice.get("type"),
        "extras": {"tools": served} if (served := [tool for tool in tools(body) if not own(tool)]) else None,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def tools(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools of a body."""
    return body.get("tools") or []


def own(tool: dict[str, Any]) -> bool:
    """Whether a tool is one that we run."""
    return set(tool) == {"name", "description", "input_schema"}


def comparable(body: dict[str, Any]) -> dict[str, Any]:
    """What we model of a body, in one form; marks for the provider's cache are left out."""
    shown = {name: body[name] for name in COMPARED if body.get(name)}
    shown["messages"] = [{**message, "content": unmarked(message["content"])} for message in body["messages"]]
    if "system" in shown:
        shown["system"] = unmarked(shown["system"])
    if "tools" in shown:
        shown["tools"] = sorted(shown["tools"], key=lambda tool: tool["name"])
    return shown


def unmarked(content: Any) -> list[dict[str, Any]]:
    """Blocks without marks for the provider's cache."""
    blocks = []
    for block in listed(content):
        shown = {
            key: value for key, value in block.items() if key != "cache_control" and (key, value) != ("is_error", False)
        }
        blocks.append(shown)
    return blocks


@pytest.mark.parametrize("name", REQUESTS)
async def test_an_accepted_request_can_be_sent_from_our_messages(name: str) -> None:
    """Texts, calls, results, thoughts, tools and options arrive on the wire as a server is known to take them."""
    body = REQUESTS[name]
    transport = MockTransport(
        [MockResponse(body=b'{"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}')]
    )
    model = lf.llms.Anthropic(body["model"], transport=transport)
    declared = [ToolDeclaration(**tool) for tool in tools(body) if own(tool)]
    await model(conversation(body), tools=declared, **options(body))
    sent = json.loads(transport.requests[0].body or b"")
    assert comparable(sent) == comparable(body)


def test_enough_requests_are_compared() -> None:
    """The recorded requests that our messages can say are all there."""
    assert len(REQUESTS) == 30
