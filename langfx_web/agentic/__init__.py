"""The bounded loop, sessions and actions.

May import layers 0 to 6. Read `loop.py` first; clock, ids and recorder are handed in. What an agent is made of is read
at once, what runs it at its first run.
"""

from typing import TYPE_CHECKING

from langfx_web.agentic.action import Action
from langfx_web.agentic.hooks import AfterStep, AllowTool, BeforeStep, Hooks, Policy, several
from langfx_web.agentic.limits import Limits, of_a_turn, of_one_run
from langfx_web.agentic.setup import AgentSetup
from langfx_web.deferred import deferred

if TYPE_CHECKING:
    from langfx_web.agentic.budget import Budget
    from langfx_web.agentic.gates import Answers, Gate, OnGate, OpenGates, gate_opened
    from langfx_web.agentic.loop import Loop, RunEnd
    from langfx_web.agentic.parallel import Outcome
    from langfx_web.agentic.recorder import NullRecorder, PlannedCall, Recorder, Stop
    from langfx_web.agentic.run import Place
    from langfx_web.agentic.session import Session
    from langfx_web.agentic.step import Step
    from langfx_web.agentic.trace import error_info

__getattr__ = deferred(
    __name__,
    {
        "Answers": "langfx_web.agentic.gates",
        "Budget": "langfx_web.agentic.budget",
        "Gate": "langfx_web.agentic.gates",
        "Loop": "langfx_web.agentic.loop",
        "NullRecorder": "langfx_web.agentic.recorder",
        "OnGate": "langfx_web.agentic.gates",
        "OpenGates": "langfx_web.agentic.gates",
        "Outcome": "langfx_web.agentic.parallel",
        "Place": "langfx_web.agentic.run",
        "PlannedCall": "langfx_web.agentic.recorder",
        "Recorder": "langfx_web.agentic.recorder",
        "RunEnd": "langfx_web.agentic.loop",
        "Session": "langfx_web.agentic.session",
        "Step": "langfx_web.agentic.step",
        "Stop": "langfx_web.agentic.recorder",
        "error_info": "langfx_web.agentic.trace",
        "gate_opened": "langfx_web.agentic.gates",
    },
)

__all__ = [
    "Action",
    "AfterStep",
    "AgentSetup",
    "AllowTool",
    "Answers",
    "BeforeStep",
    "Budget",
    "Gate",
    "Hooks",
    "Limits",
    "Loop",
    "NullRecorder",
    "OnGate",
    "OpenGates",
    "Outcome",
    "Place",
    "PlannedCall",
    "Policy",
    "Recorder",
    "RunEnd",
    "Session",
    "Step",
    "Stop",
    "error_info",
    "gate_opened",
    "of_a_turn",
    "of_one_run",
    "several",
]
