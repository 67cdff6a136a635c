"""Pieces of Chat Completions streams, and a model that is answered with them."""

from __future__ import annotations

import json
from typing import Any

import langfx_web as lf
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.transport import MockResponse, MockTransport
from langfx_web.transport.mock import Answer, BodyItem

DONE = b"data: [DONE]\n\n"


def data(value: Any) -> bytes:
    """One frame as servers write it."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def chunk(delta: Any = None, finish: str | None = None, index: int = 0, **top: Any) -> bytes:
    """A chunk of one choice."""
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return data({"id": "c1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice], **top})


def text(*pieces: str, index: int = 0) -> bytes:
    """Chunks of text."""
    return b"".join(chunk({"content": piece}, index=index) for piece in pieces)


def call(
    index: int | None, id: str | None = None, name: str | None = None, arguments: Any = None, **more: Any
) -> dict[str, Any]:
    """A fragment of a tool call; what is None is absent."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fragment = {"index": index, "id": id, "function": function, **more}
    return {key: value for key, value in fragment.items() if value is not None}


def calls(*fragments: dict[str, Any]) -> bytes:
    """A chunk of fragments of tool calls."""
    return chunk({"tool_calls": list(fragments)})


def end(reason: str = "stop") -> bytes:
    """The end of an answer."""
    return chunk({}, reason) + DONE


HELLO = text("Hello") + end()


def ok(*body: BodyItem) -> MockResponse:
    """A successful answer."""
    return MockResponse(body=list(body) or [HELLO])


def answered(
    *answers: Answer, clock: Clock = SYSTEM_CLOCK, **settings: Any
) -> tuple[lf.llms.OpenAIChat, MockTransport]:
    """A model that gets these answers in turn, and the transport that gives them."""
    transport = MockTransport(list(answers), clock=clock)
    settings = {"api_key": "test-key-1234", **settings}
    return lf.llms.OpenAIChat("gpt-x", transport=transport, clock=clock, **settings), transport


def sent(transport: MockTransport, place: int = -1) -> dict[str, Any]:
    """The JSON body of a request that was sent."""
    body: dict[str, Any] = json.loads(transport.requests[place].body or b"")
    return body
