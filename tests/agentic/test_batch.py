"""The calls of one step: all are checked before any runs, each has one result, and the author decides on failures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from langfx_web import Limits, Session, ToolContext
from langfx_web.errors import (
    GateDeclinedError,
    HookError,
    ToolArgumentError,
    ToolDeniedError,
    ToolExecutionError,
    ToolNotFoundError,
)
from langfx_web.events import ToolEnd, ToolStart
from langfx_web.messages import AIMessage, ToolCall, ToolMessage
from langfx_web.testing import StaticSequence
from langfx_web.tools import Tool, tool
from tests.agentic.trial import agent, calls, fail, loop_of, run


@dataclass
class Order:
    id: str


def of_type(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def told(loop: Any) -> dict[str, str]:
    return {message.call_id: message.text for message in loop.transcript if isinstance(message, ToolMessage)}


async def test_bug_105_langfx_59_good_unknown_bad_and_denied_calls() -> None:
    """One of four runs; four results as one group, in call order, and one end each."""

    def allow(call: ToolCall, step: Any) -> bool:
        return call.name != "fail"

    lm = StaticSequence([calls(("fail", {}), ("nope", {}), ("double", {"n": 2}), ("double", {"n": "x"})), "done"])
    loop = loop_of(agent(lm, allow_tool=allow))
    events = await run(loop)
    assert [message.call_id for message in lm.requests[1].messages[-4:]] == ["c1", "c2", "c3", "c4"]
    assert [message.is_error for message in lm.requests[1].messages[-4:]] == [True, True, False, True]
    assert told(loop)["c1"] == "Error: the call was not allowed."
    assert [event.id for event in of_type(events, ToolStart)] == ["c3"]
    assert sorted(event.id for event in of_type(events, ToolEnd)) == ["c1", "c2", "c3", "c4"]
    assert [event.type for event in events][:3] == ["tool_end"] * 3, "the refused ones are shown once all are checked"


@pytest.mark.parametrize("given", [None, "no", 0, 1, {"allowed": False}])
async def test_what_decides_on_a_call_says_true_or_false(given: Any) -> None:
    """Anything else, such as a forgotten `return`, is `hook_failed`: neither run nor denied, and nobody is asked."""
    ran = []

    def pay() -> str:
        """Pay."""
        ran.append(True)
        return "paid"

    async def on_gate(gate: Any) -> bool:
        return True

    for options, approval in (({"allow_tool": lambda call, step: given}, False), ({}, lambda arguments: given)):
        some = agent([calls(("pay", {}))], Tool(function=pay, approval=approval), **options)
        with pytest.raises(HookError, match="must give True or False, not a "):
            await some.invoke(prompt="x", on_gate=on_gate)
    assert ran == []


@pytest.mark.parametrize(
    ("batch", "options", "error"),
    [
        ([("double", {"n": 1}), ("nope", {}), ("double", {})], {"on_tool_error": "raise"}, ToolNotFoundError),
        ([("double", {"n": 1}), ("double", {}), ("nope", {})], {"on_tool_error": "raise"}, ToolArgumentError),
        ([("double", {"n": 1}), ("fail", {})], {"on_denied": "raise"}, ToolDeniedError),
    ],
)
async def test_langfx_60_the_first_problem_is_raised_before_any_effect(batch, options, error) -> None:
    """Nothing of the batch runs, and the transcript is closed all the same."""
    some = agent([calls(*batch)], allow_tool=lambda call, step: call.name != "fail", **options)
    loop = loop_of(some)
    events = await run(loop)
    assert loop.outcome.stop_reason == "error"
    assert isinstance(loop.outcome.error, error)
    assert of_type(events, ToolStart) == []
    assert len(of_type(events, ToolEnd)) == len(told(loop)) == len(batch)
    with pytest.raises(error):
        await agent([calls(*batch)], allow_tool=lambda call, step: call.name != "fail", **options).invoke(prompt="go")


async def test_langfx_60_a_failing_tool_ends_its_running_siblings() -> None:
    """The error has the tool's own as its cause; siblings were cancelled and have settled."""
    settled = []

    @tool(idempotent=True)
    async def wait() -> None:
        """Wait."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            settled.append(True)

    some = agent([calls(("wait", {}), ("fail", {}), ("wait", {}))], wait, fail, on_tool_error="raise")
    with pytest.raises(ToolExecutionError) as caught:
        await some.invoke(prompt="go")
    assert isinstance(caught.value.__cause__, ValueError)
    assert settled == [True, True]


@pytest.mark.parametrize("name", ["functions.double", "Double", "double ", "double\u200b"])
async def test_bug_105_langfx_61_names_are_exact(name: str) -> None:
    """A near miss is told the names there are."""
    loop = loop_of(agent([calls((name, {"n": 1})), "done"]))
    await run(loop)
    assert told(loop)["c1"] == f"Error: there is no tool {name!r}. Available: double, fail."


async def test_bug_105_langfx_61_a_call_without_a_name_is_answered_too() -> None:
    """A model that forgets the name gets an error result, and the run goes on."""

    class Nameless(StaticSequence):
        async def _stream(self, request: Any) -> Any:
            async for delta in super()._stream(request):
                yield type(delta)(key=delta.key, id=delta.id, name="") if hasattr(delta, "name") else delta

    loop = loop_of(agent(Nameless([calls(("x", {})), "done"])))
    await run(loop)
    assert loop.outcome.stop_reason == "end_turn"
    assert told(loop)["c1"].endswith("Available: double, fail.")


async def test_bug_105_langfx_61_a_model_that_repeats_itself_is_bounded() -> None:
    """Fifty times the same unknown name end by the limit, not by an error."""
    lm = StaticSequence([calls(("nope", {}))], repeat=True)
    loop = loop_of(agent(lm), limits=Limits(max_steps=50, max_tool_calls=100))
    await run(loop)
    assert (loop.outcome.stop_reason, len(lm.requests)) == ("max_steps", 50)


async def test_langfx_61_without_arguments_that_can_be_read_the_function_is_not_called() -> None:
    """The model is told that its arguments are no JSON."""
    loop = loop_of(agent([AIMessage(ToolCall("a", "double", None, raw_args='{"n"')), "done"]))
    assert of_type(await run(loop), ToolStart) == []
    assert "JSON" in told(loop)["a"]


async def test_langfx_62_ids_are_distinct_and_equal_in_call_and_result() -> None:
    """One id twice in a batch and again in a later step: all calls run."""

    class Twice(StaticSequence):
        async def _stream(self, request: Any) -> Any:
            async for delta in super()._stream(request):
                yield type(delta)(key=delta.key, id="c1", name=delta.name) if hasattr(delta, "name") else delta

    batch = calls(("double", {"n": 1}), ("double", {"n": 2}))
    loop = loop_of(agent(Twice([batch, batch, "done"])))
    await run(loop)
    ids = [call.id for message in loop.transcript for call in message.tool_calls]
    assert (len(set(ids)), list(told(loop)), sorted(told(loop).values())) == (4, ids, ["2", "2", "4", "4"])


async def test_langfx_64_what_a_tool_gives_or_raises_is_told() -> None:
    """An exception, one without a message, values that have no JSON form; a value of a class by its schema."""

    @tool(idempotent=True)
    def silent() -> str:
        """Fail."""
        raise RuntimeError

    @tool(idempotent=True)
    def nan() -> float:
        """Give what JSON cannot have."""
        return float("nan")

    @tool(idempotent=True)
    def loop() -> Any:
        """Give a circle."""
        circle: list[Any] = []
        circle.append(circle)
        return circle

    @tool(idempotent=True)
    def bag():  # without a schema is what is tried
        """Give a set."""
        return {1}

    @tool(idempotent=True)
    def order() -> Order:
        """Give an order."""
        return Order(id="7")

    names = ["fail", "silent", "nan", "loop", "bag", "order"]
    run_ = loop_of(agent([calls(*[(name, {}) for name in names]), "done"], fail, silent, nan, loop, bag, order))
    ends = of_type(await run(run_), ToolEnd)
    codes = {event.name: event.error_code for event in ends}
    assert codes == {
        "fail": "tool_failed",
        "silent": "tool_failed",
        "nan": "tool_output_invalid",
        "loop": "tool_output_invalid",
        "bag": "tool_output_invalid",
        "order": None,
    }
    assert told(run_)["c1"] == "no such order"
    assert "silent" in told(run_)["c2"]
    assert told(run_)["c6"] == '{"id":"7"}'
    assert run_.outcome.stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda call, step: False, "Error: the call was not allowed."),
        ("async false", "Error: the call was not allowed."),
        (ToolDeniedError("why"), "Error: the call was not allowed. why"),
        (ToolDeniedError("for sk-live-abcdef123456"), "Error: the call was not allowed. for ***"),
        (GateDeclinedError("no", details={"reason": "ask me later"}), "Error: the call was not allowed. ask me later"),
    ],
)
async def test_langfx_68_a_denied_call_is_told_with_its_reason(answer, text) -> None:
    """Plain or async, False or raised."""

    async def async_false(call: ToolCall, step: Any) -> bool:
        return False

    def raising(call: ToolCall, step: Any) -> bool:
        raise answer

    allow = answer if callable(answer) else async_false if answer == "async false" else raising
    loop = loop_of(agent([calls(("double", {"n": 1})), "done"], allow_tool=allow))
    (end,) = of_type(await run(loop), ToolEnd)
    assert (told(loop)["c1"], end.error_code, end.duration_ms) == (text, "tool_denied", 0)


async def test_langfx_68_another_exception_ends_the_run() -> None:
    """As `hook_failed`, from the exception, with no effect and a closed transcript."""

    def allow(call: ToolCall, step: Any) -> bool:
        raise KeyError("user")

    loop = loop_of(agent([calls(("double", {"n": 1}))], allow_tool=allow))
    events = await run(loop)
    assert isinstance(loop.outcome.error, HookError)
    assert isinstance(loop.outcome.error.__cause__, KeyError)
    assert "allow" in loop.outcome.error.message
    assert ([event.type for event in events], told(loop).keys()) == (["tool_end"], {"c1"})


async def test_permission_is_asked_in_call_order_for_calls_that_could_run() -> None:
    """With the call as the model made it, and a step that counts equal calls."""
    asked = []

    async def allow(call: ToolCall, step: Any) -> bool:
        await asyncio.sleep(0)
        asked.append((call.id, step.index, step.turn_id))
        return True

    batch = calls(("double", {"n": 1}), ("nope", {}), ("double", {"n": "x"}), ("double", {"n": 1}))
    await run(loop_of(agent([batch, "done"], allow_tool=allow)))
    assert asked == [("c1", 0, "msg_1"), ("c4", 0, "msg_1")]


async def test_a_cancellation_that_permission_swallows_still_ends_the_run() -> None:
    """No call runs and nothing more is asked."""
    asking = asyncio.Event()

    async def allow(call: ToolCall, step: Any) -> bool:
        asking.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return True
        return False

    lm = StaticSequence([calls(("double", {"n": 1})), "never"])
    loop = loop_of(agent(lm, allow_tool=allow))
    task = asyncio.ensure_future(run(loop))
    await asking.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (loop.outcome.stop_reason, len(lm.requests), loop.heard.events) == ("cancelled", 1, [])
    assert told(loop).keys() == {"c1"}


async def test_a_tool_knows_its_call_and_has_a_session_of_its_own() -> None:
    """Queries in it are traced below its node, and asked of the agent's model unless it brings another."""
    seen: list[ToolContext] = []

    @tool(idempotent=True)
    async def research(topic: str, context: ToolContext) -> str:
        """Research."""
        seen.append(context)
        answer: str = await context.session.query(f"What is {topic}?")
        return answer

    lm = StaticSequence([calls(("research", {"topic": "tea"})), "A drink.", "Tea is a drink."])
    async with Session() as session:
        some = agent(lm, research, name="helper")
        assert await some.invoke(session, prompt="tea?") == "Tea is a drink."
        tree = [(node.kind, node.name) for node in session.root.walk()]
    assert tree == [
        ("session", "Session"),
        ("action", "Agent:helper"),
        ("step", "step 0"),
        ("tool", "Tool:research"),
        ("query", "query"),
        ("step", "step 1"),
    ]
    (context,) = seen
    assert (context.call.name, len(context.checksum), context.rerun) == ("research", 64, False)
    assert context.execution_id.startswith("exe_")


async def test_nobody_rewrites_what_the_model_has_asked() -> None:
    """A tool, or what permits it, that changes the call it is shown changes only its own copy."""

    def allow(call: ToolCall, step: Any) -> bool:
        assert call.args is not None
        call.args["item"]["by"] = "allow"
        return True

    @tool(idempotent=True)
    def keep(item: dict[str, str], context: ToolContext) -> dict[str, str]:
        """Keep an item."""
        assert context.call.args == {"item": {}}
        context.call.args["item"]["by"] = "tool"
        return item

    lm = StaticSequence([calls(("keep", {"item": {}})), "done"])
    loop = loop_of(agent(lm, keep, allow_tool=allow))
    await run(loop)
    asked, answered = lm.requests[1].messages[-2:]
    assert [call.args for call in asked.tool_calls] == [{"item": {}}]
    assert answered.text == "{}"


async def test_a_failed_tool_is_an_error_in_the_trace() -> None:
    """Its node says so; the step's does not, as the model was told."""
    async with Session() as session:
        await agent([calls(("fail", {})), "done"]).invoke(session, prompt="go")
        statuses = {node.name: node.status for node in session.root.walk()}
        (node,) = [node for node in session.root.walk() if node.kind == "tool"]
    assert statuses["Tool:fail"] == "error"
    assert statuses["step 0"] == statuses["Agent:default"] == "ok"
    assert node.error is not None
    assert node.error.code == "tool_failed"
