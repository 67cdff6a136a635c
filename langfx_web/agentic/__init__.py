"""The bounded loop, sessions and actions.

May import layers 0 to 6. Read `loop.py` first; clock, ids and recorder are handed in.
"""

from langfx_web.agentic.action import Action
from langfx_web.agentic.batch import Place
from langfx_web.agentic.limits import Limits, of_a_turn, of_one_run
from langfx_web.agentic.loop import AgentSetup, Loop, Outcome, opening
from langfx_web.agentic.recorder import NullRecorder, PlannedCall, Recorder
from langfx_web.agentic.session import Session
from langfx_web.agentic.trace import TraceNode, error_info

__all__ = [
    "Action",
    "AgentSetup",
    "Limits",
    "Loop",
    "NullRecorder",
    "Outcome",
    "Place",
    "PlannedCall",
    "Recorder",
    "Session",
    "TraceNode",
    "error_info",
    "of_a_turn",
    "of_one_run",
    "opening",
]
