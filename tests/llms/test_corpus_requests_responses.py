"""Requests that servers of Responses accepted, rebuilt from our own messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.llms.openai.items import REPLAY_TAG
from langfx_web.messages import (
    AIMessage,
    Image,
    Message,
    SystemMessage,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.transport import MockResponse, MockTransport
from tests.llms.corpus import CORPUS, require

SAID = (None, "message", "function_call", "function_call_output", "reasoning")
COMPARED = ("max_output_tokens", "model", "reasoning", "temperature", "tool_choice")


def requests() -> dict[str, dict[str, Any]]:
    """The bodies that were answered with 200 and hold nothing but what our messages can say."""
    found = {}
    for path in sorted(CORPUS.glob("[!_]*/*.request.json")):
        reading = json.loads(path.with_name(path.name.replace(".request.", ".expected.")).read_text())
        body = json.loads(path.read_text())
        if reading["api"] == "responses" and reading["http_status"] == 200 and sayable(body):
            found[f"{path.parent.name}/{path.name}"] = body
    return found


def sayable(body: dict[str, Any]) -> bool:
    """Whether our messages can say all of it, and it leaves nothing to the server's memory."""
    if not isinstance(body["input"], list) or "previous_response_id" in body:
        return False
    return all(item.get("type") in SAID and item.get("role") != "developer" for item in body["input"])


def listed(item: dict[str, Any]) -> list[dict[str, Any]]:
    """The content of an item as a list of parts."""
    content = item.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


REQUESTS = requests()


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(REQUESTS)


def conversation(items: list[dict[str, Any]]) -> list[Message]:
    """The conversation of a body: neighbouring items of an answer are one message."""
    messages: list[Message] = []
    parts: list[Any] = []
    for item in items:
        text = "".join(part["text"] for part in listed(item) if "text" in part)
        match item.get("type"), item.get("role"):
            case "reasoning", _:
                parts.append(kept(block=item))
                continue
            case "function_call", _:
                parts += [kept(next={"id": item["id"]})] if "id" in item else []
                parts.append(ToolCall(item["call_id"], item["name"], json.loads(item["arguments"])))
                continue
            case _, "assistant":
                following = {name: item[name] for name in ("id", "phase", "status") if name in item}
                parts += [kept(next=following), text] if following else [text]
                continue
        messages += [AIMessage(*parts)] if parts else []
        parts = []
        if item.get("type") == "function_call_output":
            messages.append(ToolMessage(item["output"], call_id=item["call_id"]))
        else:
            pictures = [Image.from_uri(part["image_url"]) for part in listed(item) if part["type"] == "input_image"]
            said = [text] if text else []
            messages.append(SystemMessage(text) if item["role"] == "system" else UserMessage(*said, *pictures))
    return messages


def kept(**payload: Any) -> Thought:
    """A thought with something to send back."""
    origin = {"v": 1, "host": "api.openai.com", "model": "m"}
    return Thought(payload={**origin, **payload}, replay_compatibility=REPLAY_TAG)


def shown(item: dict[str, Any]) -> dict[str, Any]:
    """An item in one form."""
    plain = {name: value for name, value in item.items() if name not in ("content", "type")}
    if item.get("type") not in (None, "message"):
        plain["type"] = item["type"]
    text = "".join(part["text"] for part in listed(item) if "text" in part)
    plain["pictures"] = [part["image_url"] for part in listed(item) if part["type"] == "input_image"]
    return {**plain, "text": text, **({"arguments": json.loads(item["arguments"])} if "arguments" in item else {})}


def own(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The functions among the tools of a body."""
    return [tool for tool in body.get("tools") or [] if tool["type"] == "function"]


@pytest.mark.parametrize("name", REQUESTS)
async def test_an_accepted_request_can_be_sent_from_our_messages(name: str) -> None:
    """Texts, calls, results, reasoning, tools and options arrive as a server is known to take them."""
    body = REQUESTS[name]
    answer = {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}],
    }
    transport = MockTransport([MockResponse(body=json.dumps(answer).encode())])
    model = lf.llms.OpenAI(body["model"], transport=transport)
    declared = [
        ToolDeclaration(name=tool["name"], description=tool.get("description") or "", input_schema=tool["parameters"])
        for tool in own(body)
    ]
    choice = body.get("tool_choice")
    extras = {"tools": [tool for tool in body.get("tools") or [] if tool["type"] != "function"]}
    reasoning = body.get("reasoning") or {}
    await model(
        conversation(body["input"]),
        tools=declared,
        tool_choice=choice["name"] if isinstance(choice, dict) else "any" if choice == "required" else choice,
        max_tokens=body.get("max_output_tokens"),
        temperature=body.get("temperature"),
        reasoning_effort=reasoning.get("effort"),
        thoughts="summary" in reasoning or None,
        extras={**(extras if extras["tools"] else {}), **({"reasoning": reasoning} if reasoning else {})} or None,
    )
    sent = json.loads(transport.requests[0].body or b"")
    assert [shown(item) for item in sent["input"]] == [shown(item) for item in body["input"]]
    for field in COMPARED:
        assert sent.get(field) == (body.get(field) if field != "tool_choice" else body.get(field) or None), field
    assert [(tool["name"], tool["parameters"]) for tool in own(sent)] == [
        (tool["name"], {key: value for key, value in tool["parameters"].items() if key != "$schema"})
        for tool in own(body)
    ]


def test_enough_requests_are_compared() -> None:
    """The recorded requests that our messages can say are all there."""
    assert len(REQUESTS) == 36
