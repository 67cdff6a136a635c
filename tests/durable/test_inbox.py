"""Message ids, and cancelling what has not begun."""

from __future__ import annotations

import json

import pytest

from langfx_web.errors import (
    MessageIdInUseError,
    RateLimitError,
    StoreError,
)
from langfx_web.testing import StaticSequence
from tests.durable.faults import settle
from tests.durable.scene import Scene, SpokenModel, names, types


async def test_a_repeat_of_a_running_prompt() -> None:
    """Row 26: from the same worker or another, it follows the original: one request, the same events, `repeated`."""
    scene = Scene()
    lm = SpokenModel()
    session, other = scene.session(lm), scene.session(lm)
    turns = [session.prompt("a", message_id="m")]
    await settle()
    turns += [session.prompt("other words", message_id="m"), other.prompt("a", message_id="m")]
    await settle()
    lm.say("Hello")
    lm.finish()
    results = [await turn.result for turn in turns]
    assert [result.repeated for result in results] == [False, True, True]
    assert {(result.stop_reason, result.epoch) for result in results} == {("end_turn", 1)}
    assert [await types(turn) for turn in turns] == [["turn_start", "text_delta", "turn_end"]] * 3
    assert [await turn.line_count for turn in turns] == [3] * 3
    assert len(lm.requests) == 1


async def test_a_repeat_of_a_waiting_prompt() -> None:
    """Row 26: it is answered once, in its turn."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    first = session.prompt("a")
    turns = [session.prompt("b", message_id="m"), session.prompt("b", message_id="m")]
    await settle()
    for _ in range(2):
        lm.finish()
        lm.say("ok")
    results = [await turn.result for turn in turns]
    assert [result.repeated for result in results] == [False, True]
    assert len(lm.requests) == 2
    assert (await first.result).repeated is False


async def test_a_repeat_of_an_ended_prompt() -> None:
    """Row 27: one `turn_end` without a number, marked, with the same result or error; nothing is asked or written."""
    scene = Scene()
    lm = StaticSequence(["ok", RateLimitError("no")], max_attempts=1)
    session = scene.session(lm)
    originals = [await session.prompt(id, message_id=id).result for id in ("good", "bad")]
    written = len(await scene.kinds())
    for again in (session, scene.session(lm)):
        for original in originals:
            turn = again.prompt("again", message_id=original.message_id)
            result = await turn.result
            assert result.repeated is True
            assert (result.stop_reason, result.error, result.epoch) == (
                original.stop_reason,
                original.error,
                original.epoch,
            )
            (line,) = [line async for line in turn.lines]
            assert (line.type, line.cursor, line.plain["repeated"], line.message_id) == (
                "turn_end",
                None,
                True,
                original.message_id,
            )
            assert [event async for event in turn] == []
            assert await turn.line_count == 1
    assert (len(lm.requests), len(await scene.kinds())) == (2, written)


async def test_one_id_from_two_workers_at_once() -> None:
    """Row 28: it is stored and answered once."""
    scene = Scene()
    lm = StaticSequence(["ok"])
    turns = [scene.session(lm).prompt("a", message_id="m") for _ in range(4)]
    results = [await turn.result for turn in turns]
    assert sorted(result.repeated for result in results) == [False, True, True, True]
    assert ((await scene.kinds()).count("input"), len(lm.requests)) == (1, 1)


async def test_an_id_of_another_kind() -> None:
    """Row 29: the id of an input of another kind is in use."""
    scene = Scene()
    session = scene.session(["ok", "ok"])
    await session.prompt("a").result
    await session.cancel()
    taken = json.loads((await scene.store.load("s")).records[-1].data)["message_id"]
    with pytest.raises(MessageIdInUseError):
        await session.prompt("b", message_id=taken).accepted
    assert (await session.prompt("b").result).stop_reason == "end_turn"


@pytest.mark.parametrize("is_alone", [True, False])
async def test_a_first_submission_is_no_repeat(is_alone: bool) -> None:
    """Row 31: a lost acknowledgement and the retry after it do not make one; it is stored and answered once."""
    scene = Scene()
    scene.store.fail(names('"message_id":"m"'), StoreError("lost"), is_committed=True)
    lm = StaticSequence(["before", "ok"] if not is_alone else ["ok"])
    session = scene.session(lm)
    if not is_alone:
        session.prompt("before")
    turn = session.prompt("a", message_id="m")
    await settle()
    await scene.clock.advance(1)
    result = await turn.result
    assert (result.repeated, result.stop_reason) == (False, "end_turn")
    assert (await scene.kinds()).count("input") == (1 if is_alone else 2)
    assert len(lm.requests) == (1 if is_alone else 2)


async def test_cancelling_nothing() -> None:
    """Row 45: with nothing open it is `none`, makes no session, and hits no later prompt."""
    scene = Scene()
    session = scene.session(["ok", "ok"])
    assert (await session.cancel(), await session.cancel("m")) == ("none", "none")
    assert await scene.store.head("s") is None
    await session.prompt("a").result
    assert await session.cancel() == "none"
    assert (await session.prompt("b").result).stop_reason == "end_turn"


async def test_cancelling_a_waiting_prompt() -> None:
    """Row 46: it never runs and ends at once, though another turn is still running; that one goes on."""
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(lm)
    first = session.prompt("a", message_id="m-a")
    waiting = session.prompt("b", message_id="m-b")
    await waiting.accepted
    assert await session.cancel("m-b") == "cancelled"
    result = await waiting.result
    assert (result.stop_reason, await types(waiting), await waiting.line_count) == ("cancelled", ["turn_end"], 1)
    lm.say("Hello")
    lm.finish()
    assert (await first.result).stop_reason == "end_turn"
    assert (len(lm.requests), await first.line_count, await types(first)) == (
        1,
        3,
        ["turn_start", "text_delta", "turn_end"],
    )
    head = await scene.store.head("s")
    assert head is not None
    assert (head.pending, head.open, head.holder) == (0, False, None)


async def test_cancelling_a_waiting_prompt_of_another_worker() -> None:
    """Row 46: whoever runs the turn before it ends it."""
    scene = Scene()
    lm = SpokenModel()
    scene.session(lm).prompt("a")
    await settle()
    waiting = scene.session(lm).prompt("b", message_id="m-b")
    await waiting.accepted
    assert await scene.session(lm).cancel("m-b") == "cancelled"
    assert (await waiting.result).stop_reason == "cancelled"
    assert len(lm.requests) == 1


async def test_cancelling_a_prompt_that_has_yet_to_come() -> None:
    """Row 46: it applies whichever lands first."""
    scene = Scene()
    lm = StaticSequence(["ok", "unused"])
    session = scene.session(lm)
    await session.prompt("a").result
    assert await session.cancel("m-b") == "cancelled"
    assert (await session.prompt("b", message_id="m-b").result).stop_reason == "cancelled"
    assert len(lm.requests) == 1


async def test_cancelling_what_has_ended() -> None:
    """Row 46: nothing happens to it, and nothing is stored."""
    scene = Scene()
    session = scene.session(["ok", "ok"])
    await session.prompt("a", message_id="m").result
    written = len(await scene.kinds())
    assert await session.cancel("m") == "none"
    assert len(await scene.kinds()) == written
