"""An agent as a tool of another: a run inside a call."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from langfx_web.deferred import later
from langfx_web.json_text import dumps
from langfx_web.tools import Tool, ToolContext

if TYPE_CHECKING:
    from langfx_web.agentic import asking
    from langfx_web.agentic.gates import Answers
    from langfx_web.agentic.session import Session
    from langfx_web.agentic.setup import AgentSetup
    from langfx_web.observation import Observer
else:
    # Modules make such tools when they are imported, and runs need it later.
    asking = later("langfx_web.agentic.asking")

Asked: TypeAlias = "Callable[[Session | None, str, Answers | None, Observer | None], Awaitable[Any]]"
"""One run of an agent in a session: a prompt, who answers its questions, who watches the call; gives text or value."""

PROMPT = {
    "type": "object",
    "properties": {
        "prompt": {
            "type": "string",
            "minLength": 1,
            "description": "The whole task. The agent sees nothing of this conversation.",
        }
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


def agent_tool(
    agent: AgentSetup,
    asked: Asked,
    *,
    name: str | None,
    description: str | None,
    input: Any,
    idempotent: bool | None,
    writes: bool | None,
    timeout: float | None,
) -> Tool:
    """The tool; what is not given follows from the agent. `invalid_tool` names what is wrong."""

    async def ask(arguments: Any, context: ToolContext) -> Any:
        prompt = arguments["prompt"] if input is None else dumps(context.call.args)
        answers = context.asker if isinstance(context.asker, asking.CallAsker) else None
        return await asked(context.session, prompt, answers, context.observation.child())

    output = agent.output
    return Tool(
        function=ask,
        name=name or _name(agent.name),
        description=description or f"Hand a task to the agent {agent.name} and get its answer.",
        input=PROMPT if input is None else input,
        output=str if output is None else output.schema,
        idempotent=all(tool.idempotent for tool in agent.tools) if idempotent is None else idempotent,
        writes=any(tool.writes for tool in agent.tools) if writes is None else writes,
        timeout=timeout,
    )


def _name(agent: str) -> str:
    """A tool's name made of an agent's, which may have dots and begin with a digit."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", agent)
    return (name if name[0].isalpha() or name[0] == "_" else f"_{name}")[:64]
