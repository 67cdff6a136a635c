"""Durable conversations: every step of a turn is stored as it happens, before anything depends on it.

May import layers 0 to 7, no model by name and no JavaScript. Read `records.py` and `fold.py` first, then `runner.py`.
What is here is read at its first use: a worker is ready before anybody has said anything.
"""

from typing import TYPE_CHECKING

from langfx_web.deferred import deferred

if TYPE_CHECKING:
    from langfx_web.durable.agent_session import AgentSession
    from langfx_web.durable.ids import new_id
    from langfx_web.durable.lines import Line, LineStream
    from langfx_web.durable.submission import Accepted
    from langfx_web.durable.turn import Turn, TurnResult

__getattr__ = deferred(
    __name__,
    {
        "Accepted": "langfx_web.durable.submission",
        "AgentSession": "langfx_web.durable.agent_session",
        "Line": "langfx_web.durable.lines",
        "LineStream": "langfx_web.durable.lines",
        "Turn": "langfx_web.durable.turn",
        "TurnResult": "langfx_web.durable.turn",
        "new_id": "langfx_web.durable.ids",
    },
)

__all__ = ["Accepted", "AgentSession", "Line", "LineStream", "Turn", "TurnResult", "new_id"]
