"""Watching the turns of a conversation while they run."""

from __future__ import annotations

import asyncio
import gc
from datetime import datetime
from typing import Any

from langfx_web.agent import Agent
from langfx_web.durable import watching
from langfx_web.errors import ToolDeniedError
from langfx_web.events.session import ActionEnd, EventsDropped, LogAdded
from langfx_web.messages import AIMessage, ToolCall
from langfx_web.stores import MemoryStore
from langfx_web.testing import ManualClock, StaticResponse, StaticSequence
from langfx_web.tools import ToolContext, tool
from tests.durable.faults import settle
from tests.durable.scene import Scene, calls


@tool(idempotent=True)
def find(item: str) -> str:
    """Find something."""
    if item == "ghost":
        raise LookupError("there are no ghosts")
    return f"found {item}"


async def read(watch: watching.Watch, count: int) -> list[Any]:
    """So many events."""
    return [await anext(watch) for _ in range(count)]


def shown(event: Any) -> str:
    """An event of a node in short."""
    return f"{event.type} {event.node.name} {event.node.status}"


async def test_a_turn_is_a_tree_while_it_runs() -> None:
    """Turn, steps and tools with what they were asked and gave: each as it begins and as it ends."""
    lm = StaticSequence([calls(("find", "desk")), calls(("find", "ghost"), ("lose", "it")), "done"])
    agent = Agent(lm=lm, name="clerk", tools=[find])
    session = agent.session("s-1", store=MemoryStore())
    watch = session.watch()
    turn = session.prompt("a", message_id="m-1")
    assert (await turn.result).stop_reason == "end_turn"
    events = await read(watch, 14)
    assert [shown(event) for event in events] == [
        "action_start Agent:clerk running",
        "query_start step 0 running",
        "action_start Tool:find running",
        "action_end Tool:find ok",
        "query_end step 0 ok",
        "query_start step 1 running",
        "action_start Tool:lose running",
        "action_end Tool:lose error",
        "action_start Tool:find running",
        "action_end Tool:find error",
        "query_end step 1 ok",
        "query_start step 2 running",
        "query_end step 2 ok",
        "action_end Agent:clerk ok",
    ]
    top, step, call = (event.node for event in events[:3])
    assert (top.metadata["message_id"], step.parent_id, call.parent_id) == ("m-1", top.id, step.id)
    found = events[3].node
    assert (found.metadata["args"], found.result, found.error) == ({"item": "desk"}, "found desk", None)
    assert [events[place].node.error.code for place in (7, 9)] == ["tool_not_found", "tool_failed"]


async def test_an_agent_in_a_call_is_below_the_call() -> None:
    """Its run, with its own steps and tools, is part of the tree of the turn that called it."""
    helper = Agent(lm=StaticSequence([calls(("find", "lamp")), "a lamp"]), name="helper", tools=[find])
    ask = AIMessage(ToolCall("c1", "helper", {"prompt": "Find a lamp."}))
    agent = Agent(lm=StaticSequence([ask, "done"]), name="clerk", tools=[helper.as_tool()])
    session = agent.session("s-1", store=MemoryStore())
    watch = session.watch()
    await session.prompt("a").result
    began = [event.node for event in await read(watch, 16) if event.type.endswith("_start")]
    names = {node.id: node.name for node in began}
    assert [(node.name, names.get(node.parent_id or "")) for node in began] == [
        ("Agent:clerk", None),
        ("step 0", "Agent:clerk"),
        ("Tool:helper", "step 0"),
        ("Agent:helper", "Tool:helper"),
        ("step 0", "Agent:helper"),
        ("Tool:find", "step 0"),
        ("step 1", "Agent:helper"),
        ("step 1", "Agent:clerk"),
    ]


async def test_a_denied_call_is_in_the_trace_as_failed() -> None:
    """Though it never ran: with the reason, at the step that asked for it."""

    def allow(call: object, step: object) -> bool:
        raise ToolDeniedError("not on Sundays")

    agent = Agent(lm=StaticSequence([calls(("find", "desk")), "well"]), tools=[find], allow_tool=allow)
    session = agent.session("s-1", store=MemoryStore())
    watch = session.watch()
    await session.prompt("a").result
    ends = [event.node for event in await read(watch, 8) if event.type == "action_end"]
    assert [(node.name, node.error and node.error.code) for node in ends] == [
        ("Tool:find", "tool_denied"),
        ("Agent:default", None),
    ]


async def test_a_watch_begins_in_the_middle_and_hears_of_a_stop() -> None:
    """Whoever comes late is told of what ends from then on; what was stopped has ended as cancelled."""
    scene = Scene()
    session = scene.session([calls(("slow_find", "x"), ("slow_find", "y"))])
    turn = session.prompt("a")
    await scene.workshop.started.wait()
    watch = session.watch()
    await session.cancel()
    assert (await turn.result).stop_reason == "cancelled"
    events = await read(watch, 4)
    assert {shown(event).split(" ", 1)[0] for event in events} == {"action_end", "query_end"}
    assert {event.node.status for event in events} == {"cancelled"}


async def test_a_failed_turn_is_a_failed_node() -> None:
    """With the error that the turn's result has."""
    session = Agent(lm=StaticSequence([])).session("s-1", store=MemoryStore())
    watch = session.watch()
    error = (await session.prompt("a").result).error
    end = (await read(watch, 4))[-1]
    assert isinstance(end, ActionEnd)
    assert error is not None
    assert (end.node.status, end.node.error) == ("error", error)


async def test_every_object_of_the_worker_shows_all_turns_here() -> None:
    """Of the same conversation in the same store, and of no other one."""
    store = MemoryStore()
    agent = Agent(lm=StaticResponse("ok"))
    watch, other = agent.session("s-1", store=store).watch(), agent.session("s-2", store=store).watch()
    await agent.session("s-1", store=store, instructions="Be brief.").prompt("a").result
    assert len(await read(watch, 4)) == 4
    waiting = asyncio.ensure_future(anext(other))
    await settle()
    assert not waiting.done()
    await other.aclose()
    assert [event async for event in other] == []
    waiting.cancel()


async def test_a_slow_reader_is_told_what_was_dropped() -> None:
    """The turn waits for nobody: the newest events are there, and how many older ones are not."""

    @tool(idempotent=True)
    def talk(item: str, context: ToolContext) -> str:
        """Log a lot."""
        for number in range(1_200):
            context.session.info(str(number))
        return "said"

    agent = Agent(lm=StaticSequence([calls(("talk", "x")), "ok"]), tools=[talk])
    session = agent.session("s-1", store=MemoryStore())
    watch = session.watch()
    await session.prompt("a").result
    first, second = await read(watch, 2)
    assert isinstance(first, EventsDropped)
    assert isinstance(second, LogAdded)
    assert (first.count, first.to_plain()["type"]) == (208, "events_dropped")
    assert first.at <= second.at
    assert int(second.entry.message) == first.count - 3
    rest = await read(watch, 999)
    assert not any(isinstance(event, EventsDropped) for event in rest)


class CountingClock(ManualClock):
    """Counts how often it was looked at."""

    looks = 0

    def now(self) -> datetime:
        """The time of day."""
        self.looks += 1
        return super().now()


async def test_without_a_reader_nothing_is_told() -> None:
    """A watch that was dropped or closed costs the next turn nothing; one that reads is told of each event."""
    looks = []
    for kind in ("none", "dropped", "closed", "read"):
        scene = Scene()
        scene.clock = CountingClock()
        session = scene.session([calls(("find", "x")), "ok"])
        watch = None if kind == "none" else session.watch()
        if watch is not None and kind == "closed":
            await watch.aclose()
        if kind == "dropped":
            del watch
            gc.collect()
        await session.prompt("a").result
        looks.append(scene.clock.looks)
    assert looks == [looks[0]] * 3 + [looks[0] + 8]
