"""The demo's scripted provider and its agent, played on this host without a browser and without waiting."""

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.agentic import OnGate
from langfx_web.errors import GateDeclinedError
from langfx_web.transport import MockResponse, MockTransport, Request

DEMO = Path(__file__).parents[2] / "web" / "demo"
HELLO = [{"role": "user", "content": "hello"}]
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "bm90IG91cnM="}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": {"id": "7"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "{}"}


def fresh(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the demo, imported anew, as a worker does."""
    monkeypatch.syspath_prepend(str(DEMO))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The scripted provider."""
    return fresh("scripted_provider", monkeypatch)


@pytest.fixture
def transport(provider: ModuleType) -> MockTransport:
    """Carries requests to the scripted provider, which does not pause here."""

    async def answer(request: Request) -> MockResponse:
        status, headers, body = provider.respond(json.loads(request.body or b""))
        return MockResponse(status=status, headers=headers, body=[item for item in body if isinstance(item, bytes)])

    return MockTransport(answer)


@pytest.fixture
def agent(transport: MockTransport, monkeypatch: pytest.MonkeyPatch) -> lf.Agent:
    """The support agent with its orders as they are at the start."""
    made: lf.Agent = fresh("support_agent", monkeypatch).support_agent(
        "support", lf.llms.Anthropic(model="scripted", transport=transport)
    )
    return made


def request(messages: object, **fields: object) -> dict[str, object]:
    """A request body."""
    return {"model": "scripted", "max_tokens": 100, "stream": True, "messages": messages, **fields}


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("Where is order 7?", "on its way. Arrives Thursday"),
        ("Where is order 99?", "cannot find an order 99"),
        ("Where is my parcel?", "Which order"),
        ("Refund order 12", "34.50 €"),
        ("Refund order 23", "Order 23 was refunded before."),
        (
            "Can order 19 come sooner?",
            "Northwind Express brings it tomorrow for 9.50 €, Harbour Post brings it on Friday",
        ),
        ("Can order 7 come sooner?", "has left us: it is on its way"),
        ("Can order 99 come sooner?", "cannot find an order 99"),
        ("Is there a faster way?", "Which order is in a hurry"),
        ("Hello!", "welcome to the desk"),
        ("What is the meaning of life?", "beyond me"),
    ],
)
async def test_story(agent: lf.Agent, prompt: str, said: str) -> None:
    """The agent answers from what its tools really say."""
    assert said in await agent.invoke(prompt=prompt)


async def test_a_large_refund_waits_for_a_person(agent: lf.Agent) -> None:
    """Whoever says no is asked why, and the customer is told; a yes lets the tool run."""
    gates = []

    def said(answer: object) -> OnGate:
        async def on_gate(gate: lf.Gate) -> object:
            gates.append(gate)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return on_gate

    no = said(GateDeclinedError("no", details={"reason": "it was a gift"}))
    assert "The reason: it was a gift. No money" in await agent.invoke(prompt="Refund order 7", on_gate=no)
    assert "Nobody has allowed the refund." in await agent.invoke(prompt="Refund order 7", on_gate=said(False))
    assert "89.00 €" in await agent.invoke(prompt="Refund order 7", on_gate=said(True))
    assert "was refunded before" in await agent.invoke(prompt="Refund order 7", on_gate=said(True))
    assert [gate.payload["args"]["id"] for gate in gates] == ["7"] * 3


async def test_thoughts_come_back_unchanged(agent: lf.Agent, transport: MockTransport) -> None:
    """The request after a tool call has the thought with its signature, as the provider insists."""
    await agent.invoke(prompt="Where is order 7?")
    _, second = (json.loads(request.body or b"") for request in transport.requests)
    kinds = [block["type"] for block in second["messages"][1]["content"]]
    assert kinds == ["thinking", "tool_use"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([], "not valid JSON"),
        ({}, "model: Field required"),
        (request([]), "messages: "),
        (request("hello"), "messages: "),
        (request(HELLO, max_tokens="many"), "max_tokens: "),
        (request(HELLO, stream=False), "stream: "),
        (request([{"role": "tool", "content": "x"}]), "messages.0: role"),
        (request([{"role": "user", "content": []}]), "messages.0: content"),
        (request([{"role": "user", "content": [{"type": "poem"}]}]), "messages.0: content"),
        (request([{"role": "user", "content": ["hello"]}]), "messages.0: content"),
        (request([{"role": "user", "content": [{"type": "text"}]}]), "messages.0: content.text"),
        (request([{"role": "assistant", "content": "hello"}]), "first message"),
        (request([*HELLO, {"role": "assistant", "content": [THOUGHT]}, *HELLO]), "Invalid `signature`"),
        (request([*HELLO, {"role": "assistant", "content": [CALL]}, *HELLO]), "without `tool_result`"),
        (request([*HELLO, {"role": "assistant", "content": [CALL]}]), "has no `tool_result`"),
        (request([{"role": "user", "content": [RESULT]}]), "without `tool_use`"),
    ],
)
def test_bad_request(provider: ModuleType, body: object, problem: str) -> None:
    """A request that the real service would refuse gets status 400 and an error document that says why."""
    status, headers, parts = provider.respond(body)
    assert (status, headers["content-type"]) == (400, "application/json")
    document = json.loads(parts[0])
    assert document["error"]["type"] == "invalid_request_error"
    assert problem in document["error"]["message"]
    assert document["request_id"] == headers["request-id"]


def test_pace(provider: ModuleType) -> None:
    """Words come one by one, 25 to 60 ms apart; the returns policy takes long enough to be stopped."""
    _, _, body = provider.respond(request([{"role": "user", "content": "Explain your returns policy in detail"}]))
    deltas = [part for part in body if isinstance(part, bytes) and b"text_delta" in part]
    pauses = [part for part in body if isinstance(part, float)][1:]
    assert len(pauses) == len(deltas) > 300
    assert 0.025 <= min(pauses) <= max(pauses) <= 0.06
    assert sum(pauses) > 15


def test_frames(provider: ModuleType) -> None:
    """Each part is one whole server-sent event whose name is its type, from `message_start` to `message_stop`."""
    _, headers, body = provider.respond(request(HELLO))
    frames = [_frame(part) for part in body if isinstance(part, bytes)]
    assert headers["content-type"].startswith("text/event-stream")
    assert all(name == data["type"] for name, data in frames)
    assert (frames[0][0], frames[-1][0]) == ("message_start", "message_stop")
    assert frames[-2][1]["usage"]["output_tokens"] > 0


def _frame(part: bytes) -> tuple[str, Any]:
    event, data, *rest = part.decode().split("\n")
    assert rest == ["", ""]
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))
