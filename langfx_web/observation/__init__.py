"""What happens in an agent's runs, told to whoever traces them; watching never changes a run.

May import layers 0 and 1. Read `observer.py` first; `events.py` has what is told, `content.py` how much of a
conversation may be in it. None of it is read before somebody makes an observer.
"""

from langfx_web.observation.content import Content
from langfx_web.observation.events import (
    ObservedCall,
    ObservedEvent,
    ObservedJournalCommit,
    ObservedJournalError,
    ObservedJournalRestore,
    ObservedMedia,
    ObservedMessage,
    ObservedModelEnd,
    ObservedModelFirstOutput,
    ObservedModelRequest,
    ObservedPart,
    ObservedStepEnd,
    ObservedStepStart,
    ObservedText,
    ObservedThought,
    ObservedTool,
    ObservedToolEnd,
    ObservedToolResult,
    ObservedToolStart,
    ObservedTurnEnd,
    ObservedTurnStart,
    ObservedWaitEnd,
    ObservedWaitStart,
    ParentCall,
    RequestedCall,
)
from langfx_web.observation.observer import Observer

__all__ = [
    "Content",
    "ObservedCall",
    "ObservedEvent",
    "ObservedJournalCommit",
    "ObservedJournalError",
    "ObservedJournalRestore",
    "ObservedMedia",
    "ObservedMessage",
    "ObservedModelEnd",
    "ObservedModelFirstOutput",
    "ObservedModelRequest",
    "ObservedPart",
    "ObservedStepEnd",
    "ObservedStepStart",
    "ObservedText",
    "ObservedThought",
    "ObservedTool",
    "ObservedToolEnd",
    "ObservedToolResult",
    "ObservedToolStart",
    "ObservedTurnEnd",
    "ObservedTurnStart",
    "ObservedWaitEnd",
    "ObservedWaitStart",
    "Observer",
    "ParentCall",
    "RequestedCall",
]
