"""What a turn emits while it runs, and how a tool call arrives from a model; `type` follows from the class name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.messages import ToolCall
from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of the answer's visible text."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtDelta:
    """A piece of readable reasoning."""

    type: ClassVar[Literal["thought_delta"]] = "thought_delta"
    delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart:
    """A tool begins to run. `id` is the model's call id, `execution_id` stays the same over reruns of the call.

    `started_at` is ISO 8601 in UTC; over 64 KiB of JSON, `input` is None and `input_preview` has its beginning.
    """

    type: ClassVar[Literal["tool_start"]] = "tool_start"
    id: str
    execution_id: str
    name: str
    checksum: str
    started_at: str
    input: Any = None
    rerun: bool = False
    input_truncated: bool | None = None
    input_preview: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd:
    """A tool call has its result, which may be an error; a refused call has a `tool_end` and no `tool_start`.

    `content` is the text the model gets, cut at 64 KiB; `duration_ms` is 0 for a call that was not run.
    """

    type: ClassVar[Literal["tool_end"]] = "tool_end"
    id: str
    execution_id: str
    name: str
    checksum: str
    is_error: bool
    ended_at: str
    duration_ms: int
    content: str | None = None
    content_truncated: bool | None = None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOpen:
    """A run waits for a person's answer, which must fit `schema` (JSON Schema).

    `payload` is JSON to decide by, `call_id` the tool call that asks; `expires_at` is ISO 8601 in UTC.
    """

    type: ClassVar[Literal["gate_open"]] = "gate_open"
    id: str
    reason: str
    payload: Any
    schema: Mapping[str, Any]
    call_id: str | None = None
    expires_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateClosed:
    """A gate is settled; `outcome` is `answered`, `declined`, `timeout` or `cancelled`."""

    type: ClassVar[Literal["gate_closed"]] = "gate_closed"
    id: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart:
    """A turn begins; `input` is the prompt's text, or a preview of it."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"
    session_id: str | None
    input: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorInfo:
    """An error as a value: what a turn's end carries in place of an exception."""

    name: str
    message: str
    code: str
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """A turn is over; `stop_reason` says how, `error` is set where that is `error` or `refused`.

    `output` is the value that a one-shot run of an agent with an `output` type ended with.
    """

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    stop_reason: str
    usage: Usage | None = None
    error: ErrorInfo | None = None
    repeated: bool | None = None
    output: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStart:
    """A model begins to write a tool call; for display only."""

    type: ClassVar[Literal["tool_call_start"]] = "tool_call_start"
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """A piece of a tool call's argument text; for display only."""

    type: ClassVar[Literal["tool_call_delta"]] = "tool_call_delta"
    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEnd:
    """A model has finished writing a tool call; it may run only after the answer's final chunk."""

    type: ClassVar[Literal["tool_call_end"]] = "tool_call_end"
    call: ToolCall


TurnEvent: TypeAlias = TextDelta | ThoughtDelta | ToolStart | ToolEnd | GateOpen | GateClosed | TurnStart | TurnEnd
"""What a turn emits, in order; the last one is a `TurnEnd`."""

ToolCallProgress: TypeAlias = ToolCallStart | ToolCallDelta | ToolCallEnd
"""How a tool call arrives from a model."""
