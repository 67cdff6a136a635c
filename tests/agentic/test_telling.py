"""What a session tells of itself: log lines, progress, metadata, and observers of all of it."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from langfx_web import events
from langfx_web.agentic import Action, Session
from langfx_web.errors import InvalidArgumentError, RateLimitError
from langfx_web.events import SessionEvent
from langfx_web.messages import AIMessage
from langfx_web.testing import Echo, ManualClock, StaticSequence
from langfx_web.usage import Usage


class Report(Action):
    """Say how it goes, and ask."""

    async def call(self, session: Session) -> str:
        """Ask."""
        session.info("reading", pages=3)
        session.progress("half", 0.5, page=1)
        session.add_metadata(model="m")
        answer: str = await session.query("?")
        session.progress("done", 1)
        return answer


async def test_an_observer_is_told_all_that_happens() -> None:
    """In the order it happens, after it has; nodes as they are then, without what is below them."""
    lm = StaticSequence([AIMessage("s", usage=Usage(total_tokens=2))])
    told: list[SessionEvent] = []
    async with Session(lm=lm, clock=ManualClock()) as session:
        session.subscribe(told.append)
        await Report().invoke(session)
        top = session.root.id
        assert [event.type for event in told] == [
            "action_start",
            "log_added",
            "progress_update",
            "metadata_update",
            "query_start",
            "query_end",
            "progress_update",
            "action_end",
        ]
        assert {event.session_id for event in told} == {top}
        start, line, half, metadata, query_start, query_end, done, end = told
        assert (start.node.id, start.node.status, end.node.status) == (f"{top}/a1", "running", "ok")
        assert (start.node.children, end.node.children) == ((), ())
        assert (line.entry.level, line.entry.message, dict(line.entry.data)) == ("info", "reading", {"pages": 3})
        assert line.entry.node_id == half.node_id == metadata.node_id == f"{top}/a1"
        assert (half.title, half.fraction, dict(half.data)) == ("half", 0.5, {"page": 1})
        assert dict(metadata.metadata) == {"model": "m"}
        assert query_start.node.response is None
        assert (query_end.node.response.text, query_end.node.usage.total_tokens) == ("s", 2)
        assert end.node.progress == events.Progress(title=done.title, fraction=1)
        assert session.root.children[0].progress == end.node.progress


async def test_each_kind_of_work_has_its_events() -> None:
    """`query_…` for what asks a model, `action_…` for what may have work of its own below."""
    told: list[tuple[str, str]] = []
    async with Session(lm=Echo()) as session:
        session.subscribe(lambda event: told.append((event.type, event.node.kind)))
        async with session.branch("step", "1"):
            pass
        async with session.branch("tool", "Tool:look"):
            pass
        await session.concurrent_map([1], lambda n, view: view.query("?"))
        assert [event async for event in session.query_stream("?")][-1].value == "?"
    assert told == [
        ("query_start", "step"),
        ("query_end", "step"),
        ("action_start", "tool"),
        ("action_end", "tool"),
        ("action_start", "parallel"),
        ("action_start", "parallel"),
        ("query_start", "query"),
        ("query_end", "query"),
        ("action_end", "parallel"),
        ("action_end", "parallel"),
        ("query_start", "query"),
        ("query_end", "query"),
    ]


async def test_langfx_51_bug_102_an_observer_cannot_harm_the_work() -> None:
    """What it raises is kept and logged once; the others are told all the same, and the work goes on."""
    told: list[str] = []

    def broken(event: SessionEvent) -> None:
        raise ValueError(event.type)

    async with Session(lm=Echo()) as session:
        session.subscribe(broken)
        session.subscribe(lambda event: told.append(event.type))
        assert await Report().invoke(session) == "?"
        assert told.count("action_end") == 1
        assert len(session.observer_errors) == len(told) == 9
        lines = [entry.message for entry in session.all_logs if entry.level == "error"]
        assert lines == ["an observer raised ValueError"]
        for _ in range(200):
            session.info("more")
        assert len(session.observer_errors) == 100
        assert str(session.observer_errors[-1]) == "log_added"


async def test_langfx_51_observers_come_and_go() -> None:
    """In the order of their subscriptions; one may end its own or another's while it is told; twice is nothing."""
    told: list[str] = []
    async with Session(lm=Echo()) as session:

        def first(event: SessionEvent) -> None:
            told.append("first")
            end_first()
            end_third()

        end_first = session.subscribe(first)
        end_second = session.subscribe(lambda event: told.append("second"))
        end_third = session.subscribe(lambda event: told.append("third"))
        session.info("one")
        assert told == ["first", "second"]
        session.info("two")
        assert told == ["first", "second", "second"]
        end_second()
        end_second()
        session.info("three")
        assert len(told) == 3


async def test_langfx_51_one_function_may_be_subscribed_twice() -> None:
    """Each subscription is its own, also in another session."""
    told: list[SessionEvent] = []
    one, other = Session(), Session()
    end = one.subscribe(told.append)
    one.subscribe(told.append)
    other.subscribe(told.append)
    one.info("a")
    assert [event.session_id for event in told] == [one.root.id] * 2
    end()
    one.info("b")
    assert len(told) == 3
    await one.dispose()
    one.info("c")
    assert len(told) == 3
    other.info("d")
    assert [event.session_id for event in told[3:]] == [other.root.id]


@pytest.mark.parametrize("observer", ["print", None, Report().call])
def test_an_observer_is_a_plain_function(observer: Any) -> None:
    """A coroutine of it would never be awaited."""
    with pytest.raises(InvalidArgumentError):
        Session().subscribe(observer)


def test_langfx_52_the_newest_lines_are_kept() -> None:
    """The oldest make room and are counted; what is shaped like a key is masked."""
    session = Session()
    for n in range(1001):
        session.debug(f"line {n}")
    assert (len(session.all_logs), session.dropped_logs) == (1000, 1)
    assert (session.all_logs[0].message, session.all_logs[-1].message) == ("line 1", "line 1000")
    session.warning("failed with sk-abcdefgh")
    session.error("e")
    session.fatal("f", why=1)
    assert [entry.message for entry in session.all_logs[-3:]] == ["failed with ***", "e", "f"]
    assert [entry.level for entry in session.all_logs[-4:]] == ["debug", "warning", "error", "fatal"]
    none = Session(max_logs=0)
    none.info("x")
    assert (none.all_logs, none.dropped_logs) == ([], 1)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, math.nan, "half"])
def test_progress_is_a_fraction(fraction: Any) -> None:
    """Anything else is a mistake of the caller."""
    with pytest.raises(InvalidArgumentError):
        Session().progress("p", fraction)


@pytest.mark.parametrize("options", [{"max_nodes": 0}, {"max_nodes": True}, {"max_logs": -1}, {"max_logs": 1.5}])
def test_bounds_are_counts(options: Any) -> None:
    """Refused when the session is made."""
    with pytest.raises(InvalidArgumentError) as caught:
        Session(**options)
    assert caught.value.details["option"] in options


async def test_failures_are_told_as_what_they_are() -> None:
    """By code, in the end of their node."""
    told: list[SessionEvent] = []
    async with Session(lm=StaticSequence([RateLimitError("slow down")])) as session:
        session.subscribe(told.append)
        with pytest.raises(RateLimitError):
            await Report().invoke(session)
    ends = [event.node for event in told if event.type.endswith("_end")]
    assert [(node.status, node.error.code) for node in ends] == [("error", "rate_limit")] * 2


@pytest.mark.parametrize("error", [asyncio.CancelledError(), SystemExit(3), GeneratorExit()], ids=repr)
async def test_langfx_51_nothing_that_an_observer_raises_comes_out(error: BaseException) -> None:
    """Not what would end a task or the program either; it is kept with the others."""

    def harmful(event: SessionEvent) -> None:
        raise error

    async with Session(lm=Echo()) as session:
        session.subscribe(harmful)
        assert await session.query("x") == "x"
        assert set(session.observer_errors) == {error}
