"""The bounded loop: ask, run tools, decide; every call has one result, every limit its own end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web import Limits, Session
from langfx_web.agentic import NullRecorder
from langfx_web.errors import (
    BudgetExceededError,
    ContentFilteredError,
    DeadlineExceededError,
    IncompleteGenerationError,
    TemporaryLMError,
)
from langfx_web.events import TextDelta, ThoughtDelta, ToolEnd, ToolStart, encode
from langfx_web.messages import AIMessage, SystemMessage, Thought, ToolCall, ToolMessage, UserMessage
from langfx_web.testing import Echo, ManualClock, StaticSequence
from langfx_web.tools import tool
from langfx_web.usage import Usage
from tests.agentic.trial import SteppedClock, agent, calls, double, loop_of, run


async def test_langfx_56_text_alone_ends_the_turn() -> None:
    """One request, its text as deltas, the answer in the transcript."""
    lm = Echo("You said: ", chunk_size=5)
    loop = loop_of(agent(lm, instructions="Be brief."))
    assert "".join(event.delta for event in await run(loop)) == "You said: go"
    assert loop.outcome.stop_reason == "end_turn"
    assert loop.transcript == [SystemMessage("Be brief."), UserMessage("go"), AIMessage("You said: go")]
    assert lm.requests[0].messages[0] == SystemMessage("Be brief.")


async def test_langfx_56_a_call_is_run_and_its_result_told() -> None:
    """Start, end, result by id, then the next request carries both."""
    lm = StaticSequence([calls(("double", {"n": 4}), text="Let me see. "), "It is 8."])
    loop = loop_of(agent(lm), clock=ManualClock())
    events = [encode(event) for event in await run(loop)]
    assert [event["type"] for event in events] == ["text_delta", "tool_start", "tool_end", "text_delta"]
    assert events[1] == {
        "type": "tool_start",
        "id": "c1",
        "executionId": "exe_1",
        "name": "double",
        "checksum": events[2]["checksum"],
        "startedAt": "2026-01-01T00:00:00.000+00:00",
        "input": {"n": 4},
        "rerun": False,
    }
    assert (events[2]["content"], events[2]["isError"], events[2]["durationMs"]) == ("8", False, 0)
    assert lm.requests[1].messages[-1] == ToolMessage("8", call_id="c1", name="double")
    assert loop.outcome.message.text == "It is 8."


async def test_thoughts_are_shown_and_kept() -> None:
    """As deltas, and as parts of the transcript with their payload."""
    thought = Thought("hm", payload={"s": 1}, replay_compatibility="tag")
    loop = loop_of(agent(StaticSequence([AIMessage(thought, "ok")])))
    assert await run(loop) == [ThoughtDelta(delta="hm"), TextDelta(delta="ok")]
    assert loop.transcript[-1].parts[0] == thought


async def test_bad_calls_do_not_stop_good_ones() -> None:
    """Unknown, bad arguments, unreadable, failing and good in one batch: five results in call order."""
    reply = AIMessage(
        ToolCall("a", "nope", {}),
        ToolCall("b", "double", {"n": "4"}),
        ToolCall("c", "double", None, raw_args='{"n"'),
        ToolCall("d", "fail", {}),
        ToolCall("e", "double", {"n": 1}),
    )
    lm = StaticSequence([reply, "done"])
    events = await run(loop_of(agent(lm)))
    results = lm.requests[1].messages[-5:]
    assert [(result.call_id, result.is_error) for result in results] == [
        ("a", True),
        ("b", True),
        ("c", True),
        ("d", True),
        ("e", False),
    ]
    assert results[0].text == "Error: there is no tool 'nope'. Available: double, fail."
    assert "n: int is wanted, not a str" in results[1].text
    assert results[3].text == "no such order"
    assert [event.id for event in events if isinstance(event, ToolStart)] == ["d", "e"]
    ends = {event.id: event.error_code for event in events if isinstance(event, ToolEnd)}
    assert ends == {
        "a": "tool_not_found",
        "b": "tool_arguments_invalid",
        "c": "tool_arguments_invalid",
        "d": "tool_failed",
        "e": None,
    }


async def test_a_long_result_is_marked_as_cut() -> None:
    """In its event, and in what the model is told; a short one carries no mark."""

    @tool(idempotent=True)
    def read(lines: int) -> str:
        """Read."""
        return "line\n" * lines

    lm = StaticSequence([calls(("read", {"lines": 20_000}), ("read", {"lines": 1})), "done"])
    ends = [event for event in await run(loop_of(agent(lm, read))) if isinstance(event, ToolEnd)]
    assert [event.content_truncated for event in ends] == [True, None]
    assert lm.requests[1].messages[-2].text.endswith("[cut: the whole result has 100000 bytes]")


async def test_langfx_63_calls_decide_not_the_finish_reason() -> None:
    """`stop` with calls runs them, `tool_calls` without one ends the turn."""
    lm = StaticSequence(
        [calls(("double", {"n": 1}), finish_reason="stop"), AIMessage("end", finish_reason="tool_calls")]
    )
    loop = loop_of(agent(lm))
    assert any(isinstance(event, ToolEnd) for event in await run(loop))
    assert (loop.outcome.stop_reason, len(lm.requests)) == ("end_turn", 2)


async def test_langfx_63_a_pause_is_one_more_step() -> None:
    """The conversation goes back as it is."""
    lm = StaticSequence([AIMessage("first ", finish_reason="pause"), "second"])
    loop = loop_of(agent(lm))
    await run(loop)
    assert [message.text for message in loop.transcript] == ["go", "first ", "second"]


async def test_langfx_63_the_output_limit_runs_no_call() -> None:
    """The cut reply stays, each of its calls is told of the limit."""
    lm = StaticSequence([calls(("double", {"n": 1}), text="half", finish_reason="length")])
    loop = loop_of(agent(lm))
    events = await run(loop)
    assert not [event for event in events if isinstance(event, ToolStart)]
    assert loop.outcome.stop_reason == "max_output_tokens"
    assert isinstance(loop.outcome.error, IncompleteGenerationError)
    assert loop.transcript[-2].text == "half"
    assert loop.transcript[-1].is_error


async def test_ids_used_before_become_new_ones() -> None:
    """A model that repeats an id in a later step gets distinct ids in call and result."""
    lm = StaticSequence([calls(("double", {"n": 1})), calls(("double", {"n": 2})), "done"])
    loop = loop_of(agent(lm))
    await run(loop)
    ids = [part.id for message in loop.transcript for part in message.tool_calls]
    assert ids == ["c1", "c1_2"]
    twice = AIMessage(ToolCall("c1", "double", {"n": 1}), ToolCall("c1", "double", {"n": 2}))
    loop = loop_of(agent([calls(("double", {"n": 1})), twice, "done"]))
    await run(loop)
    ids = [part.id for message in loop.transcript for part in message.tool_calls]
    assert ids == ["c1", "c1_3", "c1_2"]
    assert [message.call_id for message in loop.transcript if isinstance(message, ToolMessage)] == ids


@pytest.mark.parametrize(
    ("limits", "replies", "stop", "runs"),
    [
        (Limits(max_steps=1), 1, "max_steps", 0),
        (Limits(max_steps=2), 2, "max_steps", 1),
        (Limits(max_steps=9, max_tool_calls=2), 3, "max_tool_calls", 2),
        (Limits(max_steps=9, max_tool_calls=0), 1, "max_tool_calls", 0),
        (Limits(max_steps=9, max_total_tokens=25), 3, "max_total_tokens", 3),
    ],
)
async def test_langfx_58_limits_end_the_run_before_an_unread_call(limits, replies, stop, runs) -> None:
    """No call runs whose result no step could read; refused calls get an error result."""
    reply = calls(("double", {"n": 1}), usage=Usage(input_tokens=5, output_tokens=5, total_tokens=10))
    lm = StaticSequence([reply], repeat=True)
    loop = loop_of(agent(lm), limits=limits)
    events = await run(loop)
    assert (loop.outcome.stop_reason, len(lm.requests)) == (stop, replies)
    assert len([event for event in events if isinstance(event, ToolStart)]) == runs
    assert loop.outcome.usage.total_tokens == 10 * replies
    answered = {message.call_id for message in loop.transcript if isinstance(message, ToolMessage)}
    assert answered == {call.id for message in loop.transcript for call in message.tool_calls}


async def test_langfx_65_readers_run_together_and_a_writer_alone() -> None:
    """Neighbours that do not write overlap, up to the limit; results keep the call order."""
    running, most, order = 0, 0, []

    async def work(name: str) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(name)
        await asyncio.sleep(0.001)
        running -= 1

    @tool(idempotent=True)
    async def read(n: int) -> int:
        """Read."""
        await work(f"r{n}")
        return n

    @tool(idempotent=False)
    async def write() -> str:
        """Write."""
        assert running == 0
        await work("w")
        assert running == 1 - 1
        return "written"

    batch = [("read", {"n": n}) for n in range(5)] + [("write", {})] + [("read", {"n": n}) for n in range(5, 8)]
    lm = StaticSequence([calls(*batch), "done"])
    await run(loop_of(agent(lm, read, write), limits=Limits(max_steps=3, max_tool_calls=20, max_parallel_tools=4)))
    assert most == 4
    assert order.index("w") == 5
    results = [message.text for message in lm.requests[1].messages if isinstance(message, ToolMessage)]
    assert results == ["0", "1", "2", "3", "4", "written", "5", "6", "7"]


class SlowRecorder(NullRecorder):
    """Lets `call_starting` return only when told."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def call_starting(self, calls: Any) -> None:
        """Wait."""
        self.asked.set()
        await self.go.wait()


async def test_langfx_66_no_effect_before_its_record() -> None:
    """A tool starts only after the recorder has stored that it will."""
    ran = []

    @tool(idempotent=False)
    def pay() -> str:
        """Pay."""
        ran.append(True)
        return "paid"

    recorder = SlowRecorder()
    loop = loop_of(agent(StaticSequence([calls(("pay", {})), "done"]), pay), recorder=recorder)
    task = asyncio.ensure_future(run(loop))
    await recorder.asked.wait()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not ran
    recorder.go.set()
    await task
    assert ran == [True]


async def test_cancelling_closes_the_transcript() -> None:
    """The request or tool is cancelled, open calls get a result, nothing more is asked."""
    started = asyncio.Event()

    @tool(idempotent=False)
    async def slow() -> None:
        """Wait."""
        started.set()
        await asyncio.Event().wait()

    lm = StaticSequence([calls(("slow", {}), ("double", {"n": 1})), "never"])
    loop = loop_of(agent(lm, slow, double))
    task = asyncio.ensure_future(run(loop))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (loop.outcome.stop_reason, len(lm.requests)) == ("cancelled", 1)
    assert [message.is_error for message in loop.transcript[-2:]] == [True, True]


async def test_an_aborted_request_makes_the_cost_a_lower_bound() -> None:
    """Nobody knows what it cost."""
    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    asked = asyncio.Event()

    def slow(request: Any) -> str:
        asked.set()
        return "never"

    clock = ManualClock()
    lm = StaticSequence([calls(("double", {"n": 1}), usage=usage), slow], delay=60, clock=clock)
    loop = loop_of(agent(lm), limits=Limits(max_steps=3, max_tool_calls=3))
    task = asyncio.ensure_future(run(loop))
    await clock.advance(90)
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert loop.outcome.usage == usage.as_lower_bound()


async def test_a_model_error_ends_the_run() -> None:
    """As a value, with what it cost."""
    error = TemporaryLMError("busy", usage=Usage(input_tokens=3))
    loop = loop_of(agent(StaticSequence([error])))
    await run(loop)
    assert (loop.outcome.stop_reason, loop.outcome.error.code) == ("error", "temporary")
    assert loop.outcome.usage.input_tokens == 3


async def test_a_time_limit_stops_tools_and_requests() -> None:
    """Whatever runs is cancelled; each call has its end."""

    @tool(idempotent=True)
    async def slow() -> None:
        """Wait."""
        await asyncio.Event().wait()

    lm = StaticSequence([calls(("slow", {})), "never"])
    loop = loop_of(agent(lm, slow), limits=Limits(max_steps=5, max_tool_calls=5, timeout=0.02))
    events = await run(loop)
    assert loop.outcome.stop_reason == "max_time"
    assert [event.is_error for event in events if isinstance(event, ToolEnd)] == [True]


async def test_invoke_returns_the_text_or_the_message() -> None:
    """With the usage of the whole run."""
    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    replies = [calls(("double", {"n": 4}), usage=usage), AIMessage("8", usage=usage)]
    assert await agent(StaticSequence(replies)).invoke(prompt="4?") == "8"
    message = await agent(StaticSequence(replies)).invoke(prompt="4?", returns_message=True)
    assert (message.text, message.usage.total_tokens) == ("8", 4)


@pytest.mark.parametrize(
    ("reply", "limits", "error"),
    [
        (calls(("double", {"n": 1})), Limits(max_steps=1), BudgetExceededError),
        (AIMessage("x", finish_reason="length"), Limits(), IncompleteGenerationError),
        (ContentFilteredError("no"), Limits(), ContentFilteredError),
        (TemporaryLMError("busy"), Limits(), TemporaryLMError),
        ("late", Limits(timeout=0), DeadlineExceededError),
    ],
)
async def test_invoke_raises_what_ended_the_run(reply, limits, error) -> None:
    """Each stop reason has its own exception."""
    with pytest.raises(error) as caught:
        await agent(StaticSequence([reply]), limits=limits).invoke(prompt="x")
    if error is BudgetExceededError:
        assert caught.value.limit == "max_steps"


async def test_two_runs_of_one_agent_do_not_mix() -> None:
    """Each has its own transcript and counters."""
    shared = agent(Echo(chunk_size=1), limits=Limits(max_steps=1))
    assert await asyncio.gather(*(shared.invoke(prompt=f"p{n}") for n in range(5))) == [f"p{n}" for n in range(5)]


@pytest.mark.parametrize("reply", [AIMessage(), AIMessage(Thought("hm"))])
async def test_langfx_57_an_answer_without_text_and_calls_is_an_error(reply: AIMessage) -> None:
    """The model's own `empty_generation`."""
    loop = loop_of(agent([reply]))
    await run(loop)
    assert (loop.outcome.stop_reason, loop.outcome.error.code) == ("error", "empty_generation")


async def test_langfx_58_a_one_shot_run_has_8_steps_and_12_calls() -> None:
    """Unless its author says otherwise; none of a batch runs that would be over."""
    ran = []

    @tool(idempotent=True)
    def note(n: int) -> int:
        """Note."""
        ran.append(n)
        return n

    async def stopped_by(reply: AIMessage) -> str:
        ran.clear()
        with pytest.raises(BudgetExceededError) as caught:
            await agent(StaticSequence([reply], repeat=True), note).invoke(prompt="go")
        return caught.value.limit

    assert (await stopped_by(calls(("note", {"n": 1}))), len(ran)) == ("max_steps", 7)
    assert (await stopped_by(calls(*[("note", {"n": 1})] * 5)), len(ran)) == ("max_tool_calls", 10)
    assert (await stopped_by(calls(*[("note", {"n": 1})] * 13)), len(ran)) == ("max_tool_calls", 0)


async def test_langfx_70_many_steps_leave_nothing_behind() -> None:
    """Two hundred steps in one session: no task, timer or listener more than at the tenth."""
    clock = SteppedClock()
    counts = []

    def look(step: Any) -> None:
        counts.append((len(asyncio.all_tasks()), clock.open))

    lm = StaticSequence([calls(("double", {"n": 1}))] * 200 + ["done"], clock=clock)
    limits = Limits(max_steps=300, max_tool_calls=300, timeout=60)
    async with Session(timeout=120, clock=clock) as session, session.branch("action", "run") as view:
        loop = loop_of(agent(lm, before_step=look), limits=limits, clock=clock, session=view)
        await run(loop)
    assert loop.outcome.stop_reason == "end_turn"
    assert len(counts) == 201
    assert len(set(counts[9:])) == 1
    assert clock.open == 0
    assert clock.made < 201 + 10, "one timer bounds the run; the model has its own for each request"
