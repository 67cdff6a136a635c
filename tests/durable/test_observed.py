"""Observers of stored conversations."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web import Agent, Observer
from langfx_web.durable import Turn
from langfx_web.errors import StoreError
from langfx_web.observation import (
    ObservedEvent,
    ObservedJournalCommit,
    ObservedJournalError,
    ObservedJournalRestore,
    ObservedModelRequest,
    ObservedText,
    ObservedToolStart,
    ObservedTurnEnd,
    ObservedTurnStart,
)
from langfx_web.testing import StaticSequence
from tests.durable.scene import Scene, SpokenModel, calls, types

SECRET = "the user's own words"


def agent(scene: Scene, observer: Observer | None, answers: Any = None) -> Agent:
    """One that looks something up, and answers."""
    lm = answers or StaticSequence([calls(("find", SECRET)), "It is here."])
    return Agent(lm=lm, name="support", tools=scene.workshop.tools(), observer=observer)


async def outcome(turn: Turn) -> tuple[list[str], str, Any]:
    """The lines of a turn and how it ended."""
    result = await turn.result
    return await types(turn), result.stop_reason, result.error


def raising(event: ObservedEvent) -> None:
    """Breaks at once."""
    raise ValueError("no")


async def rejecting(event: ObservedEvent) -> None:
    """Breaks later."""
    raise ValueError("no")


async def slow(event: ObservedEvent) -> None:
    """Never ends."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("on_event", [raising, rejecting, slow])
@pytest.mark.parametrize("content", [False, True])
async def test_durable_120_a_turn_is_the_same_whatever_its_observer_does(on_event: Any, content: bool) -> None:
    """It raises, rejects or never comes back: same lines, same end, same conversation."""
    scene, unseen = Scene(), Scene()
    errors: list[BaseException] = []
    observer = Observer(on_event, errors.append, capture_content=content)
    watched = scene.session(agent(scene, observer))
    alone = unseen.session(agent(unseen, None))
    assert await outcome(watched.prompt("go")) == await outcome(alone.prompt("go"))
    assert await watched.messages() == await alone.messages()
    assert await scene.kinds() == await unseen.kinds()
    await asyncio.sleep(0)
    assert bool(errors) == (on_event is not slow)


async def test_durable_120_content_is_there_only_when_captured_and_then_bounded() -> None:
    """Off, no event has a word of it; on, an event has 64 KiB of it at most, and says that it was cut."""
    for content in (False, True):
        heard: list[Any] = []
        scene = Scene()
        session = scene.session(agent(scene, Observer(heard.append, capture_content=content)))
        await session.prompt(SECRET + "x" * 70_000).result
        assert (SECRET in repr(heard)) == content
        (request, _) = [event for event in heard if isinstance(event, ObservedModelRequest)]
        assert request.content_truncated == content
        if content:
            (part,) = request.messages[0].parts
            assert part == ObservedText(text=(SECRET + "x" * 70_000)[: 64 * 1024])


async def test_a_turn_is_told_under_its_session_and_message_id() -> None:
    """Every prompt has a run of its own; what the journal tells belongs to no run."""
    heard: list[Any] = []
    scene = Scene()
    session = scene.session(agent(scene, Observer(heard.append), StaticSequence(["one", "two"])))
    await session.prompt("go", message_id="m-1").result
    await session.prompt("go", message_id="m-2").result
    starts = [event for event in heard if isinstance(event, ObservedTurnStart)]
    assert [(event.session_id, event.turn_id) for event in starts] == [("s", "m-1"), ("s", "m-2")]
    assert len({event.run_id for event in starts}) == 2
    journal = [event for event in heard if event.type.startswith("journal.")]
    assert {(event.session_id, event.turn_id, event.run_id) for event in journal} == {("s", None, None)}


async def test_a_turn_that_cannot_begin_is_told() -> None:
    """With the code of what is in its way; nothing is asked of a model."""
    heard: list[Any] = []
    scene = Scene()
    some = Agent(lm=StaticSequence([]), models={"large": {"efforts": ["low"]}}, observer=Observer(heard.append))
    session = some.session("s", store=scene.store, model={"id": "large", "effort": "max"})
    await session.prompt("go", message_id="m-1").result
    told = [event for event in heard if not event.type.startswith("journal.")]
    assert [(event.type, event.turn_id) for event in told] == [("turn.start", "m-1"), ("turn.end", "m-1")]
    assert (told[1].stop_reason, told[1].error_code) == ("error", "model_unsupported_effort")


async def test_commits_follow_one_another() -> None:
    """Each tells which records are stored, one after the other, and the last line."""
    heard: list[Any] = []
    scene = Scene()
    session = scene.session(agent(scene, Observer(heard.append)))
    await session.prompt("go").result
    commits = [event for event in heard if isinstance(event, ObservedJournalCommit)]
    head = await scene.store.inner.head("s")
    assert head is not None
    assert commits[0].first_seq == 1
    assert [event.first_seq for event in commits[1:]] == [event.last_seq + 1 for event in commits[:-1]]
    assert (commits[-1].last_seq, commits[-1].cursor) == (head.seq, head.cursor)
    assert [event.cursor for event in commits] == sorted(event.cursor for event in commits)
    first_tool = next(at for at, event in enumerate(heard) if isinstance(event, ObservedToolStart))
    assert any(isinstance(event, ObservedJournalCommit) for event in heard[:first_tool])


async def test_a_conversation_that_is_read_again_is_told() -> None:
    """By another worker: the records that it read, once."""
    heard: list[Any] = []
    scene = Scene()
    await scene.session(["one"]).prompt("go").result
    head = await scene.store.inner.head("s")
    assert head is not None
    session = scene.session(agent(scene, Observer(heard.append), StaticSequence(["two"])))
    await session.prompt("go on").result
    restored = [event for event in heard if isinstance(event, ObservedJournalRestore)]
    assert [(event.first_seq, event.last_seq, event.cursor) for event in restored] == [(1, head.seq, head.cursor)]


async def test_a_journal_that_fails_is_told_with_its_code() -> None:
    """And the turn has ended for the observer, too."""
    heard: list[Any] = []
    scene = Scene()
    lm = SpokenModel()
    session = scene.session(agent(scene, Observer(heard.append), lm))
    turn = session.prompt("go")
    await turn.accepted
    scene.store.fail(lambda batch: True, StoreError("full", code="store_full"))
    lm.say("a")
    lm.finish()
    assert (await turn.result).stop_reason == "error"
    assert [event.error_code for event in heard if isinstance(event, ObservedJournalError)] == ["store_full"]
    assert len([event for event in heard if isinstance(event, ObservedTurnEnd)]) == 1
