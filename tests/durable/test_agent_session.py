"""A conversation as its users see it."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from langfx_web.agent import Agent
from langfx_web.agentic import Limits
from langfx_web.durable import Accepted, TurnResult
from langfx_web.errors import InputTooLargeError, InvalidArgumentError, InvalidValueError, JournalVersionError
from langfx_web.events import TextDelta
from langfx_web.llms import ModelSettings, current_session_id
from langfx_web.messages import AIMessage, Image, SystemMessage, Text, ToolCall, ToolMessage, UserMessage
from langfx_web.stores import Batch, Creation, MemoryStore, Unique
from langfx_web.testing import Echo, StaticSequence
from langfx_web.tools import ToolContext, tool
from langfx_web.usage import Usage
from tests.durable.faults import settle
from tests.durable.scene import Scene, SpokenModel, calls, said, spoken, types
from tests.messages.pictures import PNG


async def test_a_prompt_in_a_new_session() -> None:
    """Row 1: its deltas come as they are, the id is there once the prompt is stored, the result tells end and cost."""
    scene = Scene()
    lm = StaticSequence([AIMessage("Hello you", usage=Usage(input_tokens=3, output_tokens=2))], chunk_size=4)
    session = scene.session(lm, None)
    turn = session.prompt("Hi")
    assert session.id is None
    accepted = await turn.accepted
    assert accepted == Accepted(message_id=turn.message_id, session_id=session.id or "")
    assert [event async for event in turn] == [TextDelta(delta="Hell"), TextDelta(delta="o yo"), TextDelta(delta="u")]
    assert await turn.result == TurnResult(
        message_id=turn.message_id,
        stop_reason="end_turn",
        usage=Usage(input_tokens=3, output_tokens=2),
        error=None,
        epoch=1,
        repeated=False,
    )
    assert await turn.accepted == accepted
    assert said(lm.requests[0]) == ["Hi"]


async def test_the_lines_of_a_session() -> None:
    """Row 2: numbered 1, 2, 3 … from `turn_start` to `turn_end`, with the same bytes however often they are read."""
    scene = Scene()
    session = scene.session(["one", calls(("find", "x")), "two"])
    await session.prompt("a", message_id="m-1").result
    turn = session.prompt("b", message_id="m-2")
    await turn.result
    stored = await scene.texts()
    reads = []
    for reader in (session, session, scene.session(["unused"])):
        async with aclosing(reader.stream(0).batches()) as batches:
            reads.append([line.text for line in await anext(batches)])
    assert reads == [stored] * 3
    lines = [json.loads(text) for text in stored]
    assert [line["cursor"] for line in lines] == list(range(1, 9))
    assert [(line["type"], line["messageId"], line["epoch"]) for line in lines] == [
        ("turn_start", "m-1", 1),
        ("text_delta", "m-1", 1),
        ("turn_end", "m-1", 1),
        ("turn_start", "m-2", 2),
        ("tool_start", "m-2", 2),
        ("tool_end", "m-2", 2),
        ("text_delta", "m-2", 2),
        ("turn_end", "m-2", 2),
    ]


async def test_what_the_lines_of_a_turn_say() -> None:
    """A turn's start has the prompt, its end the stop reason; each call has one start and one end."""
    scene = Scene()
    session = scene.session([calls(("find", "x"), text="Wait."), "Found."])
    await session.prompt("b", message_id="m").result
    lines = [json.loads(text) for text in await scene.texts()]
    assert [line["type"] for line in lines] == [
        "turn_start", "text_delta", "tool_start", "tool_end", "text_delta", "turn_end"
    ]  # fmt: skip
    assert (lines[0]["sessionId"], lines[0]["input"]) == ("s", "b")
    assert (lines[2]["name"], lines[2]["input"], lines[2]["rerun"]) == ("find", {"item": "x"}, False)
    assert (lines[3]["content"], lines[3]["isError"]) == ("found x", False)
    assert lines[2]["executionId"] == lines[3]["executionId"]
    assert (lines[5]["stopReason"], "error" in lines[5], "repeated" in lines[5]) == ("end_turn", False, False)


async def test_streaming_from_a_cursor() -> None:
    """Row 3: exactly the lines after it, also those to come; a wrong cursor raises before anything is opened."""
    scene = Scene()
    session = scene.session(["one", "two"])
    await session.prompt("a").result
    async with aclosing(session.stream(2).batches()) as batches:
        assert [line.cursor for line in await anext(batches)] == [3]
        later = asyncio.ensure_future(anext(batches))
        await settle()
        assert not later.done()
        await session.prompt("b").result
        assert [line.cursor for line in await later] == [4]
    scene.store.calls.clear()
    for cursor in (-1, 1.5, "1", None):
        with pytest.raises(InvalidValueError) as caught:
            session.stream(cursor)  # type: ignore[arg-type]  # that is what is refused
        assert caught.value.code == "invalid_cursor"
    assert scene.store.calls == []


async def test_two_sessions_at_once() -> None:
    """Row 4: they run side by side and never mix."""
    scene = Scene()
    models = {id: SpokenModel() for id in "st"}
    sessions = {id: scene.session(model, id) for id, model in models.items()}
    turns = {id: session.prompt(f"prompt of {id}", message_id="m") for id, session in sessions.items()}
    await settle()
    for word in ("a", "b"):
        for id, model in models.items():
            model.say(f"{word} of {id} ")
        await settle()
    for model in models.values():
        model.finish()
    for id, turn in turns.items():
        assert await spoken(turn) == f"a of {id} b of {id} "
        assert said(models[id].requests[0]) == [f"prompt of {id}"]
        messages = await sessions[id].messages()
        assert [message.text for message in messages] == [f"prompt of {id}", f"a of {id} b of {id} "]


async def test_making_a_session_does_nothing() -> None:
    """Row 5: no store is touched before the first use."""
    scene = Scene()
    session = scene.session([])
    scene.session([], None)
    await settle()
    assert (session.id, scene.store.calls) == ("s", [])


@pytest.mark.parametrize("id", ["", "x" * 129, " ", "."])
async def test_wrong_session_ids(id: str) -> None:
    """Row 6: they raise where the session is made."""
    with pytest.raises(InvalidValueError) as caught:
        Scene().session([], id)
    assert caught.value.code == "invalid_session_id"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("model", "x" * 1025),
        ("model", 7),
        ("model", {"effort": "very high"}),
        ("instructions", "x" * (64 * 1024 + 1)),
        ("context", {"a": object()}),
        ("context", {"a": float("nan")}),
        ("context", 7),
    ],
)
async def test_wrong_options(option: str, value: Any) -> None:
    """They raise where the session is made, and name the option."""
    with pytest.raises(InvalidArgumentError) as caught:
        Scene().session([], **{option: value})
    assert caught.value.details["option"] == option


async def test_settings_hold_for_the_object_that_gave_them() -> None:
    """Row 9: model, instructions and context of a session object go with its prompts only, whoever runs them."""
    scene = Scene()
    lm = StaticSequence(["1", calls(("find", "x")), "2", "3"])
    agent = scene.agent(lm, instructions="Be kind.")
    plain = scene.session(agent)
    special = scene.session(agent, model="large", instructions="Be brief.", context={"user": "u-1"})
    await plain.prompt("a").result
    await special.prompt("b").result
    await plain.prompt("c").result
    assert [said(request)[0] for request in lm.requests] == ["Be kind.", "Be brief.", "Be brief.", "Be kind."]
    assert [context.context for context in scene.workshop.contexts] == [{"user": "u-1"}]
    starts = [record for record in (await scene.store.load("s")).records if b'"turn_start"' in record.data]
    assert [json.loads(record.data)["model"] for record in starts] == ["StaticSequence", "large", "StaticSequence"]


async def test_durable_08_a_setting_that_the_model_lacks_ends_the_turn() -> None:
    """An effort that the agent's `models` rule out ends each such turn with its code; nothing is sent, no tool runs."""
    scene = Scene()
    lm = StaticSequence(["unused", "unused"])
    agent = Agent(lm=lm, models={"large": {"efforts": ["low"]}}, tools=scene.workshop.tools())
    session = agent.session("s", store=scene.store, model={"id": "large", "effort": "max"})
    for _ in range(2):
        result = await session.prompt("a").result
        assert result.stop_reason == "error"
        assert result.error is not None
        assert (result.error.code, result.error.retryable) == ("model_unsupported_effort", False)
    assert (lm.requests, scene.workshop.ledger) == ([], [])


async def test_settings_of_a_model_are_stored_with_the_prompt() -> None:
    """As JSON, so that whoever runs the turn asks the model in the same way."""
    scene = Scene()
    lm = StaticSequence(["1", "2"])
    agent = scene.agent(lm)
    await scene.session(agent, model=ModelSettings("large", effort="low")).prompt("a").result
    await scene.session(agent, model="large").prompt("b").result
    records = [json.loads(record.data) for record in (await scene.store.load("s")).records]
    stored = [record["settings"]["model"] for record in records if record["kind"] == "input"]
    assert stored == [{"id": "large", "effort": "low"}, "large"]
    assert [request.options.reasoning_effort for request in lm.requests] == ["low", None]


async def test_a_tool_cannot_change_the_context() -> None:
    """Row 10: later calls, and the object that was handed in, see the original."""
    scene = Scene()
    seen: list[Any] = []

    @tool(idempotent=True)
    def look(context: ToolContext) -> str:
        """Look."""
        seen.append(json.loads(json.dumps(context.context)))
        context.context["list"].append("changed")
        return "ok"

    given = {"list": ["original"]}
    asks = AIMessage(ToolCall("call", "look", {}))
    session = scene.session([asks, asks, "done"], tools=[look], context=given)
    given["list"].append("later")
    await session.prompt("a").result
    assert seen == [{"list": ["original"]}] * 2


@pytest.mark.parametrize("wrong", ["", " ", [], None, [7], AIMessage("x")])
async def test_wrong_input(wrong: Any) -> None:
    """Row 11: it raises at once, nothing is stored, and the session goes on working."""
    scene = Scene()
    session = scene.session(["fine"])
    with pytest.raises(InvalidValueError) as caught:
        session.prompt(wrong)
    assert caught.value.code == "invalid_input"
    await settle()
    assert scene.store.calls == []
    assert (await session.prompt("a").result).stop_reason == "end_turn"


async def test_too_large_input() -> None:
    """Rows 11 and 91: over 8 MiB with its context and settings is refused, and nothing is stored."""
    scene = Scene()
    half = "x" * (4 * 1024 * 1024)
    session = scene.session([], context={"half": half})
    with pytest.raises(InputTooLargeError):
        session.prompt(half)
    with pytest.raises(InvalidValueError) as caught:
        session.prompt("a", message_id="with blank")
    assert caught.value.code == "invalid_message_id"
    assert scene.store.calls == []


async def test_the_largest_input() -> None:
    """Row 91: 8 MiB of any text are stored and answered; the line that shows the prompt has its beginning."""
    scene = Scene()
    lm = StaticSequence(["ok"])
    session = scene.session(lm)
    text = "\x01" * ((8 * 1024 * 1024 - 100) // 6)
    turn = session.prompt(text)
    assert (await turn.result).stop_reason == "end_turn"
    assert said(lm.requests[0]) == [text]
    (start,) = [line.plain["input"] async for line in turn.lines if line.type == "turn_start"]
    assert start == text[: 1024 * 1024]


async def test_without_instructions_and_tools() -> None:
    """Row 12: no system message is sent."""
    scene = Scene()
    lm = StaticSequence(["ok", "ok"])
    await scene.session(lm, tools=[]).prompt("a").result
    await scene.session(lm, tools=[], instructions="Be kind.").prompt("b").result
    assert [type(message) for message in lm.requests[0].messages] == [UserMessage]
    assert [type(message) for message in lm.requests[1].messages] == [
        SystemMessage, UserMessage, AIMessage, UserMessage
    ]  # fmt: skip


async def test_a_second_view() -> None:
    """Row 13: every view of a turn shows the same events, begun early or late, in this worker or another."""
    scene = Scene()
    lm = SpokenModel()
    first = scene.session(lm).prompt("a", message_id="m")
    early = asyncio.ensure_future(spoken(first))
    await settle()
    lm.say("one ")
    await settle()
    second = scene.session(lm).prompt("a", message_id="m")
    middle = asyncio.ensure_future(spoken(second))
    await settle()
    lm.say("two")
    lm.finish()
    assert [await early, await middle, await spoken(first), await spoken(second)] == ["one two"] * 4
    assert len(lm.requests) == 1


async def test_messages() -> None:
    """Row 14: the conversation as messages, equal for every object, mid turn too, without touching anything."""
    scene = Scene()
    session = scene.session(["Hello", calls(("slow_find", "x")), "Bye"])
    assert await session.messages() == []
    await session.prompt([Text("Hi"), Text("!")], message_id="m").result
    turn = session.prompt("Again")
    await scene.workshop.started.wait()
    scene.store.calls.clear()
    mid = await scene.session([]).messages()
    assert scene.store.calls == ["load"]
    assert mid[:4] == [UserMessage("Hi", "!"), AIMessage("Hello"), UserMessage("Again"), calls(("slow_find", "x"))]
    scene.workshop.done.set()
    await turn.result
    messages = await session.messages()
    assert messages[4:] == [
        ToolMessage("done slow_find x", call_id="call_1", name="slow_find"),
        AIMessage("Bye"),
    ]
    assert await scene.session([]).messages() == messages
    assert messages[0].id == "m"


async def test_a_model_sees_the_whole_conversation() -> None:
    """Each turn goes on from all the turns before it, read back from the store by another worker too."""
    scene = Scene()
    await scene.session([calls(("find", "x")), "Found"]).prompt("Find x").result
    lm = Echo("You said: ")
    await scene.session(lm).prompt("Thanks").result
    assert said(lm.requests[0]) == ["Find x", "", "found x", "Found", "Thanks"]
    assert [message.text for message in await scene.session([]).messages()][-1] == "You said: Thanks"


async def test_the_session_that_a_credential_is_asked_for() -> None:
    """Who loads a key learns which conversation it is for."""
    scene = Scene()
    seen: list[str | None] = []

    def answer(request: object) -> str:
        seen.append(current_session_id.get())
        return "ok"

    await scene.session([answer], "s-1").prompt("a").result
    assert (seen, current_session_id.get()) == (["s-1"], None)


async def test_the_limits_of_a_turn() -> None:
    """Row 114: 50 steps by default, and the agent's own where it has some; calls that nobody could read are not run."""
    scene = Scene()
    session = scene.session(StaticSequence([calls(("find", "x"))], repeat=True))
    assert (await session.prompt("a").result).stop_reason == "max_steps"
    assert len(scene.workshop.ledger) == 49
    few = scene.session(StaticSequence([calls(("pay", "x"))], repeat=True), "t", limits=Limits(max_steps=2))
    turn = few.prompt("a")
    assert (await turn.result).stop_reason == "max_steps"
    assert scene.workshop.ledger[49:] == ["pay x"]
    assert await types(turn) == ["turn_start", "tool_start", "tool_end", "tool_end", "turn_end"]


async def test_a_newer_release_wrote_it() -> None:
    """Row 90: nothing is changed, and whoever wants to go on or read is told."""
    scene = Scene()
    newer = Batch(unique=Unique("m", "{}"), create=Creation(agent="a", preview=""), records=(b'{"v":2}',))
    await scene.store.append("s", newer)
    before = await scene.store.load("s")
    session = scene.session([])
    turn = session.prompt("a")
    with pytest.raises(JournalVersionError):
        await turn.accepted
    with pytest.raises(JournalVersionError):
        await turn.result
    with pytest.raises(JournalVersionError):
        await session.messages()
    assert await scene.store.load("s") == before


async def test_it_works_on_a_plain_store() -> None:
    """Nothing but a store is needed: ids, clock and hints have sensible defaults."""
    scene = Scene()
    session = scene.agent(["Hello"]).session(store=MemoryStore())
    turn = session.prompt("Hi")
    assert await spoken(turn) == "Hello"
    assert (await turn.result).stop_reason == "end_turn"
    assert session.id is not None
    assert (session.id[:4], len(session.id), turn.message_id[:4]) == ("ses_", 30, "msg_")


async def test_bug_093_a_picture_is_stored_and_sent_again() -> None:
    """As base64 in the journal, in no line; a later turn, of another worker too, has it in its history."""
    scene = Scene()
    picture = Image.from_bytes(PNG, "image/jpeg")
    prompt = [{"type": "image", "mimeType": "image/gif", "data": PNG}]
    await scene.session(["A dot."]).prompt(prompt).result
    loaded = await scene.store.inner.load("s")
    assert loaded is not None
    assert f'"mimeType":"image/png","data":"{picture.base64}"'.encode() in b"".join(
        record.data for record in loaded.records
    )
    assert not any(picture.base64[:40] in text for text in await scene.texts())
    lm = StaticSequence(["Still a dot."])
    await scene.session(lm).prompt(["And now? ", picture]).result
    assert [message.modalities for message in lm.requests[0].messages] == [(picture,), (), (picture,)]


async def test_bug_093_a_picture_of_a_tool_is_stored_and_sent_again() -> None:
    """The model sees it with the call's result, in later turns too; the line of the call has its text only."""
    scene = Scene()
    picture = Image.from_bytes(PNG)

    @tool(idempotent=True)
    def look() -> list[str | Image]:
        """Look."""
        return ["There: ", picture]

    lm = StaticSequence([AIMessage(ToolCall("c1", "look", {})), "A dot.", "Still."])
    await scene.session(lm, tools=[look]).prompt("a").result
    await scene.session(lm, tools=[look]).prompt("b").result
    shown = ToolMessage("There: ", picture, call_id="c1", name="look")
    assert [request.messages[2] for request in lm.requests[1:]] == [shown, shown]
    ends = [json.loads(text) for text in await scene.texts() if '"type":"tool_end"' in text]
    assert [end["content"] for end in ends] == ["There: "]


async def test_a_model_that_cannot_see_ends_the_turn_before_anything_is_sent() -> None:
    """The turn's error says why, and the conversation goes on."""
    scene = Scene()
    blind = StaticSequence(["Of what?"], capabilities={"images": False})
    result = await scene.session(blind).prompt([Image.from_bytes(PNG)]).result
    assert result.error is not None
    assert (result.stop_reason, result.error.code, blind.requests) == ("error", "unsupported_capability", [])
    assert (await scene.session(blind).prompt("And without?").result).stop_reason == "end_turn"
