"""Requests that Gemini accepted, rebuilt from our own messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.llms.gemini.encode import UNSIGNED
from langfx_web.llms.gemini.parts import REPLAY_TAG, SIGNATURE
from langfx_web.messages import (
    AIMessage,
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

SAID = {"text", "functionCall", "functionResponse", SIGNATURE}
CONFIGURED = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "responseLogprobs": "logprobs",
    "logprobs": "top_logprobs",
}


def requests() -> dict[str, dict[str, Any]]:
    """The bodies in camelCase that were answered with 200 and hold nothing but what our messages can say."""
    found = {}
    for path in sorted(CORPUS.glob("[!_]*/*.request.json")):
        reading = json.loads(path.with_name(path.name.replace(".request.", ".expected.")).read_text())
        body = json.loads(path.read_text())
        if reading["api"] == "gemini" and reading["http_status"] == 200 and sayable(body):
            found[f"{path.parent.name}/{path.name}"] = body
    return found


def sayable(body: dict[str, Any]) -> bool:
    """Whether our messages can say all of it."""
    parts = [part for content in body["contents"] for part in content["parts"]]
    return all(set(part) <= SAID for part in parts)


REQUESTS = requests()


@pytest.fixture(autouse=True)
def _corpus() -> None:
    require(REQUESTS)


def conversation(body: dict[str, Any]) -> list[Message]:
    """The conversation of a body; ids that were not sent are made of the places of calls."""
    system = (body.get("systemInstruction") or {}).get("parts") or []
    messages: list[Message] = [SystemMessage(*(part["text"] for part in system))] if system else []
    open_calls: list[ToolCall] = []
    for content in body["contents"]:
        if content["role"] == "model":
            messages.append(AIMessage(*(piece for part in content["parts"] for piece in answered(part, len(messages)))))
            open_calls = list(messages[-1].tool_calls)
            continue
        for part in content["parts"]:
            if "functionResponse" in part:
                call = open_calls.pop(0)
                messages.append(ToolMessage(json.dumps(part["functionResponse"]["response"]), call_id=call.id))
        texts = [part["text"] for part in content["parts"] if "text" in part]
        if texts:
            messages.append(UserMessage(*texts))
    return messages


def answered(part: dict[str, Any], place: int) -> list[Any]:
    """The parts of ours that a part of an answer is."""
    pieces: list[Any] = []
    if SIGNATURE in part:
        origin = {"v": 1, "host": "generativelanguage.googleapis.com", "model": "m"}
        payload = {**origin, "next": {SIGNATURE: part[SIGNATURE]}}
        pieces.append(Thought(payload=payload, replay_compatibility=REPLAY_TAG))
    if "functionCall" in part:
        call = part["functionCall"]
        pieces.append(ToolCall(call.get("id") or f"lf_{place}", call["name"], call.get("args") or {}))
    else:
        pieces.append(part["text"])
    return pieces


def declared(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The functions among the tools of a body."""
    return [function for tool in body.get("tools") or [] for function in tool.get("functionDeclarations") or []]


def parameters(function: dict[str, Any]) -> dict[str, Any]:
    """The schema of a function, under any of the names for it."""
    names = ("parametersJsonSchema", "parameters_json_schema", "parameters")
    return next((function[name] for name in names if function.get(name)), {})


def shown(part: dict[str, Any]) -> dict[str, Any]:
    """A part without what we cannot know: how another client wrapped a result, and a stand-in for no signature."""
    plain = {name: value for name, value in part.items() if value != UNSIGNED}
    for name in ("functionCall", "functionResponse"):
        if name in plain:
            plain[name] = {key: value for key, value in plain[name].items() if key != "response"}
    return plain


@pytest.mark.parametrize("name", REQUESTS)
async def test_an_accepted_request_can_be_sent_from_our_messages(name: str) -> None:
    """Texts, calls, results, signatures, tools and options arrive as the server is known to take them."""
    body = REQUESTS[name]
    config = body.get("generationConfig") or {}
    answer = {"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]}
    transport = MockTransport([MockResponse(body=json.dumps(answer).encode())])
    model = lf.llms.Gemini("m", transport=transport)
    tools = [
        ToolDeclaration(name=tool["name"], description=tool["description"] or "", input_schema=parameters(tool))
        for tool in declared(body)
    ]
    options = {ours: config[theirs] for theirs, ours in CONFIGURED.items() if theirs in config}
    thinking = config.get("thinkingConfig")
    if thinking is not None:
        options["extras"] = {"generationConfig": {"thinkingConfig": thinking}}
    await model(conversation(body), tools=tools, **options)
    sent = json.loads(transport.requests[0].body or b"")
    assert [(content["role"], [shown(part) for part in content["parts"]]) for content in sent["contents"]] == [
        (content["role"], [shown(part) for part in content["parts"]]) for content in body["contents"]
    ]
    assert sent.get("systemInstruction", {}).get("parts") == (body.get("systemInstruction") or {}).get("parts")
    written = sent.get("generationConfig") or {}
    for field in (*CONFIGURED, "thinkingConfig"):
        assert written.get(field) == config.get(field), field
    assert [function["name"] for function in declared(sent)] == [function["name"] for function in declared(body)]


def test_enough_requests_are_compared() -> None:
    """The recorded requests that our messages can say are all there."""
    assert len(REQUESTS) == 34
