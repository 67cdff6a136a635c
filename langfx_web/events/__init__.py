"""Everything that a turn, a run or a query produces while it happens.

May import layers 0 and 1. `turn.py` and `query.py` have the events, `plain.py` their plain form.
"""

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

__all__ = [
    "EVENTS",
    "ErrorInfo",
    "FieldEnd",
    "FieldStart",
    "GenerationCancelled",
    "GenerationComplete",
    "GenerationFailed",
    "ObjectEnd",
    "ObjectStart",
    "ParsingFailed",
    "PartialObject",
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
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "ValueEvent",
    "decode",
    "encode",
    "encode_error",
    "has_texts_only",
]
