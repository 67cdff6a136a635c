"""Cancelling a turn that runs, and the calls of its replies."""

from __future__ import annotations

import asyncio

from langfx_web.durable.fold import AMBIGUOUS, NOT_RUN
from langfx_web.errors import (
    IncompleteGenerationError,
)
from langfx_web.messages import AIMessage, ToolCall
from langfx_web.testing import StaticSequence
from langfx_web.tools import tool
from tests.durable.faults import has, settle
from tests.durable.scene import Scene, SpokenModel, answers, calls, said, types


async def test_cancelling_while_text_streams() -> None:
    """Row 45: the request is aborted, what was said is kept, and a later prompt runs, told of it."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    turn = session.prompt("a")
    lm.say("I was ab")
    await settle()
    assert await session.cancel() == "cancelled"
    result = await turn.result
    assert (result.stop_reason, result.error, lm.aborted) == ("cancelled", None, 1)
    assert await types(turn) == ["turn_start", "text_delta", "turn_end"]
    later = session.prompt("b")
    lm.finish()
    lm.say("ok")
    await later.result
    assert said(lm.requests[1]) == ["a", "I was ab", "b"]
    assert lm.requests[1].messages[1].metadata == {"incomplete": True}


async def test_cancelling_from_another_worker() -> None:
    """Row 45: a cancel is an input like any other, heard of by whoever runs the turn."""
    scene = Scene()
    lm = SpokenModel()
    turn = scene.session(lm).prompt("a")
    await settle()
    assert await scene.session([]).cancel() == "cancelled"
    assert (await turn.result).stop_reason == "cancelled"


async def test_cancelling_a_cooperative_tool() -> None:
    """Row 48: it is told, queued calls never start, nothing more is asked; all calls have one result."""
    scene = Scene()
    lm = StaticSequence([calls(("slow_pay", "x"), ("pay", "y")), "later"])
    session = scene.session(lm)
    turn = session.prompt("a")
    await scene.workshop.started.wait()
    await session.cancel()
    assert (await turn.result).stop_reason == "cancelled"
    assert (scene.workshop.cancelled, scene.workshop.ledger, len(lm.requests)) == (1, ["slow_pay x"], 1)
    ends = [line.plain for line in [line async for line in turn.lines] if line.type == "tool_end"]
    assert [(end["isError"], end["errorCode"], end["content"]) for end in ends] == [
        (True, "interrupted", AMBIGUOUS),
        (True, "interrupted", NOT_RUN),
    ]
    assert await turn.line_count == len(await types(turn))


async def test_a_valid_request_after_a_cancel() -> None:
    """Row 53: the next request has the results of both open calls, together, behind their reply."""
    scene = Scene()
    lm = StaticSequence([calls(("slow_find", "x"), ("slow_find", "y")), "later"])
    session = scene.session(lm)
    turn = session.prompt("a")
    await scene.workshop.started.wait()
    await session.cancel()
    await turn.result
    await session.prompt("b").result
    assert [message.role for message in lm.requests[1].messages] == ["user", "assistant", "tool", "tool", "user"]


async def test_cancelling_a_stubborn_tool() -> None:
    """Rows 48 and 49: the turn ends within 1.5 s; what the tool gives afterwards is ignored and no noise."""
    scene = Scene()
    release = asyncio.Event()

    @tool(idempotent=False)
    async def stubborn(item: str) -> str:
        """Does not listen."""
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        raise ValueError("late")

    lm = StaticSequence([calls(("stubborn", "x")), "unused"])
    session = scene.session(lm, tools=[stubborn])
    turn = session.prompt("a")
    async for event in turn:
        if event.type == "tool_start":
            break
    await settle()
    await session.cancel()
    before = asyncio.get_running_loop().time()
    assert (await turn.result).stop_reason == "cancelled"
    assert asyncio.get_running_loop().time() - before < 1.5
    messages = await session.messages()
    release.set()
    await settle()
    assert await session.messages() == messages
    assert (answers(messages), len(lm.requests)) == ([AMBIGUOUS], 1)


async def test_a_tool_that_cancels_itself() -> None:
    """Row 50: that is a failed call, the turn goes on."""
    scene = Scene()

    @tool(idempotent=True)
    async def gives_up(item: str) -> str:
        """Gives up."""
        raise asyncio.CancelledError

    lm = StaticSequence([calls(("gives_up", "x")), "I see"])
    turn = scene.session(lm, tools=[gives_up]).prompt("a")
    assert (await turn.result).stop_reason == "end_turn"
    assert [message.is_error for message in lm.requests[1].messages if message.role == "tool"] == [True]  # type: ignore[attr-defined]


async def test_cancelling_during_a_barrier() -> None:
    """Row 51: what is being stored is stored whole, the call does not start, and its result says so."""
    scene = Scene()
    gate = scene.store.block(has("call_start"))
    session = scene.session([calls(("pay", "x")), "unused"])
    turn = session.prompt("a")
    await gate.reached.wait()
    assert await session.cancel() == "cancelled"
    await settle()
    gate.open()
    assert (await turn.result).stop_reason == "cancelled"
    assert scene.workshop.ledger == []
    assert (await scene.kinds()).count("call_start") == 1
    assert [kind for kind in await scene.kinds() if kind == "turn_end"] == ["turn_end"]


async def test_cancelling_before_the_start_is_known() -> None:
    """Row 18: a cancel that lands between reading the queue and claiming is obeyed before anything is asked."""
    scene = Scene()
    lm = StaticSequence(["one", "unused"])
    session = scene.session(lm)
    session.prompt("a")
    turn = session.prompt("b", message_id="m-b")
    gate = scene.store.block(lambda batch: has("turn_start")(batch) and not has("input")(batch))
    await gate.reached.wait()
    assert await session.cancel("m-b") == "cancelled"
    gate.open()
    assert (await turn.result).stop_reason == "cancelled"
    assert len(lm.requests) == 1


async def test_call_ids_may_repeat() -> None:
    """Row 111: in a later turn the same call id is another call, with an execution id of its own."""
    scene = Scene()
    lm = StaticSequence([calls(("pay", "x")), "one", calls(("pay", "y")), "two"])
    session = scene.session(lm)
    await session.prompt("a").result
    await session.prompt("b").result
    assert scene.workshop.ledger == ["pay x", "pay y"]
    assert len({context.execution_id for context in scene.workshop.contexts}) == 2
    ids = [message.call_id for message in lm.requests[-1].messages if message.role == "tool"]  # type: ignore[attr-defined]
    assert len(set(ids)) == 2


async def test_bad_calls_beside_a_good_one() -> None:
    """Row 112: an unknown name and bad arguments get error results, the good call runs."""
    scene = Scene()
    asked = AIMessage(
        ToolCall("c1", "nothing", {}), ToolCall("c2", "pay", {"item": 7}), ToolCall("c3", "pay", {"item": "x"})
    )
    lm = StaticSequence([asked, "done"])
    turn = scene.session(lm).prompt("a")
    assert (await turn.result).stop_reason == "end_turn"
    results = [message for message in lm.requests[1].messages if message.role == "tool"]
    assert [message.is_error for message in results] == [True, True, False]  # type: ignore[attr-defined]
    assert scene.workshop.ledger == ["pay x"]
    kinds = await types(turn)
    assert (kinds.count("tool_start"), kinds.count("tool_end")) == (1, 3)
    assert (await scene.session([]).messages())[2:5] == results


async def test_a_reply_at_the_output_limit() -> None:
    """Row 113: its text is kept, none of its calls runs."""
    scene = Scene()
    cut = AIMessage("I will pay", ToolCall("c1", "pay", {"item": "x"}))

    def answer(request: object) -> AIMessage:
        return cut.replace(finish_reason="length")

    session = scene.session([answer, "later"])
    turn = session.prompt("a")
    result = await turn.result
    assert (result.stop_reason, scene.workshop.ledger) == ("max_output_tokens", [])
    assert [message.text for message in await session.messages()] == ["a", "I will pay"]
    assert (await session.prompt("b").result).stop_reason == "end_turn"


async def test_calls_decide_not_the_finish_reason() -> None:
    """Row 113: a reply with calls that claims to be the end has its calls run."""
    scene = Scene()
    lying = calls(("pay", "x")).replace(finish_reason="stop")
    assert (await scene.session([lying, "done"]).prompt("a").result).stop_reason == "end_turn"
    assert scene.workshop.ledger == ["pay x"]


async def test_a_cut_stream_is_an_error() -> None:
    """Row 107: a stream without its end is never a short success."""
    scene = Scene()
    lm = SpokenModel()
    turn = scene.session(lm).prompt("a")
    lm.say("half")
    lm.fail(IncompleteGenerationError("cut"))
    result = await turn.result
    assert (result.stop_reason, result.error and result.error.code) == ("error", "incomplete_generation")


async def test_bug_069_a_stopped_turn_leaves_no_call_without_a_result() -> None:
    """What was answered stays, the other call is told to be interrupted, together before what the user says next."""
    scene = Scene()
    lm = StaticSequence([calls(("find", "a"), ("slow_find", "b"), text="ok"), "done"])
    chat = scene.session(lm)
    turn = chat.prompt("list files")
    await scene.workshop.started.wait()
    await chat.cancel()
    assert (await turn.result).stop_reason == "cancelled"
    assert (await chat.prompt("go on").result).stop_reason == "end_turn"
    asked, first, second, said = lm.requests[-1].messages[-4:]
    assert ([call.id for call in asked.tool_calls], asked.text) == (["call_1", "call_2"], "ok")
    assert (first.call_id, first.text, first.is_error) == ("call_1", "found a", False)
    assert (second.call_id, second.text, second.is_error) == ("call_2", AMBIGUOUS, True)
    assert said.text == "go on"
