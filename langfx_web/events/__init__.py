"""Everything that a turn, a run or a query produces while it happens.

May import layers 0 and 1. `turn.py` and `query.py` have the events, `plain.py` their plain form; `trace.py` has what a
session shows of itself, and is read at first use.
"""

from typing import TYPE_CHECKING

from langfx_web.deferred import deferred
from langfx_web.events.plain import EVENTS, decode, encode, encode_error, has_texts_only
from langfx_web.events.query import (
    FieldEnd,
    FieldStart,
    GenerationCancelled,
    GenerationComplete,
    GenerationFailed,
    ObjectEnd,
    ObjectStart,
    ParsingFailed,
    PartialObject,
    QueryEvent,
    StringFieldDelta,
    TerminalEvent,
    ValueEvent,
)
from langfx_web.events.turn import (
    ErrorInfo,
    GateClosed,
    GateOpen,
    TextDelta,
    ThoughtDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallProgress,
    ToolCallStart,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnEvent,
    TurnStart,
)

if TYPE_CHECKING:
    from langfx_web.events.trace import LogEntry, Progress, TraceNode, UsageSummary

__getattr__ = deferred(
    __name__, dict.fromkeys(("LogEntry", "Progress", "TraceNode", "UsageSummary"), "langfx_web.events.trace")
)

__all__ = [
    "EVENTS",
    "ErrorInfo",
    "FieldEnd",
    "FieldStart",
    "GateClosed",
    "GateOpen",
    "GenerationCancelled",
    "GenerationComplete",
    "GenerationFailed",
    "LogEntry",
    "ObjectEnd",
    "ObjectStart",
    "ParsingFailed",
    "PartialObject",
    "Progress",
    "QueryEvent",
    "StringFieldDelta",
    "TerminalEvent",
    "TextDelta",
    "ThoughtDelta",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallProgress",
    "ToolCallStart",
    "ToolEnd",
    "ToolStart",
    "TraceNode",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "UsageSummary",
    "ValueEvent",
    "decode",
    "encode",
    "encode_error",
    "has_texts_only",
]
