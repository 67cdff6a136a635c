"""The agent as one turn uses it."""

from __future__ import annotations

from langfx_web.agent import Agent
from langfx_web.agentic import Limits
from langfx_web.durable.ids import new_id
from langfx_web.durable.records import Settings
from langfx_web.durable.setup import fingerprint, turn_setup
from langfx_web.llms import ModelSettings
from langfx_web.testing import Echo
from langfx_web.tools import Tool, ToolRegistry


def a_tool(name: str = "pay", *, idempotent: bool, writes: bool | None = None) -> Tool:
    """A tool with these promises."""
    return Tool(
        name=name,
        description="Pay.",
        input={"type": "object"},
        function=lambda *_: None,
        idempotent=idempotent,
        writes=writes,
    )


def test_settings_go_over_the_agent() -> None:
    """A session object's model and instructions replace the agent's; everything else stays, the agent too."""
    agent = Agent(lm=Echo(max_attempts=1), name="a", instructions="Be kind.", limits=Limits(max_steps=3))
    plain, special = (
        turn_setup(agent, Settings()),
        turn_setup(agent, Settings(model=ModelSettings("large"), instructions="Be brief.")),
    )
    assert (plain.lm, plain.instructions, plain.name, plain.tools) == (agent.lm, "Be kind.", "a", agent.tools)
    assert (special.lm.model, special.instructions, agent.lm.model) == ("large", "Be brief.", "Echo")
    assert plain.limits == special.limits == Limits(max_steps=3, max_tool_calls=200)


def test_an_empty_instruction_takes_the_agents_away() -> None:
    """None leaves it to the agent, an empty text does not."""
    agent = Agent(lm=Echo(), instructions="Be kind.")
    assert turn_setup(agent, Settings(instructions="")).instructions == ""


def test_the_fingerprint_of_tools() -> None:
    """It changes with names and promises, and with nothing else."""
    prints = [
        fingerprint(ToolRegistry(tools))
        for tools in (
            [],
            [a_tool(idempotent=True)],
            [a_tool(idempotent=False)],
            [a_tool(idempotent=True, writes=True)],
            [a_tool("find", idempotent=True)],
        )
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint(ToolRegistry([a_tool(idempotent=True)])) == prints[1]


def test_ids() -> None:
    """A prefix and 26 lower-case letters and digits, never the same."""
    ids = {new_id("ses_") for _ in range(100)}
    assert len(ids) == 100
    assert all(id.startswith("ses_") and len(id) == 30 and id[4:].isalnum() and id == id.lower() for id in ids)
