"""One answer in pieces as the servers of the four wires send it, with all that they put around a piece."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tests.browser.provider import Text, stream

Answer: TypeAlias = Callable[[Sequence[str]], Iterator[bytes]]
"""Texts → the events of an answer that delivers them."""


def messages(texts: Sequence[str]) -> Iterator[bytes]:
    """Anthropic's Messages."""
    return (item for item in stream(Text(deltas=tuple(texts))) if isinstance(item, bytes))


def responses(texts: Sequence[str]) -> Iterator[bytes]:
    """OpenAI's Responses; every event has a number, and padding against listeners who count bytes."""
    numbers = iter(range(len(texts) + 10))
    response = {"id": "resp_" + "4f" * 24, "object": "response", "model": "bench", "status": "in_progress"}
    item = {"id": "msg_" + "7d" * 24, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "".join(texts), "annotations": [], "logprobs": []}
    whole = {**item, "status": "completed", "content": [part]}
    usage = {"input_tokens": 10, "output_tokens": len(texts), "total_tokens": 10 + len(texts)}

    def event(kind: str, **fields: Any) -> bytes:
        name = f"response.{kind}"
        return _event({"type": name, "sequence_number": next(numbers), **fields}, name=name)

    yield event("created", response={**response, "output": []})
    yield event("output_item.added", output_index=0, item=item)
    yield event("content_part.added", **place, part={**part, "text": ""})
    for text in texts:
        padding = "x" * (16 - len(text))
        yield event("output_text.delta", **place, delta=text, logprobs=[], obfuscation=padding)
    yield event("output_text.done", **place, text=part["text"], logprobs=[])
    yield event("content_part.done", **place, part=part)
    yield event("output_item.done", output_index=0, item=whole)
    yield event("completed", response={**response, "status": "completed", "output": [whole], "usage": usage})


def chat(texts: Sequence[str]) -> Iterator[bytes]:
    """Chat Completions, as OpenAI speaks it."""
    around = {
        "id": "chatcmpl-" + "a1B2" * 7,
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": "bench",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _event({**around, "choices": [choice], "usage": None})

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for text in texts:
        yield chunk({"content": text})
    yield chunk({}, "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": len(texts), "total_tokens": 10 + len(texts)}
    yield _event({**around, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def gemini(texts: Sequence[str]) -> Iterator[bytes]:
    """Gemini's generateContent; every piece says again what the answer has cost so far, and lines end as on Windows."""
    for count, text in enumerate(texts, start=1):
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
        usage = {
            "promptTokenCount": 10,
            "candidatesTokenCount": count,
            "totalTokenCount": 10 + count,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
        }
        ended = {"finishReason": "STOP"} if count == len(texts) else {}
        around = {"usageMetadata": usage, "modelVersion": "bench", "responseId": "w" * 24}
        yield _event({"candidates": [{**candidate, **ended}], **around}, end="\r\n")


def _event(value: Mapping[str, Any], *, name: str | None = None, end: str = "\n") -> bytes:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    lines = [*([f"event: {name}"] if name else []), f"data: {written}", "", ""]
    return end.join(lines).encode()


WIRES: dict[str, tuple[str, Answer]] = {
    "anthropic": ("messages", messages),
    "openai": ("responses", responses),
    "chat": ("chat/completions", chat),
    "gemini": ("models/bench:streamGenerateContent", gemini),
}
"""Of each wire: where it is asked, and its answers."""
