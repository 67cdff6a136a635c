"""The agent as one turn uses it: its author's configuration under the settings stored with the prompt."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langfx_web.agentic import AgentSetup, Hooks, Limits, of_a_turn
from langfx_web.durable.records import Settings
from langfx_web.json_text import dumps
from langfx_web.llms import LanguageModel, Models
from langfx_web.tools import ToolRegistry

if TYPE_CHECKING:
    from langfx_web.agentic.output import Output
    from langfx_web.observation import Observer

ATTEMPTS = 2
"""Attempts at one request of a turn, where the model does not say; the second only if nothing was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """What the loop needs to know of an agent, for one turn."""

    name: str
    lm: LanguageModel
    instructions: str | None
    tools: ToolRegistry
    limits: Limits
    hooks: Hooks
    output: Output | None = None
    observer: Observer | None = None
    models: Models = field(default_factory=dict)


def turn_setup(agent: AgentSetup, settings: Settings) -> TurnSetup:
    """The agent with a session object's model and instructions, the limits of a turn, and one automatic retry.

    `UnsupportedSettingError` where the model is known to lack what the session asks for.
    """
    changes: dict[str, Any] = {} if settings.model is None else settings.model.changes(agent.lm, agent.models)
    if agent.lm.max_attempts is None:
        changes["max_attempts"] = ATTEMPTS
    return TurnSetup(
        name=agent.name,
        lm=agent.lm.with_options(**changes) if changes else agent.lm,
        instructions=agent.instructions if settings.instructions is None else settings.instructions,
        tools=agent.tools,
        limits=of_a_turn(agent.limits),
        hooks=agent.hooks,
        output=agent.output,
        observer=agent.observer,
    )


def fingerprint(tools: ToolRegistry) -> str:
    """16 hex digits that change with the tools' names and promises."""
    promises = [[tool.name, bool(tool.idempotent), tool.writes] for tool in tools]
    return hashlib.sha256(dumps(promises).encode("utf-8")).hexdigest()[:16]
