"""An agent as a tool of another: a run of its own inside a call, of which only the answer comes back."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from langfx_web import Agent, Budget, Limits, Session
from langfx_web.errors import InvalidValueError
from langfx_web.events import ToolEnd
from langfx_web.messages import ToolMessage, UserMessage
from langfx_web.testing import Echo, StaticSequence
from langfx_web.tools import tool
from tests.agentic.trial import agent, calls, double, loop_of, run


@tool(idempotent=False, approval=True)
def pay(order: str) -> str:
    """Pay an order."""
    return f"paid {order}"


@dataclass
class Task:
    topic: str
    words: int = 10


def told(loop: Any) -> list[str]:
    return [message.text for message in loop.transcript if isinstance(message, ToolMessage)]


async def test_langfx_69_two_runs_of_one_agent_have_counters_of_their_own() -> None:
    """At once, and one inside the other."""
    replies = [calls(("double", {"n": 1})), "done"]
    some = agent(StaticSequence(replies, repeat=True), limits=Limits(max_steps=2, max_tool_calls=1))
    assert await asyncio.gather(some.invoke(prompt="a"), some.invoke(prompt="b")) == ["done", "done"]

    child = agent([calls(("double", {"n": 1})), "inner"], name="child", limits=Limits(max_steps=2, max_tool_calls=1))
    parent = agent([calls(("child", {"prompt": "do"})), "outer"], child.as_tool(), limits=Limits(max_tool_calls=1))
    assert await parent.invoke(prompt="go") == "outer"


async def test_only_what_is_passed_on_is_seen() -> None:
    """The child begins with the prompt alone, the parent gets its last text."""
    inner = StaticSequence([calls(("double", {"n": 1}), text="Let me see. "), "It is 2."])
    child = agent(inner, name="child", instructions="Compute.")
    loop = loop_of(agent([calls(("child", {"prompt": "1+1?"})), "done"], child.as_tool(), instructions="Delegate."))
    events = await run(loop)
    assert [message.text for message in inner.requests[0].messages] == ["Compute.", "1+1?"]
    assert told(loop) == ["It is 2."]
    assert [event.type for event in events] == ["tool_start", "tool_end", "text_delta"]


async def test_the_trace_has_the_child_below_its_call() -> None:
    """With all its steps and tools; each cost is counted once, in the parent's session and budget."""
    child = agent([calls(("double", {"n": 1})), "inner"], name="child")
    parent = Agent(lm=StaticSequence([calls(("child", {"prompt": "do"})), "outer"]), tools=[child.as_tool()])
    async with Session() as session:
        await parent.invoke(session, prompt="go", budget=Budget(max_requests=4))
        nodes = {node.id: node for node in session.root.walk()}
        path = []
        node = next(node for node in nodes.values() if node.name == "Tool:double")
        while node.parent_id is not None:
            path.append(node.name)
            node = nodes[node.parent_id]
        assert path == ["Tool:double", "step 0", "Agent:child", "Tool:child", "step 0", "Agent:default"]
        assert session.usage.requests == 4


async def test_a_childs_failure_is_a_failed_call() -> None:
    """Its own limits end it; the parent is told and goes on."""
    child = agent(StaticSequence([calls(("double", {"n": 1}))], repeat=True), name="child", limits=Limits(max_steps=2))
    loop = loop_of(agent([calls(("child", {"prompt": "do"})), "done"], child.as_tool()))
    (end,) = [event for event in await run(loop) if isinstance(event, ToolEnd)]
    assert (end.error_code, loop.outcome.stop_reason) == ("tool_failed", "end_turn")
    assert "max_steps" in told(loop)[0]


async def test_the_parents_budget_bounds_the_child() -> None:
    """The request that would be over it is not sent."""
    inner = StaticSequence([calls(("double", {"n": 1})), "never"])
    parent = agent([calls(("child", {"prompt": "do"})), "never"], agent(inner, name="child").as_tool())
    with pytest.raises(Exception, match="budget"):
        await parent.invoke(prompt="go", budget=Budget(max_requests=2))
    assert len(inner.requests) == 1


async def test_its_questions_are_asked_by_the_parent() -> None:
    """Under ids of the call; the answer reaches the child."""
    child = Agent(lm=StaticSequence([calls(("pay", {"order": "7"})), "paid it"]), name="child", tools=[pay])
    asked = []

    async def on_gate(gate: Any) -> bool:
        asked.append((gate.id, gate.call_id, gate.payload["tool"]))
        return True

    parent = agent([calls(("child", {"prompt": "a"})), "done"], child.as_tool())
    events = [event async for event in parent.stream(prompt="go", on_gate=on_gate)]
    opened = [event for event in events if event.type == "gate_open"]
    assert [(event.id, event.call_id, event.payload["tool"]) for event in opened] == asked
    assert all(gate_id.startswith("exe_") and gate_id.endswith("/approval:c1") for gate_id, _, _ in asked)
    assert [call_id for _, call_id, _ in asked] == ["c1"]


async def test_nobody_to_ask_is_a_failed_call() -> None:
    """As in a run without a parent."""
    child = Agent(lm=StaticSequence([calls(("pay", {"order": "7"}))]), name="child", tools=[pay])
    loop = loop_of(agent([calls(("child", {"prompt": "a"})), "done"], child.as_tool()))
    await run(loop)
    assert "on_gate" in told(loop)[0]


async def test_cancelling_reaches_the_child() -> None:
    """Its tool is cancelled, and neither asks anything more."""
    started, cancelled = asyncio.Event(), []

    @tool(idempotent=True)
    async def wait() -> None:
        """Wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    inner = StaticSequence([calls(("wait", {})), "never"])
    outer = StaticSequence([calls(("child", {"prompt": "a"})), "never"])
    parent = agent(outer, agent(inner, wait, name="child").as_tool())
    task = asyncio.ensure_future(parent.invoke(prompt="go"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (cancelled, len(inner.requests), len(outer.requests)) == ([True], 1, 1)


async def test_a_child_may_take_and_give_values() -> None:
    """Its prompt is the arguments as JSON; an `output` comes back by its schema."""
    inner = StaticSequence(["Task(topic='coffee', words=3)"])
    child = agent(inner, name="child", output=Task)
    loop = loop_of(agent([calls(("child", {"topic": "tea"})), "done"], child.as_tool(input=Task)))
    await run(loop)
    assert inner.requests[0].messages[-1] == UserMessage('{"topic":"tea"}')
    assert told(loop) == ['{"topic":"coffee","words":3}']


def test_its_promises_follow_from_its_tools() -> None:
    """Idempotent if all are, writing if one does; its author may say otherwise."""

    @tool
    def undecided() -> None:
        """Decide nothing."""

    def promises(*tools: Any, **options: Any) -> tuple[bool | None, bool]:
        made = Agent(lm=Echo(), tools=tools).as_tool(**options)
        return made.idempotent, made.writes

    assert promises() == (True, False)
    assert promises(double) == (True, False)
    assert promises(double, pay) == (False, True)
    assert promises(undecided) == (False, True)
    assert promises(pay, idempotent=True, writes=False) == (True, False)


def test_its_name_and_description() -> None:
    """From the agent where they are not given."""
    made = Agent(lm=Echo(), name="7.support").as_tool()
    assert (made.name, made.description) == ("_7_support", "Hand a task to the agent 7.support and get its answer.")
    assert list(made.declaration().input_schema["properties"]) == ["prompt"]
    made = Agent(lm=Echo()).as_tool("ask_shop", description="Ask the shop.")
    assert (made.name, made.description) == ("ask_shop", "Ask the shop.")
    with pytest.raises(InvalidValueError):
        Agent(lm=Echo()).as_tool("ask shop")
