"""Questions in a stored conversation: shown as lines, answered by any object that stands for it, settled once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web import Agent, Limits, ToolContext
from langfx_web.agentic import Gate
from langfx_web.durable import AgentSession
from langfx_web.errors import GateAnswerError, GateNotFoundError
from langfx_web.stores import MemoryStore
from langfx_web.testing import ManualClock, StaticSequence
from langfx_web.tools import tool
from tests.agentic.trial import calls
from tests.durable.faults import settle
from tests.durable.scene import types

paid: list[str] = []


@tool(idempotent=False, approval=True)
def pay(item: str) -> str:
    """Pay."""
    paid.append(item)
    return f"paid {item}"


@tool(idempotent=True)
async def ask(context: ToolContext) -> str:
    """Ask."""
    return str(await context.ask("How many?", schema=int))


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    paid.clear()


def shop(*replies: Any, **options: Any) -> Agent:
    return Agent(lm=StaticSequence([*replies, "done"]), name="shop", tools=[pay, ask], store=MemoryStore(), **options)


async def asked(chat: Any) -> Gate:
    for _ in range(100):
        gates: list[Gate] = await chat.gates()
        if gates:
            return gates[0]
        await asyncio.sleep(0)
    raise AssertionError("nobody asked")


async def test_context_39_another_object_of_the_conversation_may_answer() -> None:
    """The turn goes on, and its lines show the question and how it was settled."""
    agent = shop(calls(("pay", {"item": "7"})))
    turn = agent.session("s").prompt("pay")
    chat = agent.session("s")
    gate = await asked(chat)
    assert (gate.reason, gate.payload["args"]) == ("May the tool pay run?", {"item": "7"})
    assert await agent.session("other").gates() == []
    with pytest.raises(GateAnswerError):
        await chat.answer(gate.id, "yes")
    await chat.answer(gate.id, True)
    with pytest.raises(GateNotFoundError):
        await chat.answer(gate.id, True)
    assert (await turn.result).stop_reason == "end_turn"
    assert paid == ["7"]
    assert await types(turn) == [
        "turn_start",
        "gate_open",
        "gate_closed",
        "tool_start",
        "tool_end",
        "text_delta",
        "turn_end",
    ]
    assert await chat.gates() == []


async def test_context_39_a_person_may_decline() -> None:
    """The model is told the reason, and nothing runs."""
    agent = shop(calls(("pay", {"item": "7"})))
    chat = agent.session("s")
    turn = chat.prompt("pay")
    await chat.decline((await asked(chat)).id, "Too much.")
    assert (await turn.result).stop_reason == "end_turn"
    assert (await chat.messages())[-2].text == "Error: the call was not allowed. Too much."
    assert paid == []
    with pytest.raises(GateNotFoundError):
        await chat.decline("approval:c1")


async def test_context_41_cancelling_the_turn_closes_its_gate() -> None:
    """As `cancelled`, before the turn's end."""
    agent = shop(calls(("pay", {"item": "7"}), ("ask", {})))
    chat = agent.session("s")
    turn = chat.prompt("pay")
    await asked(chat)
    assert await chat.cancel() == "cancelled"
    assert (await turn.result).stop_reason == "cancelled"
    lines = [line async for line in turn.lines]
    (closed,) = [line.event for line in lines if line.type == "gate_closed"]
    assert (closed.outcome, await chat.gates(), paid) == ("cancelled", [], [])


async def test_the_time_of_a_turn_stands_still_while_a_person_is_asked() -> None:
    """Its own limit, as in a one-shot run."""
    clock = ManualClock()
    agent = shop(calls(("ask", {})), limits=Limits(timeout=30))
    chat = AgentSession(agent, "s", store=MemoryStore(), clock=clock)
    turn = chat.prompt("go")
    await settle()
    await clock.advance(3600)
    gate = await asked(chat)
    await chat.answer(gate.id, 3)
    await settle()
    await clock.advance(1)
    assert (await turn.result).stop_reason == "end_turn"
    assert (await chat.messages())[-2].text == "3"


async def test_an_agent_in_a_tool_asks_on_the_same_page() -> None:
    """Its questions are open in the conversation, under ids of the call."""
    child = Agent(lm=StaticSequence([calls(("pay", {"item": "1"})), "paid it"]), name="child", tools=[pay])
    parent = Agent(lm=StaticSequence([calls(("child", {"prompt": "x"})), "done"]), tools=[child.as_tool()])
    chat = parent.session("s")
    turn = chat.prompt("go")
    gate = await asked(chat)
    assert (gate.id.startswith("exe_"), gate.id.endswith("/approval:c1")) == (True, True)
    await chat.answer(gate.id, True)
    assert (await turn.result).stop_reason == "end_turn"
    assert paid == ["1"]
