"""Requests that servers of Chat Completions accepted, rebuilt from our own messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.llms.openai_chat.choice import REPLAY_TAG
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

COMPARED = (
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "model",
    "n",
    "parallel_tool_calls",
    "random_seed",
    "reasoning_effort",
    "seed",
    "stop",
    "stream",
    "temperature",
    "tool_choice",
    "tools",
    "top_p",
)
OPTIONS = ("n", "parallel_tool_calls", "reasoning_effort", "stop", "temperature", "top_p")


def requests() -> dict[str, tuple[str, dict[str, Any]]]:
    """Address and body of the requests that were answered with 200 and hold nothing but what our messages can say."""
    found = {}
    for path in sorted(CORPUS.glob("[!_]*/*.request.json")):
        reading = json.loads(path.with_name(path.name.replace(".request.", ".expected.")).read_text())
        body = json.loads(path.read_text())
        if reading["api"] == "chat" and reading["http_status"] == 200 and sayable(body):
            found[f"{path.parent.name}/{path.name}"] = (reading.get("endpoint") or "", body)
    return found


def sayable(body: dict[str, Any]) -> bool:
    """Whether our messages can say all of it, and it asks for one answer."""
    parts = [part for message in body["messages"] for part in listed(message.get("content") or "")]
    named = isinstance(body.get("tool_choice"), dict) and "function" not in body["tool_choice"]
    own = all("function" in tool for tool in body.get("tools") or [])
    return (
        all(part["type"] in ("text", "image_url") for part in parts) and "functions" not in body and own and not named
    )


def listed(content: Any) -> list[dict[str, Any]]:
    """Content as a list of parts."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def joined(content: Any) -> str:
    """The texts of content."""
    return "".join(part["text"] for part in listed(content or "") if part["type"] == "text")


def pictures(content: Any) -> list[Image]:
    """The pictures of content."""
    parts = [part for part in listed(content or "") if part["type"] == "image_url"]
    return [Image.from_uri(part["image_url"]["url"]) for part in parts]


REQUESTS = requests()


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(REQUESTS)


def conversation(body: dict[str, Any], host: str) -> list[Message]:
    """The conversation of a body."""
    messages: list[Message] = []
    for message in body["messages"]:
        text = joined(message.get("content"))
        match message["role"]:
            case "system":
                messages.append(SystemMessage(text))
            case "assistant":
                messages.append(answer(message, text, host, body["model"]))
            case "tool":
                messages.append(ToolMessage(text, call_id=message["tool_call_id"]))
            case _:
                messages.append(UserMessage(*([text] if text else []), *pictures(message.get("content"))))
    return messages


def answer(message: dict[str, Any], text: str, host: str, model: str) -> AIMessage:
    """An assistant message of ours."""
    parts: list[Any] = []
    if message.get("reasoning_content"):
        block = {"reasoning_content": message["reasoning_content"]}
        payload = {"v": 1, "host": host, "model": model, "block": block}
        parts.append(Thought(message["reasoning_content"], payload=payload, replay_compatibility=REPLAY_TAG))
    parts += [text] if text else []
    for call in message.get("tool_calls") or []:
        parts.append(ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])))
    return AIMessage(*parts)


def options(body: dict[str, Any]) -> dict[str, Any]:
    """The options that ask for what a body asks for."""
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        choice = choice["function"]["name"]
    wanted = {
        **{name: body.get(name) for name in OPTIONS},
        "max_tokens": body.get("max_tokens") or body.get("max_completion_tokens"),
        "random_seed": body.get("seed") or body.get("random_seed"),
        "tool_choice": "any" if choice == "required" else choice,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def declared(body: dict[str, Any]) -> list[ToolDeclaration]:
    """The tools of a body."""
    functions = [tool["function"] for tool in body.get("tools") or []]
    return [
        ToolDeclaration(
            name=function["name"],
            description=function.get("description") or "",
            input_schema=function.get("parameters") or {},
        )
        for function in functions
    ]


def comparable(body: dict[str, Any], kept: tuple[str, ...]) -> dict[str, Any]:
    """What we model of a body, in one form, and of an answer's fields those that are `kept`."""
    shown = {name: body[name] for name in COMPARED if body.get(name) not in (None, [])}
    shown["messages"] = [message_shown(message, kept) for message in body["messages"]]
    shown["max"] = shown.pop("max_tokens", None) or shown.pop("max_completion_tokens", None)
    shown.pop("stream", None)
    if shown.get("n") == 1:
        del shown["n"]
    if "tools" in shown:
        shown["tools"] = [tool_shown(tool["function"]) for tool in shown["tools"]]
    return shown


def tool_shown(function: dict[str, Any]) -> dict[str, Any]:
    """A tool without what was left out or not said."""
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    return {"name": function["name"], "description": function.get("description") or "", "parameters": parameters}


def message_shown(message: dict[str, Any], kept: tuple[str, ...]) -> dict[str, Any]:
    """A message without the fields that servers ignore."""
    shown = {"role": message["role"], "content": joined(message.get("content"))}
    shown["pictures"] = [picture.uri or picture.data for picture in pictures(message.get("content"))]
    for name in ("tool_call_id", *kept):
        if message.get(name):
            shown[name] = message[name]
    if message.get("tool_calls"):
        shown["tool_calls"] = [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message["tool_calls"]
        ]
    return shown


@pytest.mark.parametrize("name", REQUESTS)
async def test_an_accepted_request_can_be_sent_from_our_messages(name: str) -> None:
    """Texts, calls, results, tools and options arrive on the wire as a server is known to take them."""
    endpoint, body = REQUESTS[name]
    transport = MockTransport([MockResponse(body=b'{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}')])
    base = endpoint.replace("/chat/completions", "") or "https://api.openai.com/v1"
    model = lf.llms.OpenAIChat(body["model"], base_url=base, allow_insecure=True, transport=transport)
    await model.sample([conversation(body, model.host)], tools=declared(body), **options(body))
    sent = json.loads(transport.requests[0].body or b"")
    # Other servers do without the reasoning that some clients send back to them.
    kept = ("reasoning_content",) if "deepseek" in model.host else ()
    assert comparable(sent, kept) == comparable(body, kept)


def test_enough_requests_are_compared() -> None:
    """The recorded requests that our messages can say are all there."""
    assert len(REQUESTS) == 66
