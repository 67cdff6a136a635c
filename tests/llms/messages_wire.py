"""Pieces of Anthropic Messages streams, and a model that is answered with them."""

from __future__ import annotations

import json
from typing import Any

import langfx_web as lf
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.transport import MockResponse, MockTransport
from langfx_web.transport.mock import Answer, BodyItem


def event(value: dict[str, Any]) -> bytes:
    """One frame as the server writes it."""
    return f"event: {value['type']}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def start(input: int = 25, output: int = 1, **usage: Any) -> bytes:
    """The beginning of an answer."""
    counts = {"input_tokens": input, "output_tokens": output, **usage}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [], "usage": counts}
    return event({"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}})


def opened(index: int, **block: Any) -> bytes:
    """A content block begins."""
    return event({"type": "content_block_start", "index": index, "content_block": block})


def delta(index: int, **fields: Any) -> bytes:
    """A piece of a content block."""
    return event({"type": "content_block_delta", "index": index, "delta": fields})


def closed(index: int) -> bytes:
    """A content block ends."""
    return event({"type": "content_block_stop", "index": index})


def text(index: int, *pieces: str) -> bytes:
    """A whole text block."""
    return opened(index, type="text", text="") + b"".join(text_delta(index, piece) for piece in pieces) + closed(index)


def text_delta(index: int, piece: str) -> bytes:
    """A piece of text."""
    return delta(index, type="text_delta", text=piece)


def tool(index: int, id: str, name: str, *pieces: str) -> bytes:
    """A whole tool call."""
    return (
        opened(index, type="tool_use", id=id, name=name, input={})
        + b"".join(delta(index, type="input_json_delta", partial_json=piece) for piece in pieces)
        + closed(index)
    )


def thinking(index: int, *pieces: str, signature: str | None = "SIG==") -> bytes:
    """A whole thinking block."""
    return (
        opened(index, type="thinking", thinking="", signature="")
        + b"".join(delta(index, type="thinking_delta", thinking=piece) for piece in pieces)
        + (delta(index, type="signature_delta", signature=signature) if signature else b"")
        + closed(index)
    )


def end(reason: str | None = "end_turn", output: int = 15, **usage: Any) -> bytes:
    """The end of an answer."""
    change = {"stop_reason": reason, "stop_sequence": None}
    counts = {"output_tokens": output, **usage}
    return event({"type": "message_delta", "delta": change, "usage": counts}) + event({"type": "message_stop"})


PING = event({"type": "ping"})


def error(kind: str, message: str = "no") -> bytes:
    """An error inside a stream."""
    return event({"type": "error", "error": {"type": kind, "message": message}})


def ok(*body: BodyItem) -> MockResponse:
    """A successful answer."""
    return MockResponse(body=list(body) or [HELLO])


HELLO = start() + text(0, "Hello") + end()


def refused(status: int, kind: str = "x_error", message: str = "no", **headers: str) -> MockResponse:
    """An HTTP error as the provider writes it; header names with underscores for hyphens."""
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return MockResponse(status=status, headers=names, body=json.dumps(body).encode())


def answered(*answers: Answer, clock: Clock = SYSTEM_CLOCK, **settings: Any) -> tuple[lf.llms.Anthropic, MockTransport]:
    """A model that gets these answers in turn, and the transport that gives them."""
    transport = MockTransport(list(answers), clock=clock)
    settings = {"api_key": "test-key-1234", **settings}
    return lf.llms.Anthropic("claude-x", transport=transport, clock=clock, **settings), transport


def sent(transport: MockTransport, place: int = -1) -> dict[str, Any]:
    """The JSON body of a request that was sent."""
    body: dict[str, Any] = json.loads(transport.requests[place].body or b"")
    return body


async def texts(stream: lf.llms.ModelStream) -> list[str]:
    """The texts of a stream's chunks that are not final."""
    return [chunk.delta.text async for chunk in stream if not chunk.final]
