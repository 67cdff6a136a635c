"""Sessions and actions: views with a model, a deadline and a trace node of their own."""

from __future__ import annotations

import asyncio
import dataclasses
import gc

import pytest

from langfx_web import Action, Agent, Partial, QueryStream, Session, tool
from langfx_web.errors import (
    AuthenticationError,
    DeadlineExceededError,
    InvalidArgumentError,
    RateLimitError,
    SessionCancelledError,
    SessionClosedError,
)
from langfx_web.messages import AIMessage, ToolCall
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


async def test_langfx_46_ended_views_and_sessions_take_no_work() -> None:
    """A view kept beyond its invocation is closed."""
    kept: list[Session] = []

    class Keep(Action):
        async def call(self, session: Session) -> None:
            kept.append(session)

    async def everything(session: Session) -> None:
        for begin in (
            lambda: session.query("x"),
            lambda: session.parse("x", int),
            lambda: session.query_batch(["x"]),
            lambda: Keep().invoke(session),
            lambda: session.concurrent_map(["x"], lambda item, view: view.query(item)),
        ):
            with pytest.raises(SessionClosedError) as caught:
                await begin()
            assert caught.value.code == "session_closed"
        with pytest.raises(SessionClosedError):
            session.query_stream("x")

    lm = Echo()
    session = Session(lm=lm)
    await Keep().invoke(session)
    await everything(kept[0])
    assert await session.query("x") == "x"
    await session.dispose()
    await everything(session)
    assert (len(lm.requests), len(kept)) == (1, 1)
    assert session.root.status == "ok"


class Wait(Action):
    """Wait for ever."""

    async def call(self, session: Session) -> None:
        """Wait."""
        await asyncio.Event().wait()


async def test_langfx_47_the_earliest_deadline_wins() -> None:
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
async def test_langfx_47_no_time_at_all_fails_before_the_work(timeout: float) -> None:
    """Nothing is sent."""
    lm = StaticSequence([])
    with pytest.raises(DeadlineExceededError):
        await Summarize("a").invoke(lm=lm, timeout=timeout)
    async with Session(lm=lm, timeout=timeout) as session:
        with pytest.raises(DeadlineExceededError):
            await session.query("x")
    assert lm.requests == []


async def test_langfx_47_odd_timeouts() -> None:
    """None and infinity mean none; not-a-number is an error; a month is timed in slices that a browser can time."""
    timers: list[float] = []

    class Counting(ManualClock):
        def call_later(self, seconds, callback):
            timers.append(seconds)
            return super().call_later(seconds, callback)

    for timeout in (None, float("inf")):
        assert await Summarize("a").invoke(lm=Echo(), timeout=timeout)
    with pytest.raises(InvalidArgumentError):
        await Summarize("a").invoke(lm=Echo(), timeout=float("nan"))
    with pytest.raises(InvalidArgumentError):
        Session(timeout=float("nan"))
    clock, month = Counting(), 30 * 86_400.0
    async with Session(clock=clock, timeout=month) as session:
        task = asyncio.ensure_future(Wait().invoke(session))
        await asyncio.sleep(0)
        assert session.remaining() == month
        await clock.advance(25.0)
        assert not task.done()
        assert len(timers) == 3
        assert max(timers) < 2**31 / 1000
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize("timeout", [2**31 / 1000 - 1, 2**31 / 1000, 2**31 / 1000 + 5, 30 * 86_400, 1e12, 1e300])
async def test_bug_101_a_very_long_time_is_not_over_at_once(timeout: float) -> None:
    """Of a session, an invocation or a query, with a model that takes a while."""
    lm = StaticResponse("a", delay=0.005)
    async with Session(lm=lm, timeout=timeout) as session:
        assert await session.query("?", timeout=timeout) == "a"
        assert await Summarize("a").invoke(session, timeout=timeout) == "a"
        assert (await read(session.query_stream("?", timeout=timeout)))[-1] == "generation_complete"


async def test_bug_102_a_failure_is_never_an_empty_end() -> None:
    """A call raises it and a stream ends with it, its node says the same; what the reader raises comes out as it is."""
    refused = AuthenticationError("the key was refused", status=401)
    async with Session(lm=StaticResponse(refused)) as session:
        with pytest.raises(AuthenticationError):
            await session.query("?")
        [event] = [event async for event in session.query_stream("?")]
        assert event.error is refused
        assert [node.error.code for node in session.root.children] == ["authentication"] * 2
    model, transport = answered(ok(HANG))
    async with Session(lm=model) as session:
        stream = session.query_stream("?")
        reader = asyncio.ensure_future(read(stream))
        await asyncio.sleep(0.01)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert (transport.aborted, transport.open) == (1, 0)
        assert session.root.children[0].status == "cancelled"


async def test_bug_104_no_failure_is_left_to_the_loop() -> None:
    """Of branches that fail together, of work that a cancel ends, of sessions that are over: none is reported late."""
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context["message"]))

    async def fail(n: int, view: Session) -> None:
        await asyncio.sleep(0)
        raise ValueError(n)

    async with Session(lm=Echo()) as session:
        with pytest.raises(ValueError, match="0"):
            await session.concurrent_map(range(4), fail, max_concurrency=4)
        await session.concurrent_map(range(4), fail, on_error="collect")
        waiting = asyncio.ensure_future(session.concurrent_map(range(4), lambda n, view: Wait().invoke(view)))
        await asyncio.sleep(0.001)
        waiting.cancel()
        await asyncio.wait([waiting])
    before = asyncio.all_tasks()
    del waiting, session
    gc.collect()
    await asyncio.sleep(0)
    assert (reported, before) == ([], {asyncio.current_task()})


class Patient(Action):
    """Take an hour."""

    clock: ManualClock

    async def call(self, session: Session) -> str:
        """Wait."""
        await self.clock.sleep(3600)
        return "done"


@pytest.mark.parametrize("work", ["query", "stream", "tool", "retry", "action"])
async def test_langfx_48_the_deadline_stops_what_runs(work: str) -> None:
    """A query, one that is streamed, a tool, a wait for the next attempt: with this error, and nothing goes on."""
    clock, ended = ManualClock(), []

    @tool
    async def wait() -> str:
        """Wait."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tool")
        return "?"

    limited = RateLimitError("slow down", retry_after=30.0)
    waiting = StaticSequence([limited, "late"], clock=clock, max_attempts=2)
    slow = StaticSequence(["late"], clock=clock, delay=60.0)
    calling = StaticResponse(AIMessage(ToolCall("1", "wait", {})))
    async with Session(clock=clock, timeout=5) as session:
        begin = {
            "query": lambda: session.query("?", lm=slow),
            "stream": lambda: read(session.query_stream("?", lm=slow)),
            "tool": lambda: Agent(lm=calling, tools=[wait]).invoke(session, prompt="?"),
            "retry": lambda: session.query("?", lm=waiting),
            "action": lambda: Patient(clock).invoke(session),
        }
        task = asyncio.ensure_future(begin[work]())
        for _ in range(20):
            await asyncio.sleep(0)
        await clock.advance(4.9)
        assert not task.done()
        await clock.advance(0.2)
        if work == "stream":
            assert await task == ["generation_failed"]
        else:
            with pytest.raises(DeadlineExceededError) as caught:
                await task
            assert caught.value.code == "deadline_exceeded"
        await clock.advance(3600)
        assert len(waiting.requests) + len(slow.requests) + len(calling.requests) <= 1
        assert ended == (["tool"] if work == "tool" else [])
        top = session.root.children[0]
        assert (top.status, top.error.code) == ("error", "deadline_exceeded")


async def test_cancelling_passes_through_and_closes_nodes() -> None:
    """The task's own cancellation is never turned into an error."""
    async with Session() as session:
        task = asyncio.ensure_future(Wait().invoke(session))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert session.root.children[0].status == "cancelled"


async def test_langfx_54_disposing_ends_what_runs() -> None:
    """Once, with its own error there, and waits for it; observers are let go, the model stays usable."""
    lm, told, settled = StaticResponse("x", delay=60.0, clock=ManualClock()), [], []

    class Slow(Action):
        async def call(self, session: Session) -> None:
            try:
                await session.query("?")
            finally:
                await asyncio.sleep(0)
                settled.append("slow")

    session = Session(lm=lm)
    session.subscribe(told.append)
    tasks = [asyncio.ensure_future(Wait().invoke(session)), asyncio.ensure_future(Slow().invoke(session))]
    await asyncio.sleep(0.001)
    await asyncio.gather(session.dispose(), session.dispose())
    assert settled == ["slow"]
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert [(type(end), end.code) for end in ends] == [(SessionCancelledError, "session_cancelled")] * 2
    assert {node.status for node in session.root.children} == {"error"}
    count = len(told)
    assert [event.type for event in told].count("action_end") == 2
    session.info("after the end")
    assert len(told) == count
    await session.dispose()


async def test_langfx_54_a_cancelled_session_keeps_its_reason() -> None:
    """Disposing of it later changes nothing of that."""
    session = Session()
    task = asyncio.ensure_future(Wait().invoke(session))
    await asyncio.sleep(0)
    session.cancel("enough")
    await session.dispose()
    with pytest.raises(SessionCancelledError, match="enough"):
        await task
    with pytest.raises(SessionClosedError, match="enough"):
        await Wait().invoke(session)


async def test_langfx_54_a_shared_model_stays_usable() -> None:
    """What a session did not make it does not close."""
    lm = Echo()
    async with Session(lm=lm) as one, Session(lm=lm) as other:
        await one.query("a")
        await one.dispose()
        assert await other.query("b") == "b"
    assert (await lm("c")).text == "c"


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


@pytest.mark.parametrize("option", ["lm", "timeout", "budget", "metadata"])
@pytest.mark.parametrize("wrong", [object(), "x", [1], 10**400 - 10**399])
async def test_options_of_a_wrong_kind_are_named(option, wrong) -> None:
    """By sessions, actions and agents alike, before anything is sent."""
    lm = StaticResponse("x")
    options = {"lm": lm} | {option: wrong}
    with pytest.raises(InvalidArgumentError) as caught:
        Session(**options)
    assert caught.value.details["option"] == option
    with pytest.raises(InvalidArgumentError) as caught:
        await Summarize("a").invoke(**options)
    assert caught.value.details["option"] == option
    with pytest.raises(InvalidArgumentError) as caught:
        await Summarize("a").invoke(wrong, lm=lm)
    assert caught.value.details["option"] == "session"
    async with Session(lm=lm) as session:
        with pytest.raises(InvalidArgumentError):
            await session.query("a", lm=wrong)
    if option != "metadata":
        with pytest.raises(InvalidArgumentError) as caught:
            await Agent(lm=lm).invoke(prompt="x", **{option: wrong})
        assert caught.value.details["option"] == option
    assert lm.requests == []
