"""The tree of what happened: bounded, and without what must not be in it."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

import pytest

import langfx_web as lf
from langfx_web.agentic import Action, Session
from langfx_web.agentic.trace import OpenNode
from langfx_web.errors import AuthenticationError, DeadlineExceededError, LangfxError, TraceFullError
from langfx_web.events import SessionEvent, UsageSummary
from langfx_web.llms import Anthropic, InMemoryCache
from langfx_web.messages import AIMessage
from langfx_web.testing import Echo, MockResponse, MockTransport, StaticResponse, StaticSequence
from langfx_web.usage import Usage
from tests.messages.pictures import PNG

COST = Usage(input_tokens=6, output_tokens=4, total_tokens=10)
SECRET = "key-that-nobody-may-see"


async def test_langfx_52_a_full_trace_refuses_work_before_it_starts() -> None:
    """Node 10,001 is not begun, and nothing is sent for it."""
    lm = Echo()
    async with Session(lm=lm) as session:
        for _ in range(9_999):
            async with session.branch("tool", "t"):
                pass
        assert await session.query("?") == "?"
        with pytest.raises(TraceFullError) as caught:
            await session.query("?")
        assert (caught.value.code, len(lm.requests)) == ("trace_full", 1)
        with pytest.raises(TraceFullError):
            session.query_stream("?")
        assert len(session.root.children) == 10_000


async def test_a_query_keeps_what_was_said() -> None:
    """The newest request and answer, the value made of it, and how often it was repaired."""
    lm = StaticSequence(["?", "1"])
    async with Session(lm=lm) as session:
        assert await session.query("How many?", int, autofix=1) == 1
        answer = await session.query("And {{a}}?", vars={"a": 2}, lm=Echo(), returns_message=True)
        first, second = session.all_queries
        assert (first.repairs, first.response.text, first.result) == (1, "1", 1)
        assert [message.role for message in first.request] == ["system", "user", "assistant", "user"]
        assert [message.text for message in second.request] == ["And 2?"]
        assert (second.repairs, second.result, second.response.result) == (0, answer.text, None)


async def test_langfx_50_each_cost_is_counted_once_in_its_class() -> None:
    """Reported, unreported, kept, retried, repaired, and in nested work: parents have none of their own."""
    answers = [AIMessage("?", usage=COST), lf.errors.RateLimitError("wait"), AIMessage("1", usage=COST), "no usage"]
    lm = StaticSequence(answers, max_attempts=3, retry_interval=0.0)
    kept = StaticResponse(AIMessage("kept", usage=COST), cache=InMemoryCache())

    class Nested(Action):
        async def call(self, session: Session) -> None:
            await session.query("How many?", int, autofix=1)
            await session.query("Anything?")
            await session.concurrent_map(["a", "a"], lambda text, view: view.query(text, lm=kept), max_concurrency=1)

    async with Session(lm=lm) as session:
        await Nested().invoke(session)
        repaired, unreported, first, second = [(q.requests, q.cached, q.usage) for q in session.all_queries]
        assert (repaired[:2], repaired[2].total_tokens) == ((3, 0), 20)
        assert unreported == (1, 0, None)
        assert (first[:2], first[2].total_tokens) == ((1, 0), 10)
        assert second == (0, 1, None)
        assert [node.usage for node in session.root.walk() if node.kind not in ("query", "step")] == [None] * 5
        assert session.usage == session.root.summary()
        assert (session.usage.requests, session.usage.cached, session.usage.unknown) == (5, 1, 1)
        assert (session.usage.usage.total_tokens, session.usage.usage.lower_bound) == (30, True)
        assert len(lm.requests) + len(kept.requests) == 5


async def test_langfx_50_nothing_reported_is_unknown_and_not_zero() -> None:
    """Also of a stream that was left, and of a failure that costs a lower bound."""
    async with Session(lm=Echo()) as session:
        assert session.usage == UsageSummary()
        await session.query("?")
        async with session.query_stream("?") as stream:
            await anext(stream)
        assert session.usage == UsageSummary(usage=None, requests=2, unknown=2)
    failure = lf.errors.IncompleteGenerationError("cut", usage=COST.as_lower_bound(), retryable=False)
    async with Session(lm=StaticResponse(failure)) as session:
        with pytest.raises(lf.errors.IncompleteGenerationError):
            await session.query("?")
        assert session.usage == UsageSummary(usage=COST.as_lower_bound(), requests=1)


async def test_langfx_55_no_credential_is_in_any_node_event_or_error() -> None:
    """Of a key, and of a header; a server that echoes the key changes nothing."""
    body = f'{{"type":"error","error":{{"type":"authentication_error","message":"bad {SECRET}"}}}}'.encode()
    transport = MockTransport([MockResponse(status=401, body=body)] * 2)
    lm = Anthropic("m", api_key=SECRET, headers={"x-tenant": "tenant-" + SECRET}, transport=transport)
    told: list[SessionEvent] = []
    errors: list[LangfxError] = []

    class Ask(Action):
        async def call(self, session: Session) -> str:
            return str(await session.query("?"))

    async with Session(lm=lm) as session:
        session.subscribe(told.append)
        with pytest.raises(AuthenticationError) as caught:
            await Ask().invoke(session)
        errors.append(caught.value)
        assert [event async for event in session.query_stream("?")][-1].type == "generation_failed"
        seen = [repr(session.root), session.root.to_json(), repr(told), repr(session.all_logs), repr(vars(session))]
        seen += [str(event.to_plain()) for event in told] + [str(error) + repr(error.details) for error in errors]
    assert len(transport.requests) == 2
    assert all(SECRET in repr(dict(request.headers)) for request in transport.requests)
    assert [text for text in seen if SECRET in text] == []


async def test_media_are_named_without_their_bytes() -> None:
    """In what was asked and what was answered; texts beside them stay."""
    picture = lf.Image.from_bytes(PNG)
    lm = StaticResponse(AIMessage("drawn:", picture))
    async with Session(lm=lm) as session:
        await session.query(lf.UserMessage("Draw this:", picture))
        async with session.branch("step", "1") as view:
            view.record(request=[lf.UserMessage(picture)], response=AIMessage(picture), result="r", repairs=2)
        query, step = session.root.children
        named = f"[image/png, {len(PNG)} bytes]"
        assert [part.text for part in query.request[0].parts] == ["Draw this:", named]
        assert [part.text for part in query.response.parts] == ["drawn:", named]
        assert (step.request[0].text, step.response.text, step.result, step.repairs) == (named, named, "r", 2)
        assert lm.requests[0].messages[0].modalities == (picture,)


async def test_a_snapshot_stays_as_it_was() -> None:
    """The session goes on, and what was looked at does not change."""
    async with Session(lm=Echo()) as session:
        async with session.branch("action", "a") as view:
            view.add_metadata(n=1)
            before = session.root
            view.add_metadata(n=2)
            await view.query("?")
        assert (dict(before.children[0].metadata), before.children[0].status) == ({"n": 1}, "running")
        assert before.children[0].children == ()
        with pytest.raises(TypeError):
            before.children[0].metadata["n"] = 3
        assert len(session.root.children[0].children) == 1


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    """Looking at it does not nest calls."""
    now = lf.Session().root.started_at
    top = node = OpenNode("s0", None, "session", "Session", now)
    for _ in range(5_000):
        node.children.append(OpenNode(f"{len(node.id)}/{id(node)}", node.id, "action", "a", now))
        node = node.children[0]
    assert len(list(top.frozen().walk())) == 5_001


async def test_memory_is_flat_over_many_runs() -> None:
    """Sessions with observers, maps, streams, failures and deadlines leave nothing behind when they are over."""

    class All(Action):
        async def call(self, session: Session) -> None:
            session.info("line", n=1)
            session.progress("half", 0.5)
            await session.concurrent_map(range(3), lambda n, view: view.query("?"), max_concurrency=2)
            assert [event async for event in session.query_stream("?")]
            with pytest.raises(DeadlineExceededError):
                await session.query("?", timeout=0)

    async def run(times: int) -> tuple[int, int]:
        for _ in range(times):
            async with Session(lm=Echo(), timeout=60) as session:
                session.subscribe(lambda event: None)
                await All().invoke(session)
        await asyncio.sleep(0)
        gc.collect()
        return len(gc.get_objects()), len(asyncio.all_tasks())

    await run(20)
    after_some = await run(50)
    after_many = await run(200)
    assert after_many[1] == after_some[1]
    assert after_many[0] - after_some[0] < 200


async def test_bug_054_a_step_costs_no_timer_and_no_task() -> None:
    """Where the deadline is the one that bounds the work already, as in the steps and tools of a run."""
    timers: list[float] = []

    class Counting(lf.testing.ManualClock):
        def call_later(self, seconds, callback):
            timers.append(seconds)
            return super().call_later(seconds, callback)

    async with Session(timeout=60, clock=Counting()) as session, session.branch("action", "a") as view:
        tasks, before = len(asyncio.all_tasks()), len(timers)
        for _ in range(100):
            async with view.branch("step", "1"), view.branch("tool", "t"):
                pass
        assert (len(asyncio.all_tasks()), len(timers)) == (tasks, before)
        async with view.branch("tool", "t", timeout=5):
            assert len(timers) == before + 1


async def test_a_step_is_cheap() -> None:
    """A step with a tool below it leaves its two nodes in the memory, and little beside."""
    async with Session(timeout=60, max_nodes=5_000) as session, session.branch("action", "a") as view:
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1_000):
            async with view.branch("step", "1") as step, step.branch("tool", "t"):
                pass
        spent = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    assert spent / 1_000 < 2_000
