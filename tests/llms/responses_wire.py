"""Pieces of Responses streams, and a model that is answered with them."""

from __future__ import annotations

import json
from typing import Any

import langfx_web as lf
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.transport import MockResponse, MockTransport
from langfx_web.transport.mock import Answer, BodyItem

USAGE = {
    "input_tokens": 7,
    "input_tokens_details": {"cached_tokens": 2},
    "output_tokens": 16,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 23,
}


def event(kind: str, **fields: Any) -> bytes:
    """One frame as the server writes it."""
    value = {"type": kind, **fields}
    return f"event: {kind}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def created() -> bytes:
    """The beginning of an answer."""
    response = {"id": "r1", "model": "m-1", "status": "in_progress", "output": []}
    return event("response.created", response=response)


def added(index: int, **item: Any) -> bytes:
    """An item begins."""
    return event("response.output_item.added", output_index=index, item=item)


def done(index: int, **item: Any) -> bytes:
    """An item is complete."""
    return event("response.output_item.done", output_index=index, item=item)


def delta(kind: str, index: int, text: str, **place: int) -> bytes:
    """A piece of an item."""
    return event(f"response.{kind}.delta", output_index=index, delta=text, **place)


def message(text: str, **fields: Any) -> dict[str, Any]:
    """A message item as it ends."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": content, **fields}


def call(number: int, arguments: str = "", status: str = "completed", name: str = "f") -> dict[str, Any]:
    """A tool call item."""
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
        "status": status,
    }


def end(*output: dict[str, Any], status: str = "completed", **fields: Any) -> bytes:
    """The end of an answer."""
    response = {"id": "r1", "model": "m-1", "status": status, "output": list(output), "usage": USAGE, **fields}
    return event(f"response.{status}", response=response)


def said(text: str) -> bytes:
    """A whole message that streams as one piece."""
    opened = added(0, type="message", id="msg_1", role="assistant", status="in_progress", content=[])
    return opened + delta("output_text", 0, text, content_index=0) + done(0, **message(text))


HELLO = created() + said("Hello") + end(message("Hello"))


def ok(*body: BodyItem) -> MockResponse:
    """A successful answer."""
    return MockResponse(body=list(body) or [HELLO])


def answered(*answers: Answer, clock: Clock = SYSTEM_CLOCK, **settings: Any) -> tuple[lf.llms.OpenAI, MockTransport]:
    """A model that gets these answers in turn, and the transport that gives them."""
    transport = MockTransport(list(answers), clock=clock)
    settings = {"api_key": "test-key-1234", **settings}
    return lf.llms.OpenAI("gpt-x", transport=transport, clock=clock, **settings), transport


def sent(transport: MockTransport, place: int = -1) -> dict[str, Any]:
    """The JSON body of a request that was sent."""
    body: dict[str, Any] = json.loads(transport.requests[place].body or b"")
    return body
