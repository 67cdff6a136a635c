"""Questions to a person: a run waits for a valid answer, and whoever asked hears of a refusal."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from langfx_web import Limits, ToolContext
from langfx_web.agentic import OpenGates
from langfx_web.agentic.one_shot import FunctionAnswers
from langfx_web.errors import (
    DeadlineExceededError,
    GateAnswerError,
    GateDeclinedError,
    GateNotFoundError,
    GateTimeoutError,
    GateUnsupportedError,
    HookError,
    InvalidValueError,
    ToolDeniedError,
)
from langfx_web.events import GateClosed, GateOpen, ToolEnd, ToolStart, encode
from langfx_web.messages import ToolMessage
from langfx_web.testing import ManualClock, StaticSequence
from langfx_web.tools import checksum, tool
from tests.agentic.trial import agent, calls, double, loop_of, run

paid: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    paid.clear()


@tool(idempotent=False, approval=True)
def pay(order: str) -> str:
    """Pay an order."""
    paid.append(order)
    return f"paid {order}"


@tool(idempotent=True)
async def choose(context: ToolContext) -> str:
    """Let the user choose a colour."""
    colour: str = await context.ask("Which colour?", payload=["red", "blue"], schema=Literal["red", "blue"], timeout=60)
    return colour


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def told(loop: Any) -> list[str]:
    return [message.text for message in loop.transcript if isinstance(message, ToolMessage)]


async def test_context_39_an_approved_call_runs() -> None:
    """After the gate, whose payload is what is to be done; its id is the call's."""
    gates = OpenGates()
    loop = loop_of(agent([calls(("pay", {"order": "7"})), "done"], pay), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    (gate,) = gates.gates()
    payload = {"tool": "pay", "args": {"order": "7"}, "checksum": checksum("pay", {"order": "7"})}
    assert (gate.id, gate.call_id, gate.payload, gate.schema) == ("approval:c1", "c1", payload, {"type": "boolean"})
    assert paid == []
    await gates.answer("approval:c1", True)
    events = await task
    assert [event.type for event in events] == ["gate_open", "gate_closed", "tool_start", "tool_end", "text_delta"]
    assert (events[1], paid, told(loop)) == (GateClosed(id="approval:c1", outcome="answered"), ["7"], ["paid 7"])
    assert gates.gates() == []


@pytest.mark.parametrize(
    ("declines", "text"),
    [(None, ""), ("Too much.", " Too much."), ("", "")],
)
async def test_context_39_a_refused_call_is_told_to_the_model(declines: str | None, text: str) -> None:
    """False, or declined with a reason; the tool does not run, the run goes on."""
    gates = OpenGates()
    loop = loop_of(agent([calls(("pay", {"order": "7"}), ("double", {"n": 1})), "done"], pay, double), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    if declines is None:
        await gates.answer("approval:c1", False)
    else:
        gates.decline("approval:c1", declines)
    events = await task
    assert told(loop) == [f"Error: the call was not allowed.{text}", "2"]
    assert [event.name for event in events if isinstance(event, ToolStart)] == ["double"]
    assert [event.outcome for event in events if isinstance(event, GateClosed)] == [
        "answered" if declines is None else "declined"
    ]
    assert paid == []


async def test_context_39_a_wrong_answer_leaves_the_gate_open() -> None:
    """Nothing is converted; whoever answers is told; the second answer to a settled gate finds none."""
    gates = OpenGates()
    task = asyncio.ensure_future(run(loop_of(agent([calls(("pay", {"order": "7"})), "done"], pay), answers=gates)))
    await settle()
    for wrong in (1, "true", None, {"ok": True}):
        with pytest.raises(GateAnswerError) as caught:
            await gates.answer("approval:c1", wrong)
        assert caught.value.code == "gate_answer_invalid"
    assert len(gates.gates()) == 1
    await gates.answer("approval:c1", True)
    for late in (gates.answer("approval:c1", False), gates.answer("nope", True)):
        with pytest.raises(GateNotFoundError):
            await late
    with pytest.raises(GateNotFoundError):
        gates.decline("approval:c1")
    await task
    assert paid == ["7"]


async def test_context_39_a_gate_may_run_out_of_time() -> None:
    """The tool gets `gate_timeout`; the gate says until when it is open."""
    clock = ManualClock()
    gates = OpenGates(clock)
    loop = loop_of(agent([calls(("choose", {})), "done"], choose), answers=gates, clock=clock)
    task = asyncio.ensure_future(run(loop))
    await clock.advance(59)
    (gate,) = gates.gates()
    assert gate.expires_at == "2026-01-01T00:01:00.000+00:00"
    await clock.advance(2)
    events = await task
    assert [event.outcome for event in events if isinstance(event, GateClosed)] == ["timeout"]
    assert "within 60 s" in told(loop)[0]
    assert gates.gates() == []
    with pytest.raises(GateNotFoundError):
        await gates.answer(gate.id, "red")


async def test_a_tool_may_ask_for_any_kind_of_value() -> None:
    """The answer is a value of the schema; the ids count the call's questions."""
    gates = OpenGates()
    loop = loop_of(agent([calls(("choose", {})), "done"], choose), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    (gate,) = gates.gates()
    assert (gate.id, gate.call_id, gate.payload) == ("exe_1:1", "c1", ["red", "blue"])
    with pytest.raises(GateAnswerError):
        await gates.answer(gate.id, "green")
    await gates.answer(gate.id, "blue")
    await task
    assert told(loop) == ["blue"]


async def test_gates_of_a_batch_open_together() -> None:
    """Nothing of it runs before the last is settled; then all that may, in order."""
    gates = OpenGates()
    batch = calls(("pay", {"order": "1"}), ("double", {"n": 1}), ("pay", {"order": "2"}), ("pay", {"order": "3"}))
    loop = loop_of(agent([batch, "done"], pay, double), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    assert [gate.id for gate in gates.gates()] == ["approval:c1", "approval:c3", "approval:c4"]
    await gates.answer("approval:c4", True)
    gates.decline("approval:c3")
    await settle()
    assert [event.type for event in loop.heard.events] == ["gate_open"] * 3 + ["gate_closed"] * 2
    await gates.answer("approval:c1", True)
    await task
    assert paid == ["1", "3"]
    assert told(loop) == ["paid 1", "2", "Error: the call was not allowed.", "paid 3"]


async def test_approval_may_depend_on_the_arguments() -> None:
    """A function of the validated ones says whether to ask."""

    @tool(idempotent=False, approval=lambda arguments: arguments["amount"] > 100)
    def transfer(amount: int) -> str:
        """Transfer money."""
        return f"sent {amount}"

    asked = []

    async def on_gate(gate: Any) -> bool:
        asked.append(gate.payload["args"])
        return True

    some = agent([calls(("transfer", {"amount": 5}), ("transfer", {"amount": 500})), "done"], transfer)
    assert await some.invoke(prompt="go", on_gate=on_gate) == "done"
    assert asked == [{"amount": 500}]


async def test_what_a_person_allows_is_what_runs() -> None:
    """A function that changes the arguments it decides by changes only its own copy of them."""
    ran = []

    def decide(arguments: dict[str, Any]) -> bool:
        arguments["order"]["ids"].append("8")
        return True

    @tool(idempotent=False, approval=decide)
    def pay_all(order: dict[str, list[str]]) -> str:
        """Pay orders."""
        ran.append(order)
        return "paid"

    gates = OpenGates()
    loop = loop_of(agent([calls(("pay_all", {"order": {"ids": ["7"]}})), "done"], pay_all), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    (gate,) = gates.gates()
    await gates.answer(gate.id, True)
    await task
    assert gate.payload["args"] == {"order": {"ids": ["7"]}}
    assert ran == [{"ids": ["7"]}]


async def test_a_raised_denial_closes_the_other_gates() -> None:
    """With `on_denied="raise"` the first refusal ends the run; nothing runs."""
    gates = OpenGates()
    batch = calls(("pay", {"order": "1"}), ("pay", {"order": "2"}))
    loop = loop_of(agent([batch], pay, on_denied="raise"), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    gates.decline("approval:c2", "no")
    events = await task
    assert isinstance(loop.outcome.error, ToolDeniedError)
    assert [event.outcome for event in events if isinstance(event, GateClosed)] == ["declined", "cancelled"]
    assert (paid, gates.gates(), len(told(loop))) == ([], [], 2)


async def test_context_41_cancelling_closes_an_open_gate() -> None:
    """As `cancelled`; the asker sees the cancellation, and nobody can answer any more."""
    gates = OpenGates()
    lm = StaticSequence([calls(("pay", {"order": "1"}), ("choose", {})), "never"])
    loop = loop_of(agent(lm, pay, choose), answers=gates)
    task = asyncio.ensure_future(run(loop))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.heard.events[-1] == GateClosed(id="approval:c1", outcome="cancelled")
    assert (gates.gates(), paid, len(lm.requests)) == ([], [], 1)


async def test_context_41_a_run_without_anybody_to_ask() -> None:
    """Approval ends it as `gate_unsupported`; a tool that asks gets that error."""
    with pytest.raises(GateUnsupportedError) as caught:
        await agent([calls(("pay", {"order": "1"}))], pay).invoke(prompt="go")
    assert caught.value.code == "gate_unsupported"
    loop = loop_of(agent([calls(("choose", {})), "done"], choose))
    events = await run(loop)
    assert not [event for event in events if isinstance(event, GateOpen)]
    assert "on_gate" in told(loop)[0]
    assert paid == []


async def test_hooks_may_ask() -> None:
    """Before a step, and before a call; a refusal there denies the call."""
    seen = []

    async def before(step: Any) -> None:
        if step.index == 0:
            seen.append(await step.ask("How many?", schema=int))

    async def allow(call: Any, step: Any) -> bool:
        allowed: bool = await step.ask("May it?")
        return allowed

    async def on_gate(gate: Any) -> Any:
        seen.append(gate.id)
        if gate.schema["type"] == "integer":
            return 3
        raise GateDeclinedError("Not today.")

    loop = loop_of(
        agent([calls(("double", {"n": 1})), "done"], before_step=before, allow_tool=allow),
        answers=FunctionAnswers(on_gate),
    )
    await run(loop)
    assert seen == ["msg_1:0:1", 3, "msg_1:0:2"]
    assert told(loop) == ["Error: the call was not allowed. Not today."]


@pytest.mark.parametrize(
    ("answer", "error"),
    [(lambda: "yes", GateAnswerError), (lambda: 1 / 0, HookError)],
)
async def test_on_gate_must_answer_well(answer: Any, error: type[Exception]) -> None:
    """A wrong value, or another exception, ends the run."""

    async def on_gate(gate: Any) -> Any:
        return answer()

    with pytest.raises(error):
        await agent([calls(("pay", {"order": "1"}))], pay).invoke(prompt="go", on_gate=on_gate)
    assert paid == []


@pytest.mark.parametrize("count", [1, 2])
async def test_on_gate_that_cancels_itself_approves_nothing(count: int) -> None:
    """Its own cancellation is a failure of it: the run ends, no call of the batch runs."""

    async def on_gate(gate: Any) -> Any:
        raise asyncio.CancelledError

    lm = StaticSequence([calls(*[("pay", {"order": "1"})] * count), "done"])
    with pytest.raises(HookError, match="on_gate was cancelled from inside"):
        await agent(lm, pay).invoke(prompt="go", on_gate=on_gate)
    assert (paid, len(lm.requests)) == ([], 1)


async def test_the_runs_own_time_stands_still_while_a_gate_is_open() -> None:
    """The limit counts what is done, not how long a person thinks."""
    clock = ManualClock()
    gates = OpenGates(clock)

    @tool(idempotent=True)
    async def slow() -> str:
        """Take four seconds."""
        await clock.sleep(4)
        return "slow"

    lm = StaticSequence([calls(("slow", {})), calls(("pay", {"order": "1"})), calls(("slow", {})), "never"])
    limits = Limits(max_steps=9, max_tool_calls=9, timeout=7)
    loop = loop_of(agent(lm, slow, pay), answers=gates, limits=limits, clock=clock)
    task = asyncio.ensure_future(run(loop))
    await clock.advance(4)
    await clock.advance(3600)
    await gates.answer("approval:c1_2", True)
    await clock.advance(2.5)
    assert not task.done()
    await clock.advance(1)
    await task
    assert loop.outcome.stop_reason == "max_time"
    assert paid == ["1"]


async def test_a_callers_time_runs_on() -> None:
    """While a person is asked, too."""

    async def on_gate(gate: Any) -> bool:
        await asyncio.Event().wait()
        return True

    with pytest.raises(DeadlineExceededError):
        await agent([calls(("pay", {"order": "1"}))], pay).invoke(prompt="go", on_gate=on_gate, timeout=0.05)
    assert paid == []


@pytest.mark.parametrize(
    "options",
    [{"reason": ""}, {"reason": "Why?", "payload": object()}, {"reason": 1}]
    + [{"reason": "Why?", "timeout": timeout} for timeout in (float("nan"), "1", True, 10**400)],
)
async def test_a_question_must_be_one(options: dict[str, Any]) -> None:
    """A reason in words, a payload that is JSON, a timeout in seconds."""
    caught: list[Any] = []

    async def before(step: Any) -> None:
        try:
            await step.ask(**options)
        except InvalidValueError as error:
            caught.append(error.code)

    loop = loop_of(agent(["done"], before_step=before), answers=OpenGates())
    assert [event.type for event in await run(loop)] == ["text_delta"]
    assert caught == ["invalid_gate"]


async def test_a_timeout_in_a_tool_is_its_own_error() -> None:
    """It may catch it, and go on without an answer."""

    @tool(idempotent=True)
    async def patient(context: ToolContext) -> str:
        """Ask, or decide."""
        try:
            return "yes" if await context.ask("Really?", timeout=0.01) else "no"
        except GateTimeoutError:
            return "decided alone"

    loop = loop_of(agent([calls(("patient", {})), "done"], patient), answers=OpenGates())
    events = await run(loop)
    assert told(loop) == ["decided alone"]
    assert [event.is_error for event in events if isinstance(event, ToolEnd)] == [False]


def test_the_plain_form_of_a_gate() -> None:
    """As the page gets it: what is not there is left out, the payload is always there."""
    opened = GateOpen(id="g", reason="Why?", payload=None, schema={"type": "boolean"}, call_id="c1")
    assert encode(opened) == {
        "type": "gate_open",
        "id": "g",
        "reason": "Why?",
        "payload": None,
        "schema": {"type": "boolean"},
        "callId": "c1",
    }
