"""Sessions and actions: views with a model, a deadline and a trace node of their own."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from langfx_web import Action, Partial, QueryStream, Session
from langfx_web.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    RateLimitError,
    SessionCancelledError,
    SessionClosedError,
    TraceFullError,
)
from langfx_web.messages import AIMessage
from langfx_web.testing import Echo, ManualClock, StaticResponse, StaticSequence
from langfx_web.transport import HANG
from langfx_web.usage import Usage
from tests.llms.messages_wire import answered, ok


class Summarize(Action):
    """Ask for a summary."""

    text: str
    style: str = "short"

    async def call(self, session: Session) -> str:
        """Ask."""
        return await session.query("Summarize {{text}}, {{style}}.", vars={"text": self.text, "style": self.style})


class Compare(Action):
    """Summarize several texts at once."""

    docs: list[str]

    async def call(self, session: Session) -> list[str]:
        """Ask for each."""
        return await session.concurrent_map(self.docs, lambda doc, view: Summarize(doc).invoke(view), max_concurrency=2)


@dataclasses.dataclass
class Box:
    """A size."""

    width: int
    height: int


async def test_an_action_is_frozen_configuration() -> None:
    """Annotated fields make the constructor; one object may run many times."""
    action = Summarize("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        action.text = "b"
    assert await asyncio.gather(action.invoke(lm=Echo()), action.invoke(lm=Echo())) == ["Summarize a, short."] * 2


async def test_the_trace_shows_who_called_whom() -> None:
    """Ids by position, usage where the request was."""
    lm = StaticResponse(AIMessage("s", usage=Usage(input_tokens=1, output_tokens=1, total_tokens=2)))
    async with Session(lm=lm) as session:
        assert await Compare(["a", "b", "c"]).invoke(session) == ["s", "s", "s"]
        top = session.root.id
        nodes = {node.id.removeprefix(top): node for node in session.root.walk()}
        assert [nodes[id].name for id in ("/a1", "/a1/p1", "/a1/p1/b1", "/a1/p1/b1/a1", "/a1/p1/b1/a1/q1")] == [
            "Compare",
            "concurrent_map",
            "0",
            "Summarize",
            "query",
        ]
        assert {node.status for node in nodes.values()} == {"running", "ok"}
        assert session.usage.usage.total_tokens == 6
    assert session.root.status == "ok"


async def test_the_nearest_model_wins() -> None:
    """Of call, invocation and session."""
    async with Session(lm=Echo("session: ")) as session:
        assert await session.query("x") == "session: x"
        assert await Summarize("x").invoke(session, lm=Echo("nearer: ")) == "nearer: Summarize x, short."
    async with Session() as session:
        with pytest.raises(InvalidArgumentError) as caught:
            await session.query("x")
        assert caught.value.code == "no_model"


async def test_queries_of_a_session_count_every_request_once() -> None:
    """Repairs, by whichever model, failures and batches too, in the node of the query."""
    usage = Usage(input_tokens=2, output_tokens=1, total_tokens=3)
    failure = RateLimitError("slow down", usage=usage)
    lm = StaticSequence([AIMessage("?", usage=usage), failure, *[AIMessage("1", usage=usage)] * 4])
    fixer = StaticResponse(AIMessage("2", usage=usage))
    async with Session(lm=lm) as session:
        assert await session.query("How many?", int, autofix=1, autofix_lm=fixer) == 2
        with pytest.raises(RateLimitError):
            await session.query("How many?", int)
        assert await session.parse("One.", int) == 1
        assert [item.value for item in await session.query_batch(["a", "b"], int)] == [1, 1]
        assert await session.describe(1) == "1"
        counted = {node.name: node.usage for node in session.root.walk() if node.kind == "query" and node.usage}
    requests = {name: spent.num_requests for name, spent in counted.items() if spent}
    assert requests == {"query": 1, "parse": 1, "query_batch": 2, "describe": 1}
    assert (session.usage.requests, session.usage.usage.total_tokens) == (7, 21)


async def test_a_session_completes_what_is_partial() -> None:
    """With its own model, and in its own time."""
    clock = ManualClock()
    lm = StaticResponse("Box(width=1, height=3)", clock=clock, delay=5.0)
    async with Session(lm=lm, clock=clock, timeout=7.0) as session:
        box = asyncio.create_task(session.complete(Partial(Box, width=2)))
        await clock.advance(5.0)
        assert await box == Box(width=2, height=3)
        late = asyncio.create_task(session.complete(Partial(Box, width=2)))
        await clock.advance(2.0)
        with pytest.raises(DeadlineExceededError):
            await late


async def test_ended_views_and_sessions_take_no_work() -> None:
    """A view kept beyond its invocation is closed."""
    kept: list[Session] = []

    class Keep(Action):
        async def call(self, session: Session) -> None:
            kept.append(session)

    session = Session(lm=Echo())
    await Keep().invoke(session)
    with pytest.raises(SessionClosedError):
        await kept[0].query("x")
    await session.dispose()
    await session.dispose()
    with pytest.raises(SessionClosedError):
        await session.query("x")


class Wait(Action):
    """Wait for ever."""

    async def call(self, session: Session) -> None:
        """Wait."""
        await asyncio.Event().wait()


async def test_deadlines_cancel_and_the_earliest_wins() -> None:
    """A child cannot outlive its parent; what comes out is the deadline, not a cancellation."""
    clock = ManualClock()
    async with Session(timeout=5, clock=clock) as session:
        task = asyncio.ensure_future(Wait().invoke(session, timeout=60))
        await clock.advance(4.9)
        assert not task.done()
        await clock.advance(0.2)
        with pytest.raises(DeadlineExceededError):
            await task
        assert session.root.children[0].status == "error"
        with pytest.raises(DeadlineExceededError):
            await Wait().invoke(session)


@pytest.mark.parametrize("timeout", [0, -1])
async def test_no_time_at_all_fails_before_the_work(timeout: float) -> None:
    """Nothing is sent."""
    lm = StaticSequence([])
    with pytest.raises(DeadlineExceededError):
        await Summarize("a").invoke(lm=lm, timeout=timeout)
    assert lm.requests == []


async def test_odd_timeouts() -> None:
    """None and infinity mean none; not-a-number is an error."""
    assert await Summarize("a").invoke(lm=Echo(), timeout=float("inf"))
    with pytest.raises(InvalidArgumentError):
        await Summarize("a").invoke(lm=Echo(), timeout=float("nan"))


async def test_cancelling_passes_through_and_closes_nodes() -> None:
    """The task's own cancellation is never turned into an error."""
    async with Session() as session:
        task = asyncio.ensure_future(Wait().invoke(session))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert session.root.children[0].status == "cancelled"


async def test_cancelling_a_session_ends_work_elsewhere() -> None:
    """With its own error there; the model stays usable."""
    lm = Echo()
    session = Session(lm=lm)
    task = asyncio.ensure_future(Wait().invoke(session))
    await asyncio.sleep(0)
    await session.dispose()
    with pytest.raises(SessionCancelledError):
        await task
    assert (await lm("x")).text == "x"


async def test_concurrent_map() -> None:
    """Order of the items, bounded, lazy; the first error cancels and awaits the others and is raised itself."""
    running, most, settled = 0, 0, []

    async def work(n: int, view: Session) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(0.001)
            if n == 3:
                raise ValueError("three")
            return n * 10
        finally:
            running -= 1
            settled.append(n)

    async with Session() as session:
        assert await session.concurrent_map([], work) == []
        assert await session.concurrent_map(range(3), work, max_concurrency=2) == [0, 10, 20]
        assert most == 2
        started = iter(range(100))
        with pytest.raises(ValueError, match="three"):
            await session.concurrent_map(started, work, max_concurrency=2)
        assert running == 0
        assert next(started) < 10
        with pytest.raises(InvalidArgumentError):
            await session.concurrent_map([1], work, max_concurrency=0)


async def test_a_full_trace_refuses_work_before_it_starts() -> None:
    """So that a runaway cannot fill the memory."""
    session = Session(lm=Echo(), max_nodes=2)
    await session.query("a")
    await session.query("b")
    with pytest.raises(TraceFullError):
        await session.query("c")


# Streamed queries


async def read(stream: QueryStream) -> list[str]:
    """The types of its events."""
    return [event.type async for event in stream]


async def test_a_streamed_query_is_in_the_trace() -> None:
    """With its status, its cost where the request was, and the error that it ended with."""
    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    lm = StaticSequence([AIMessage("7", usage=usage), AIMessage("x", usage=usage), RateLimitError("wait"), "left"])
    async with Session(lm=lm) as session:
        for schema in (int, int, None):
            await read(session.query_stream("?", schema))
        async with session.query_stream("?") as stream:
            await anext(stream)
        top = session.root.id
        nodes = session.root.children
        found = [(node.id.removeprefix(top), node.name, node.status, node.error and node.error.code) for node in nodes]
        assert found == [
            ("/q1", "query_stream", "ok", None),
            ("/q2", "query_stream", "error", "mapping_failed"),
            ("/q3", "query_stream", "error", "rate_limit"),
            ("/q4", "query_stream", "cancelled", None),
        ]
        assert session.usage.usage.total_tokens == 4


async def test_langfx_41_a_cancelled_session_ends_its_streams() -> None:
    """With an event, while the task that reads goes on; one that nobody has read yet, too."""
    model, transport = answered(ok(HANG))
    session = Session(lm=model)
    task = asyncio.ensure_future(read(session.query_stream("?")))
    later = session.query_stream("?")
    await asyncio.sleep(0.01)
    session.cancel("enough")
    assert await task == ["generation_cancelled"]
    assert [event.reason async for event in later] == ["enough"]
    assert (transport.aborted, transport.open, len(transport.requests)) == (1, 0, 1)
    assert {node.status for node in session.root.children} == {"cancelled"}
    with pytest.raises(SessionClosedError):
        session.query_stream("?")


async def test_langfx_41_an_action_that_reads_is_cancelled_itself() -> None:
    """Its task ends with the session, so nothing is an event there."""
    model, transport = answered(ok(HANG))

    class Read(Action):
        async def call(self, session: Session) -> list[str]:
            return await read(session.query_stream("?"))

    session = Session(lm=model)
    task = asyncio.ensure_future(Read().invoke(session))
    await asyncio.sleep(0.01)
    await session.dispose()
    with pytest.raises(SessionCancelledError):
        await task
    assert (transport.aborted, transport.open) == (1, 0)


async def test_a_streamed_query_has_the_sessions_deadline() -> None:
    """The earlier of both, as an event."""
    clock = ManualClock()
    model, transport = answered(ok(HANG), ok(HANG), clock=clock)
    session = Session(lm=model, timeout=5, clock=clock)
    tasks = [asyncio.ensure_future(read(session.query_stream("?", timeout=timeout))) for timeout in (60, 2)]
    await clock.advance(2.1)
    assert [task.done() for task in tasks] == [False, True]
    await clock.advance(3)
    assert [task.result() for task in tasks] == [["generation_failed"]] * 2
    assert transport.open == 0
    assert await read(session.query_stream("?")) == ["generation_failed"]
    assert len(transport.requests) == 2


async def test_a_stream_with_a_bad_option_is_refused_at_the_call() -> None:
    """And closes its node."""
    session = Session()
    with pytest.raises(InvalidArgumentError) as caught:
        session.query_stream("?")
    assert caught.value.code == "no_model"
    assert session.root.children[0].status == "error"
