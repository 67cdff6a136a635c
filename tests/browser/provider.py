"""A model provider that plays what a test tells it, in Anthropic's wire format, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from worker.bundle.exchange import Exchange

Items: TypeAlias = Iterable[bytes | float]
Answer: TypeAlias = Callable[[Exchange], None]
SSE = {"content-type": "text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text block in the pieces given, `pause` seconds apart."""

    deltas: tuple[str, ...]
    pause: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; `arguments` is the JSON text that the model writes."""

    name: str
    arguments: str
    id: str = "toolu_1"


def says(*deltas: str, pause: float = 0.0) -> Answer:
    """An answer that is one text."""
    return answers(Text(deltas=deltas, pause=pause))


def calls(name: str, arguments: str, id: str = "toolu_1") -> Answer:
    """An answer that is one tool call."""
    return answers(Call(name=name, arguments=arguments, id=id))


def answers(*blocks: Text | Call) -> Answer:
    """An answer of several blocks."""
    return lambda exchange: exchange.stream(200, SSE, stream(*blocks))


def fails(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> Answer:
    """An error document, as the real service sends it."""
    document = json.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return lambda exchange: exchange.respond(status, {"content-type": "application/json", **(headers or {})}, document)


def responds(kind: str, body: str) -> Answer:
    """A whole document with status 200."""
    return lambda exchange: exchange.respond(200, {"content-type": kind}, body)


def sends(*items: bytes | float) -> Answer:
    """A body of these pieces, complete as far as HTTP can tell."""
    return lambda exchange: exchange.stream(200, SSE, items)


def beginning(*deltas: str) -> list[bytes | float]:
    """The events of an answer up to the last of these deltas."""
    return list(stream(Text(deltas=deltas)))[: 1 + 2 * len(deltas)]


def drops(*items: bytes | float) -> Answer:
    """A body whose connection breaks after these pieces."""

    def answer(exchange: Exchange) -> None:
        exchange.send_part(SSE, items, length=10_000_000)
        exchange.drop()

    return answer


def stream(*blocks: Text | Call) -> Items:
    """The server-sent events of one message."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield event("message_start", message={**message, "usage": usage})
    for index, block in enumerate(blocks):
        yield from _block(index, block)
    reason = "tool_use" if any(isinstance(block, Call) for block in blocks) else "end_turn"
    yield event("message_delta", delta={"stop_reason": reason}, usage=usage)
    yield event("message_stop")


def _block(index: int, block: Text | Call) -> Items:
    if isinstance(block, Text):
        yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        for piece in block.deltas:
            yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
            yield block.pause
    else:
        start = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        yield event("content_block_start", index=index, content_block=start)
        delta = {"type": "input_json_delta", "partial_json": block.arguments}
        yield event("content_block_delta", index=index, delta=delta)
    yield event("content_block_stop", index=index)


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


class Provider:
    """Answers each prompt with the answers that were given for it, one per request; the last one repeats.

    `prompt_of` tells which one a request is for.
    """

    def __init__(self, prompt_of: Callable[[Exchange], str] | None = None) -> None:
        self._prompt_of = prompt_of or (lambda exchange: newest_text(json.loads(exchange.body)))
        self._answers: dict[str, list[Answer]] = {}
        self._asked: dict[str, list[Exchange]] = {}
        self._lock = threading.Lock()

    def play(self, prompt: str, *given: Answer) -> None:
        """Answer requests whose newest user text is `prompt`."""
        with self._lock:
            self._answers[prompt] = list(given)
            self._asked[prompt] = []

    def exchanges(self, prompt: str) -> list[Exchange]:
        """The requests of a prompt so far."""
        with self._lock:
            return list(self._asked[prompt])

    def bodies(self, prompt: str) -> list[dict[str, Any]]:
        """The JSON bodies of the requests of a prompt so far."""
        return [json.loads(exchange.body) for exchange in self.exchanges(prompt)]

    def route(self, exchange: Exchange) -> None:
        """The server's `POST /v1/messages`."""
        prompt = self._prompt_of(exchange)
        with self._lock:
            given, asked = self._answers[prompt], self._asked[prompt]
            asked.append(exchange)
            answer = given[min(len(asked), len(given)) - 1]
        answer(exchange)


def newest_text(body: dict[str, Any]) -> str:
    """The last text of the user in a request."""
    texts = [block["text"] for block in _user_blocks(body) if block["type"] == "text"]
    return str(texts[-1])


def tool_results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of tools in a request, oldest first."""
    return [block for block in _user_blocks(body) if block["type"] == "tool_result"]


def _user_blocks(body: dict[str, Any]) -> Iterable[dict[str, Any]]:
    for message in body["messages"]:
        if message["role"] == "user":
            content = message["content"]
            yield from [{"type": "text", "text": content}] if isinstance(content, str) else content
