"""The agent as one turn uses it: its author's configuration under the settings stored with the prompt."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from langfx_web.agentic import AgentSetup, Limits, of_a_turn
from langfx_web.durable.records import Settings
from langfx_web.json_text import dumps
from langfx_web.llms import LanguageModel
from langfx_web.tools import ToolRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """What the loop needs to know of an agent, for one turn."""

    name: str
    lm: LanguageModel
    instructions: str | None
    tools: ToolRegistry
    limits: Limits


def turn_setup(agent: AgentSetup, settings: Settings) -> TurnSetup:
    """The agent with a session object's model and instructions, and the limits of a turn."""
    return TurnSetup(
        name=agent.name,
        lm=agent.lm if settings.model is None else agent.lm.with_options(model=settings.model),
        instructions=agent.instructions if settings.instructions is None else settings.instructions,
        tools=agent.tools,
        limits=of_a_turn(agent.limits),
    )


def fingerprint(tools: ToolRegistry) -> str:
    """16 hex digits that change with the tools' names and promises."""
    promises = [[tool.name, bool(tool.idempotent), tool.writes] for tool in tools]
    return hashlib.sha256(dumps(promises).encode("utf-8")).hexdigest()[:16]
