"""Requests that Anthropic accepted, rebuilt from our own messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.messages import (
    PDF,
    AIMessage,
    CachePoint,
    Image,
    Message,
    Modality,
    Part,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.transport import MockResponse, MockTransport
from tests.llms.corpus import CORPUS, require

SAID = ("text", "tool_use", "tool_result", "thinking", "redacted_thinking", "mcp_tool_use", "mcp_tool_result")
MEDIA: dict[str, type[Modality]] = {"image": Image, "document": PDF}
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
    return all((block["type"] in SAID and plain_result(block)) or is_media(block) for block in blocks)


def plain_result(block: dict[str, Any]) -> bool:
    """Whether a tool result, if it is one, is text and media."""
    parts = listed(block["content"]) if block["type"] == "tool_result" else []
    return all(part["type"] == "text" or is_media(part) for part in parts)


def is_media(block: dict[str, Any]) -> bool:
    """Whether a block is a picture or document, by its bytes or address alone."""
    own_fields = block.keys() <= {"type", "source", "cache_control"}
    return block["type"] in MEDIA and own_fields and block["source"]["type"] in ("base64", "url")


def listed(content: Any) -> list[dict[str, Any]]:
    """Content as a list of blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


REQUESTS = requests()


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(REQUESTS)


def conversation(body: dict[str, Any]) -> list[Message]:
    """The conversation of a body."""
    messages: list[Message] = [SystemMessage(*user_parts(block)) for block in listed(body.get("system") or [])]
    for message in body["messages"]:
        blocks = listed(message["content"])
        if message["role"] == "assistant":
            messages.append(AIMessage(*map(answer_part, blocks)))
            continue
        messages += [
            ToolMessage(
                *(part for inner in listed(block["content"]) for part in user_parts(inner)),
                *marks(block),
                call_id=block["tool_use_id"],
                is_error=block.get("is_error", False),
            )
            for block in blocks
            if block["type"] == "tool_result"
        ]
        parts = [part for block in blocks if block["type"] != "tool_result" for part in user_parts(block)]
        if parts:
            messages.append(UserMessage(*parts))
    return messages


def user_parts(block: dict[str, Any]) -> list[Part]:
    """The part that a block of a user, a tool or the application is, and its mark for the provider's cache."""
    if block["type"] == "text":
        return [Text(block["text"]), *marks(block)]
    kind, source = MEDIA[block["type"]], block["source"]
    made = kind.from_uri(source["url"]) if source["type"] == "url" else kind.from_base64(source["data"])
    return [made, *marks(block)]


def marks(block: dict[str, Any]) -> list[CachePoint]:
    """The cache point after a block, if there is one."""
    mark = block.get("cache_control")
    return [] if mark is None else [CachePoint(mark.get("ttl"))]


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
    """What we model of a body, in one form."""
    shown = {name: body[name] for name in COMPARED if body.get(name)}
    shown["messages"] = [
        {"role": message["role"], "content": plain_blocks(message["content"])} for message in body["messages"]
    ]
    if "system" in shown:
        shown["system"] = listed(shown["system"])
    if "tools" in shown:
        shown["tools"] = sorted(shown["tools"], key=lambda tool: tool["name"])
    return shown


def plain_blocks(content: Any) -> list[dict[str, Any]]:
    """Blocks without what says nothing."""
    return [
        {key: value for key, value in block.items() if (key, value) != ("is_error", False)} for block in listed(content)
    ]


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
    assert len(REQUESTS) == 35
