"""Pieces of Gemini streams, and a model that is answered with them."""

from __future__ import annotations

import json
from typing import Any

import langfx_web as lf
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.transport import MockResponse, MockTransport
from langfx_web.transport.mock import Answer, BodyItem

USAGE = {"promptTokenCount": 5, "candidatesTokenCount": 9, "thoughtsTokenCount": 2, "totalTokenCount": 20}


def data(value: Any) -> bytes:
    """One frame as the server writes it."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\r\n\r\n".encode()


def response(*parts: dict[str, Any], finish: str | None = None, **top: Any) -> dict[str, Any]:
    """One response of these parts."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "responseId": "r1", "modelVersion": "m-1", **top}


def chunk(*parts: dict[str, Any], finish: str | None = None, **top: Any) -> bytes:
    """One response of a stream."""
    return data(response(*parts, finish=finish, **top))


def text(text: str, **more: Any) -> dict[str, Any]:
    """A part of text."""
    return {"text": text, **more}


def call(name: str, args: dict[str, Any] | None = None, *, id: str | None = None, **more: Any) -> dict[str, Any]:
    """A part that is a tool call."""
    function = {"name": name, "args": args, "id": id}
    return {"functionCall": {key: value for key, value in function.items() if value is not None}, **more}


HELLO = chunk(text("Hello"), finish="STOP", usageMetadata=USAGE)


def ok(*body: BodyItem) -> MockResponse:
    """A successful answer."""
    return MockResponse(body=list(body) or [HELLO])


def answered(*answers: Answer, clock: Clock = SYSTEM_CLOCK, **settings: Any) -> tuple[lf.llms.Gemini, MockTransport]:
    """A model that gets these answers in turn, and the transport that gives them."""
    transport = MockTransport(list(answers), clock=clock)
    settings = {"api_key": "test-key-1234", **settings}
    return lf.llms.Gemini("gemini-x", transport=transport, clock=clock, **settings), transport


def sent(transport: MockTransport, place: int = -1) -> dict[str, Any]:
    """The JSON body of a request that was sent."""
    body: dict[str, Any] = json.loads(transport.requests[place].body or b"")
    return body
