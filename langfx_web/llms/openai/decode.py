"""Responses answers → deltas. Wire format: events of `POST /responses`, or one response object.

The response that ends a stream is trusted before its items, and items before their pieces. Everything is told apart
by `output_index`, as some servers change the ids of items with each event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.errors import LMProtocolError
from langfx_web.llms.classify import Failure as Stated
from langfx_web.llms.classify import read_failure, to_error
from langfx_web.llms.delta import CallText, Delta, Failure, Finish, FinishReason, Info, UsageReport
from langfx_web.llms.openai.items import Item
from langfx_web.usage import Usage

_ENDS = ("response.completed", "response.incomplete", "response.failed")

_REASONS: dict[str | None, tuple[FinishReason, Failure | None]] = {
    "completed": ("stop", None),
    "max_output_tokens": ("length", None),
    "max_messages": ("length", None),
    "content_filter": ("content_filter", None),
    "incomplete": ("other", "unfinished"),
    "cancelled": ("other", "unfinished"),
    "steered": ("other", "unfinished"),
    "queued": ("other", "unfinished"),
    "in_progress": ("other", "unfinished"),
}


class ResponsesDecoder:
    """Reads one answer. `host` and `model` are noted in the payloads of thoughts."""

    def __init__(self, *, host: str, model: str) -> None:
        self.finished = False
        self._origin = {"v": 1, "host": host, "model": model}
        self._items: dict[int, Item] = {}

    def event(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of one stream event; unknown events have none."""
        match event.get("type"):
            case "response.output_text.delta":
                text = event["delta"]
                deltas = self._opened(event, "message")
                self._items[event["output_index"]].shown.write(text)
                return [*deltas, text] if deltas else (text,)
            case "response.function_call_arguments.delta":
                return self._arguments(event)
            case "response.reasoning_summary_text.delta":
                return self._reasoned(event, "summary_index")
            case "response.reasoning_text.delta":
                return self._reasoned(event, "content_index")
            case "response.refusal.delta":
                return [
                    *self._opened(event, "message"),
                    *self._items[event["output_index"]].refused(event["delta"]),
                ]
            case "response.output_item.added":
                return self._add(event["output_index"], event["item"])
            case "response.output_item.done":
                return self._close(event["output_index"], event["item"])
            case "response.created":
                return [_info(event["response"])]
            case end if end in _ENDS:
                return self._finish(event["response"])
        return ()

    def document(self, document: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of a whole response."""
        if not isinstance(document.get("output"), list):
            raise LMProtocolError("the answer is a JSON document, but no response: it has no output")
        return self._finish(document)

    def done(self) -> Iterable[Delta]:
        """Nothing: this wire ends with a response object."""
        return ()

    def end(self) -> Iterable[Delta]:
        """Nothing: an answer without its last response object is cut, whatever it said before."""
        return ()

    def _opened(self, event: Mapping[str, Any], kind: str) -> list[Delta]:
        """The item that an event is about, if nobody had announced it."""
        index = event["output_index"]
        return [] if index in self._items else self._add(index, {"type": kind})

    def _add(self, index: int, wire: Mapping[str, Any]) -> list[Delta]:
        if index in self._items:
            return []
        interrupted = [delta for other in self._items.values() for delta in other.interrupted()]
        item = self._items[index] = Item(index, wire, self._origin)
        return interrupted + item.opened()

    def _close(self, index: int, wire: Mapping[str, Any] | None) -> list[Delta]:
        deltas = self._add(index, wire or {})
        item = self._items[index]
        return deltas if item.is_closed else deltas + item.closed(wire)

    def _arguments(self, event: Mapping[str, Any]) -> list[Delta]:
        index, text = event["output_index"], event["delta"]
        item = self._items.get(index)
        if item is None or item.kind != "function_call":
            raise LMProtocolError(f"arguments for output item {index}, which is no open tool call")
        item.shown.write(text)
        return [CallText(key=index, text=text)]

    def _reasoned(self, event: Mapping[str, Any], place: str) -> list[Delta]:
        deltas = self._opened(event, "reasoning")
        item = self._items[event["output_index"]]
        return deltas + item.reasoned(event["delta"], place, event.get(place))

    def _finish(self, response: Mapping[str, Any]) -> list[Delta]:
        self.finished = True
        status = response.get("status")
        failure = read_failure({"error": response.get("error")})
        if failure is not None or status == "failed":
            raise to_error(failure or Stated(message="no reason given"), status=None, sentence="the response failed")
        deltas: list[Delta] = [_info(response), *self._settled(response.get("output") or [])]
        if response.get("usage"):
            deltas.append(UsageReport(usage=_usage(response["usage"])))
        raw = (response.get("incomplete_details") or {}).get("reason") or status
        reason, failed = _REASONS.get(raw, ("other", None))
        return [*deltas, Finish(reason=reason, raw=raw, failure=failed)]

    def _settled(self, output: list[Mapping[str, Any]]) -> list[Delta]:
        """What the whole response adds; one with fewer items than have come does not count."""
        deltas: list[Delta] = []
        if len(output) >= len(self._items):
            for index, wire in enumerate(output):
                item = self._items.get(index)
                if item is not None and item.is_closed and item.kind == "message":
                    deltas += item.settled(wire)
                deltas += self._close(index, wire)
        for item in self._items.values():
            if not item.is_closed:
                deltas += item.closed(None)
        return deltas


def _info(response: Mapping[str, Any]) -> Info:
    return Info(response_id=response.get("id") or None, model=response.get("model") or None)


def _usage(wire: Mapping[str, Any]) -> Usage:
    read = wire.get("input_tokens_details") or {}
    return Usage(
        input_tokens=wire.get("input_tokens"),
        output_tokens=wire.get("output_tokens"),
        total_tokens=wire.get("total_tokens"),
        cached_input_tokens=read.get("cached_tokens"),
        cache_write_input_tokens=read.get("cache_write_tokens"),
        reasoning_tokens=(wire.get("output_tokens_details") or {}).get("reasoning_tokens"),
        raw=dict(wire),
    )
