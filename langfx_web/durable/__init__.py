"""Durable conversations: every step of a turn is stored as it happens, before anything depends on it.

May import layers 0 to 7, no model by name and no JavaScript. Read `records.py` and `fold.py` first, then `runner.py`.
"""

from langfx_web.durable.agent_session import AgentSession
from langfx_web.durable.ids import new_id
from langfx_web.durable.lines import Line, LineStream
from langfx_web.durable.submission import Accepted
from langfx_web.durable.turn import Turn, TurnResult

__all__ = ["Accepted", "AgentSession", "Line", "LineStream", "Turn", "TurnResult", "new_id"]
