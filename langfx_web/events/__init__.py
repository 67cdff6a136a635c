"""Everything that a turn, a run or a query produces while it happens.

May import layers 0 and 1. `turn.py` and `query.py` have the events, `plain.py` their plain form; `trace.py` and
`session.py` have what a session shows of itself, and are read at first use.
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
    from langfx_web.events.session import (
        ActionEnd,
        ActionStart,
        EventsDropped,
        LogAdded,
        MetadataUpdate,
        ProgressUpdate,
        QueryEnd,
        QueryStart,
        SessionEvent,
        WatchedEvent,
    )
    from langfx_web.events.trace import LogEntry, Progress, TraceNode, UsageSummary
    from langfx_web.events.trace_fields import TracedObject

_SESSION = ("ActionEnd", "ActionStart", "LogAdded", "MetadataUpdate", "ProgressUpdate", "QueryEnd", "QueryStart")
_WATCHED = ("EventsDropped", "SessionEvent", "WatchedEvent")
_TRACE = ("LogEntry", "Progress", "TraceNode", "UsageSummary")

__getattr__ = deferred(
    __name__,
    {
        **dict.fromkeys((*_SESSION, *_WATCHED), "langfx_web.events.session"),
        **dict.fromkeys(_TRACE, "langfx_web.events.trace"),
        "TracedObject": "langfx_web.events.trace_fields",
    },
)

__all__ = [
    "EVENTS",
    "ActionEnd",
    "ActionStart",
    "ErrorInfo",
    "EventsDropped",
    "FieldEnd",
    "FieldStart",
    "GateClosed",
    "GateOpen",
    "GenerationCancelled",
    "GenerationComplete",
    "GenerationFailed",
    "LogAdded",
    "LogEntry",
    "MetadataUpdate",
    "ObjectEnd",
    "ObjectStart",
    "ParsingFailed",
    "PartialObject",
    "Progress",
    "ProgressUpdate",
    "QueryEnd",
    "QueryEvent",
    "QueryStart",
    "SessionEvent",
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
    "TracedObject",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "UsageSummary",
    "ValueEvent",
    "WatchedEvent",
    "decode",
    "encode",
    "encode_error",
    "has_texts_only",
]
