"""Messages answers → deltas. Wire format: the Messages API of Anthropic, version 2023-06-01, streamed or whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.errors import LMProtocolError
from langfx_web.llms.arguments import read_arguments
from langfx_web.llms.delta import (
    Boundary,
    CallEnd,
    CallStart,
    CallText,
    Delta,
    Failure,
    Finish,
    FinishReason,
    Info,
    RefusalText,
    ThoughtEnd,
    ThoughtPiece,
    UsageReport,
)
from langfx_web.usage import Usage

REPLAY_TAG = "anthropic-messages-thinking-v1"

_REASONS: dict[str | None, tuple[FinishReason, Failure | None]] = {
    None: ("stop", None),
    "end_turn": ("stop", None),
    "stop_sequence": ("stop", None),
    "tool_use": ("tool_calls", None),
    "max_tokens": ("length", None),
    "model_context_window_exceeded": ("length", "context"),
    "refusal": ("content_filter", None),
    "pause_turn": ("pause", None),
    "compaction": ("pause", None),
}

_DELTA_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
    "signature_delta": "signature",
    "citations_delta": "citation",
}
_DELTAS_OF = {
    "text": {"text_delta", "citations_delta"},
    "thinking": {"thinking_delta", "signature_delta"},
    "tool_use": {"input_json_delta"},
    "redacted_thinking": set[str](),
}
"""Which of the known deltas a known block takes; a block of another kind takes any."""


class AnthropicDecoder:
    """Reads one answer. `host` and `model` are noted in the payloads of thoughts."""

    def __init__(self, *, host: str, model: str) -> None:
        self.finished = False
        self._origin = {"v": 1, "host": host, "model": model}
        self._blocks: dict[int, _Block] = {}
        self._opened: set[int] = set()
        self._usage: dict[str, Any] = {}
        self._message: dict[str, Any] = {}

    def event(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of one stream event; unknown events have none."""
        match event.get("type"):
            case "content_block_delta":
                return self._delta(event)
            case "content_block_start":
                return self._start_block(event)
            case "content_block_stop":
                return self._stop_block(event)
            case "message_start":
                return self._start(event["message"])
            case "message_delta":
                self._message |= event.get("delta") or {}
                return self._report(event.get("usage"))
            case "message_stop":
                return self._finish()
        return ()

    def document(self, document: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of a whole message."""
        if not isinstance(document.get("content"), list):
            raise LMProtocolError("the answer is a JSON document, but no message: it has no content")
        return [*self._start(document), *self._finish()]

    def done(self) -> Iterable[Delta]:
        """Nothing: this wire ends with `message_stop`."""
        return ()

    def end(self) -> Iterable[Delta]:
        """Nothing: an answer without `message_stop` is cut, whatever it said before."""
        return ()

    def _start(self, message: Mapping[str, Any]) -> list[Delta]:
        if self._opened:
            raise LMProtocolError(f"a second message begins after block {max(self._opened)} of the first")
        self._message = dict(message)
        deltas: list[Delta] = [Info(response_id=message.get("id"), model=message.get("model"))]
        deltas += self._report(message.get("usage"))
        for index, block in enumerate(message.get("content") or []):
            deltas += self._start_block({"index": index, "content_block": block})
            deltas += self._stop_block({"index": index})
        return deltas

    def _report(self, usage: Mapping[str, Any] | None) -> list[Delta]:
        self._usage |= {name: count for name, count in (usage or {}).items() if count is not None}
        return [UsageReport(usage=_usage(self._usage))] if self._usage else []

    def _start_block(self, event: Mapping[str, Any]) -> list[Delta]:
        index, wire = event["index"], event["content_block"]
        if index in self._opened:
            raise LMProtocolError(f"content block {index} is opened twice")
        self._opened.add(index)
        block = self._blocks[index] = _Block(wire)
        if block.kind == "text":
            citations = wire.get("citations") or []
            return [wire.get("text") or "", *([Info(metadata={"citations": list(citations)})] if citations else [])]
        if block.kind == "thinking":
            return [ThoughtPiece(wire.get("thinking") or "")]
        if block.kind == "tool_use":
            start = CallStart(key=index, id=wire.get("id") or "", name=wire["name"])
            caller = {"next": {"caller": wire["caller"]}} if wire.get("caller") else None
            return [self._thought(caller), start] if caller else [start]
        return []

    def _delta(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        index, delta = event["index"], event["delta"]
        block = self._blocks.get(index)
        if block is None:
            raise LMProtocolError(f"a delta for content block {index}, which is not open")
        kind = delta.get("type")
        if kind == "text_delta" and block.kind == "text":
            return (delta["text"],)
        if kind not in _DELTAS_OF.get(block.kind, _DELTA_FIELDS) and kind in _DELTA_FIELDS:
            raise LMProtocolError(f"a {kind} for content block {index}, which is of type {block.kind}")
        if kind == "input_json_delta" and block.kind == "tool_use":
            block.add(kind, delta)
            return (CallText(key=index, text=delta["partial_json"]),)
        if kind == "citations_delta" and block.kind == "text":
            return (Info(metadata={"citations": [delta["citation"]]}),)
        block.add(kind, delta)
        return (ThoughtPiece(delta["thinking"]),) if kind == "thinking_delta" and block.kind == "thinking" else ()

    def _stop_block(self, event: Mapping[str, Any]) -> list[Delta]:
        index = event["index"]
        block = self._blocks.pop(index, None)
        if block is None:
            raise LMProtocolError(f"content block {index} is closed, but was not open")
        match block.kind:
            case "text":
                return [Boundary()]
            case "tool_use":
                return [CallEnd(key=index, args=None if block.has_input_text else block.wire.get("input") or {})]
            case "thinking":
                wire = block.thinking()
                return [self._thought({"block": wire}) if wire.get("signature") else Boundary()]
            case "redacted_thinking":
                return [self._thought({"block": dict(block.wire)})]
        return [self._thought({"block": block.opaque()}, is_output=True)]

    def _thought(self, payload: dict[str, Any], *, is_output: bool = False) -> ThoughtEnd:
        return ThoughtEnd(payload=self._origin | payload, tag=REPLAY_TAG, is_output=is_output)

    def _finish(self) -> list[Delta]:
        self.finished = True
        raw = self._message.get("stop_reason")
        deltas: list[Delta] = []
        if self._message.get("stop_sequence"):
            deltas.append(Info(metadata={"stop_sequence": self._message["stop_sequence"]}))
        explanation = (self._message.get("stop_details") or {}).get("explanation")
        if raw == "refusal" and explanation:
            deltas.append(RefusalText(text=explanation))
        reason, failure = _REASONS.get(raw, ("other", None))
        return [*deltas, Finish(reason=reason, raw=raw, failure=failure)]


class _Block:
    """A content block under way: as it was opened, and the pieces that came since."""

    def __init__(self, wire: Mapping[str, Any]) -> None:
        self.wire = wire
        self.kind: str = wire.get("type") or ""
        self._pieces: dict[str, list[Any]] = {}
        self._fields: dict[str, Any] = {}

    def add(self, kind: str, delta: Mapping[str, Any]) -> None:
        field = _DELTA_FIELDS.get(kind)
        if field is not None:
            self._pieces.setdefault(field, []).append(delta[field])
        elif kind == "compaction_delta":
            self._fields |= {name: value for name, value in delta.items() if name != "type"}

    @property
    def has_input_text(self) -> bool:
        return any(self._pieces.get("partial_json", ()))

    def thinking(self) -> dict[str, Any]:
        """A thinking block as it goes back; the text may be empty, but is there."""
        text = (self.wire.get("thinking") or "") + "".join(self._pieces.get("thinking", ()))
        signature = (self._pieces.get("signature") or [self.wire.get("signature")])[-1]
        return {**self.wire, "thinking": text, "signature": signature}

    def opaque(self) -> dict[str, Any]:
        """A block of the provider's own, with what its deltas added."""
        block = {**self.wire, **self._fields}
        for field, pieces in self._pieces.items():
            if field == "partial_json":
                block["input"] = read_arguments("".join(pieces)) or block.get("input") or {}
            elif field == "citation":
                block["citations"] = [*(block.get("citations") or []), *pieces]
            elif field == "signature":
                block[field] = pieces[-1]
            else:
                block[field] = (block.get(field) or "") + "".join(pieces)
        return block


def _usage(wire: Mapping[str, Any]) -> Usage:
    """Input counts what was read from and written to the cache; Anthropic reports the three apart."""
    read = wire.get("cache_read_input_tokens") or 0
    written = wire.get("cache_creation_input_tokens") or 0
    uncached, output = wire.get("input_tokens"), wire.get("output_tokens")
    total_input = None if uncached is None else uncached + written + read
    return Usage(
        input_tokens=total_input,
        output_tokens=output,
        total_tokens=None if total_input is None or output is None else total_input + output,
        cached_input_tokens=read,
        cache_write_input_tokens=written,
        reasoning_tokens=(wire.get("output_tokens_details") or {}).get("thinking_tokens"),
        raw=dict(wire),
    )
