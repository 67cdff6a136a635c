"""Events of an observer → spans: `invoke_agent`, and in it `chat` for each request and `execute_tool` for each call.

Names are those of OpenTelemetry's semantic conventions for generative AI, which are still in development; what has no
name there is called `langfx.…`. Texts of a conversation are in a span only where the observer captured them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from langfx_web.observation import (
    ObservedEvent,
    ObservedModelEnd,
    ObservedModelFirstOutput,
    ObservedModelRequest,
    ObservedToolEnd,
    ObservedToolResult,
    ObservedToolStart,
    ObservedTurnEnd,
    ObservedTurnStart,
    ObservedWaitEnd,
    ObservedWaitStart,
    ParentCall,
)
from langfx_web.otlp.content import input_messages, output_messages, system_instructions, tool_definitions
from langfx_web.otlp.span import CLIENT, INTERNAL, Attributes, Span, SpanEvent, Value
from langfx_web.usage import Usage

MOST_RUNS = 256
"""Runs that may be open; the oldest is taken for lost when there are more."""

_PROVIDERS = {"gemini": "gcp.gemini", "openai_chat": "openai"}
"""Our names of wires, where the conventions have another."""

_OPTIONS: dict[str, tuple[str, Callable[..., Value]]] = {
    "max_tokens": ("gen_ai.request.max_tokens", int),
    "random_seed": ("gen_ai.request.seed", int),
    "reasoning_effort": ("langfx.request.reasoning_effort", str),
    "temperature": ("gen_ai.request.temperature", float),
    "top_k": ("gen_ai.request.top_k", int),
    "top_p": ("gen_ai.request.top_p", float),
}


def random_hex(size: int) -> str:
    """So many random bytes, as lower-case hex."""
    return os.urandom(size).hex()


@dataclass(slots=True)
class _Run:
    """A run of an agent: its own span, those open in it by request or call, and the calls that were run."""

    span: Span
    open: dict[str, Span] = field(default_factory=dict)
    executed: set[str] = field(default_factory=set)


class Spans:
    """Takes events in their order and gives the spans that are finished by each."""

    def __init__(self, *, new_id: Callable[[int], str] = random_hex) -> None:
        self._new_id = new_id
        self._runs: dict[str, _Run] = {}

    def take(self, event: ObservedEvent) -> list[Span]:
        """The spans that this event ends, inner ones first."""
        if event.run_id is None:
            return []
        if isinstance(event, ObservedTurnStart):
            return self._begin(event.run_id, event)
        run = self._runs.get(event.run_id)
        if run is None:
            return []
        if isinstance(event, ObservedTurnEnd):
            del self._runs[event.run_id]
            _finish_turn(run.span, event)
            return list(_closed(run, event.at))
        return self._within(run, event)

    def _begin(self, run_id: str, event: ObservedTurnStart) -> list[Span]:
        span = self._span(event, f"invoke_agent {event.agent}", INTERNAL, self._parent(event.parent))
        span.attributes = _known(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.provider.name": _PROVIDERS.get(event.provider, event.provider),
                "gen_ai.agent.name": event.agent,
                "gen_ai.conversation.id": event.session_id,
                "gen_ai.request.model": event.model,
                "gen_ai.input.messages": None if event.input is None else input_messages([event.input]),
                "langfx.turn.id": event.turn_id,
                "langfx.run.id": run_id,
            }
        )
        self._runs[run_id] = _Run(span)
        if len(self._runs) <= MOST_RUNS:
            return []
        return list(_closed(self._runs.pop(next(iter(self._runs))), event.at))

    def _within(self, run: _Run, event: ObservedEvent) -> list[Span]:
        match event:
            case ObservedModelRequest():
                run.open[_request(event)] = self._chat(run, event)
            case ObservedModelFirstOutput() if span := run.open.get(_request(event)):
                span.attributes["gen_ai.response.time_to_first_chunk"] = (event.at - span.start).total_seconds()
            case ObservedModelEnd() if span := run.open.pop(_request(event), None):
                return [_finish_chat(span, event)]
            case ObservedToolStart():
                run.executed.add(event.execution_id)
                run.open[event.execution_id] = self._tool(run, event)
            case ObservedToolEnd() if span := run.open.pop(event.execution_id, None):
                return [_finish_tool(span, event)]
            case ObservedToolResult() if event.execution_id not in run.executed:
                run.span.events.append(_refused(event))
            case ObservedWaitStart() | ObservedWaitEnd():
                run.open.get(event.execution_id or "", run.span).events.append(_waited(event))
        return []

    def _chat(self, run: _Run, event: ObservedModelRequest) -> Span:
        span = self._span(event, f"chat {event.model}", CLIENT, run.span)
        span.attributes = _known(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": _PROVIDERS.get(event.provider, event.provider),
                "gen_ai.agent.name": run.span.attributes.get("gen_ai.agent.name"),
                "gen_ai.conversation.id": event.session_id,
                "gen_ai.request.model": event.model,
                "gen_ai.request.stream": True,
                "gen_ai.system_instructions": system_instructions(event.instructions) if event.instructions else None,
                "gen_ai.input.messages": None if event.messages is None else input_messages(event.messages),
                "gen_ai.tool.definitions": tool_definitions(event.tools) if event.tools else None,
                "langfx.step": event.step,
                "langfx.request": event.request,
                "langfx.content_truncated": event.content_truncated or None,
            }
        )
        for option, (name, kind) in _OPTIONS.items():
            if option in event.options:
                span.attributes[name] = kind(event.options[option])
        return span

    def _tool(self, run: _Run, event: ObservedToolStart) -> Span:
        span = self._span(event, f"execute_tool {event.name}", INTERNAL, run.span)
        span.attributes = _known(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": event.name,
                "gen_ai.tool.call.id": event.call_id,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.arguments": event.arguments,
                "langfx.step": event.step,
                "langfx.tool.execution_id": event.execution_id,
                "langfx.tool.rerun": event.rerun or None,
                "langfx.content_truncated": event.content_truncated or None,
            }
        )
        return span

    def _parent(self, call: ParentCall | None) -> Span | None:
        """The span of the tool call that a run is made in, while it is open."""
        run = self._runs.get(call.run_id) if call is not None and call.run_id is not None else None
        return None if run is None or call is None else run.open.get(call.execution_id, run.span)

    def _span(self, event: ObservedEvent, name: str, kind: int, parent: Span | None) -> Span:
        return Span(
            trace_id=parent.trace_id if parent is not None else self._new_id(16),
            span_id=self._new_id(8),
            parent_id=parent.span_id if parent is not None else None,
            name=name,
            kind=kind,
            start=event.at,
        )


def _request(event: ObservedModelRequest | ObservedModelFirstOutput | ObservedModelEnd) -> str:
    return f"request {event.request}"


def _closed(run: _Run, at: datetime) -> Iterator[Span]:
    """The spans of a run that is over; those that had no end of their own were broken off."""
    for span in (*run.open.values(), run.span):
        if span.end is None:
            span.end = at
            span.attributes["langfx.broken_off"] = True
        yield span


def _finish_turn(span: Span, event: ObservedTurnEnd) -> None:
    span.end = event.at
    span.attributes |= _usage(event.usage) | _known(
        {
            "langfx.stop_reason": event.stop_reason,
            "gen_ai.output.messages": None if event.output is None else output_messages(event.output, "stop"),
            "langfx.content_truncated": event.content_truncated or None,
        }
    )
    _fail(span, event.error_code, event.error_message)


def _finish_chat(span: Span, event: ObservedModelEnd) -> Span:
    span.end = event.at
    span.attributes |= _usage(event.usage) | _known(
        {
            "gen_ai.response.model": event.model,
            "gen_ai.response.id": event.response_id,
            "gen_ai.response.finish_reasons": None if event.finish_reason is None else (event.finish_reason,),
            "gen_ai.output.messages": _output(event),
        }
    )
    if event.content_truncated:
        span.attributes["langfx.content_truncated"] = True
    _fail(span, event.error_code, event.error_message)
    return span


def _finish_tool(span: Span, event: ObservedToolEnd) -> Span:
    span.end = event.at
    if event.result is not None:
        span.attributes["gen_ai.tool.call.result"] = event.result
    if event.content_truncated:
        span.attributes["langfx.content_truncated"] = True
    _fail(span, event.error_code or ("tool_failed" if event.is_error else None), None)
    return span


def _output(event: ObservedModelEnd) -> str | None:
    return None if event.output is None else output_messages(event.output, event.finish_reason)


def _fail(span: Span, code: str | None, message: str | None) -> None:
    """Mark a span whose work failed; work that was cancelled did not."""
    if code == "cancelled":
        span.attributes["langfx.cancelled"] = True
    elif code is not None:
        span.attributes["error.type"] = code
        span.is_error, span.status_message = True, message


def _refused(event: ObservedToolResult) -> SpanEvent:
    attributes = _known(
        {"gen_ai.tool.name": event.name, "gen_ai.tool.call.id": event.call_id, "error.type": event.error_code}
    )
    return SpanEvent(at=event.at, name="langfx.tool.refused", attributes=attributes)


def _waited(event: ObservedWaitStart | ObservedWaitEnd) -> SpanEvent:
    attributes: Attributes = {"langfx.wait.id": event.wait_id, "langfx.wait.kind": event.kind}
    if isinstance(event, ObservedWaitEnd):
        attributes["langfx.wait.outcome"] = event.outcome
        text = ("langfx.wait.answer", event.answer)
    else:
        text = ("langfx.wait.request", event.request)
    return SpanEvent(at=event.at, name=f"langfx.{event.type}", attributes=attributes | _known(dict([text])))


def _usage(usage: Usage | None) -> Attributes:
    if usage is None:
        return {}
    return _known(
        {
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_input_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        }
    )


def _known(values: dict[str, Value | None]) -> Attributes:
    return {name: value for name, value in values.items() if value is not None}
