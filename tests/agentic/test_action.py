"""Actions: configuration that is run, any number of times, with bounds of its own."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from langfx_web.agentic import Action, Budget, Session
from langfx_web.errors import BudgetExceededError, DeadlineExceededError, SessionCancelledError, SessionClosedError
from langfx_web.testing import Echo, ManualClock, StaticSequence


class Summarize(Action):
    """Ask for a summary."""

    text: str
    style: str = "short"

    async def call(self, session: Session) -> str:
        """Ask."""
        return await session.query("Summarize {{text}}, {{style}}.", vars={"text": self.text, "style": self.style})


class Greet(Action):
    """An action with a field that has the name of a member."""

    name: str
    title: str

    async def call(self, session: Session, **inputs: int) -> tuple[str, dict[str, int]]:
        """Say who it is."""
        return f"{self.title} {self.name}", inputs


class Both(Action):
    """Two at once, each of which asks twice."""

    async def call(self, session: Session) -> list[str]:
        """Ask."""
        return await asyncio.gather(*(Twice(word).invoke(session) for word in ("a", "b")))


class Twice(Action):
    """Ask, and then ask in a map."""

    word: str

    async def call(self, session: Session) -> str:
        """Ask."""
        first = await session.query(self.word)
        rest = await session.concurrent_map(["x", "y"], lambda item, view: view.query(self.word + item))
        return " ".join([first, *rest])


async def test_langfx_45_one_action_runs_many_times() -> None:
    """Annotated fields make the constructor of frozen configuration; each run has a node and a result of its own."""
    action = Summarize("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        action.text = "b"
    async with Session(lm=Echo()) as session:
        runs = [action.invoke(session), action.invoke(session, lm=Echo("> "))]
        assert await asyncio.gather(*runs) == ["Summarize a, short.", "> Summarize a, short."]
        assert [(node.name, node.status) for node in session.root.children] == [("Summarize", "ok")] * 2
        assert [node.children[0].result for node in session.root.children] == [
            "Summarize a, short.",
            "> Summarize a, short.",
        ]


async def test_langfx_44_each_node_stands_below_what_began_it() -> None:
    """Ids by position, for nested actions, queries and branches of maps, also with two at once."""
    async with Session(lm=Echo()) as session:
        assert await Both().invoke(session) == ["a ax ay", "b bx by"]
        top = session.root.id
        nodes = {node.id.removeprefix(top): node for node in session.root.walk()}
        assert all(node.parent_id == node.id.rpartition("/")[0] for id, node in nodes.items() if id)
        assert {id: (node.kind, node.name) for id, node in nodes.items()} == {
            "": ("session", "Session"),
            "/a1": ("action", "Both"),
            **{
                f"/a1/a{n}{id}": named
                for n in (1, 2)
                for id, named in {
                    "": ("action", "Twice"),
                    "/q1": ("query", "query"),
                    "/p2": ("parallel", "concurrent_map"),
                    "/p2/b1": ("parallel", "0"),
                    "/p2/b1/q1": ("query", "query"),
                    "/p2/b2": ("parallel", "1"),
                    "/p2/b2/q1": ("query", "query"),
                }.items()
            },
        }
        assert [nodes[f"/a1/a{n}/p2/b{m}/q1"].result for n in (1, 2) for m in (1, 2)] == ["ax", "ay", "bx", "by"]
        assert [node.id.removeprefix(top) for node in session.all_actions] == ["/a1", "/a1/a1", "/a1/a2"]
        assert len(session.all_queries) == 6


async def test_sessions_have_ids_of_their_own() -> None:
    """In one process no two are the same."""
    assert len({Session().root.id for _ in range(3)}) == 3


async def test_a_field_may_be_called_name() -> None:
    """Without one, `name` is that of the class; inputs of the invocation reach the hook."""
    assert Summarize("a").name == "Summarize"
    greet = Greet("Ada", "Countess")
    assert (greet.name, greet.action_name) == ("Ada", "Greet")
    assert await greet.invoke(times=3) == ("Countess Ada", {"times": 3})
    with pytest.raises(TypeError):
        Greet(title="Countess")


async def test_a_class_with_its_own_constructor_is_left_alone() -> None:
    """Annotated or not."""

    class Count(Action):
        start: int

        def __init__(self) -> None:
            self.start = 1

        async def call(self, session: Session) -> int:
            return self.start

    assert await Count().invoke() == 1


async def test_an_invocation_shows_its_metadata() -> None:
    """In its node, from its beginning."""
    async with Session(lm=Echo(), metadata={"page": "shop"}) as session:
        await Summarize("a").invoke(session, metadata={"order": 7})
        assert dict(session.root.metadata) == {"page": "shop"}
        assert dict(session.root.children[0].metadata) == {"order": 7}


async def test_a_budget_can_only_shrink() -> None:
    """Each of those that an invocation is under counts."""
    lm = StaticSequence(["one", "two", "three", "four"])
    async with Session(lm=lm, budget=Budget(max_requests=3)) as session:
        assert await Summarize("a").invoke(session, budget=Budget(max_requests=1)) == "one"
        assert session.budget == Budget(max_requests=2)
        with pytest.raises(BudgetExceededError):
            await Summarize("a").invoke(session, budget=Budget(max_requests=0))
        assert await Summarize("a").invoke(session, budget=Budget(max_requests=10)) == "two"
        assert await Summarize("a").invoke(session) == "three"
        with pytest.raises(BudgetExceededError):
            await Summarize("a").invoke(session, budget=Budget(max_requests=10))
        assert len(lm.requests) == 3


async def test_an_own_session_is_disposed_of_on_error_too() -> None:
    """A view that was kept takes no work, and what was begun beside it has ended."""
    kept: list[Session] = []
    beside: list[asyncio.Task[str]] = []

    class Fail(Action):
        async def call(self, session: Session) -> None:
            kept.append(session)
            beside.append(asyncio.ensure_future(Wait().invoke(session)))
            await asyncio.sleep(0)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Fail().invoke(lm=Echo())
    with pytest.raises(SessionClosedError):
        await kept[0].query("x")
    with pytest.raises(SessionCancelledError):
        await beside[0]


class Wait(Action):
    """Wait for ever."""

    async def call(self, session: Session) -> None:
        """Wait."""
        await asyncio.Event().wait()


class Stubborn(Action):
    """Wait for ever, and when that is ended, go on as if nothing was."""

    async def call(self, session: Session) -> str:
        """Wait."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "went on"
        return "?"


class Around(Action):
    """Another one, and something after it."""

    done: list[str]

    async def call(self, session: Session) -> None:
        """Run it."""
        self.done.append(await Stubborn().invoke(session))


async def test_bug_057_work_that_swallows_its_cancellation_does_not_go_on() -> None:
    """Its value is dropped, whoever cancelled it: the task, the deadline, the session."""
    clock, done = ManualClock(), []
    async with Session(clock=clock) as session:
        task = asyncio.ensure_future(Around(done).invoke(session))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        late = asyncio.ensure_future(Around(done).invoke(session, timeout=2))
        await clock.advance(2.0)
        with pytest.raises(DeadlineExceededError):
            await late
        ended = asyncio.ensure_future(Around(done).invoke(session))
        await asyncio.sleep(0)
        session.cancel("enough")
        with pytest.raises(SessionCancelledError, match="enough"):
            await ended
        assert done == []
        statuses = [(node.status, node.children[0].status) for node in session.root.children]
        assert statuses == [("cancelled", "cancelled"), ("error", "cancelled"), ("error", "cancelled")]
        assert [node.error.code for node in session.root.children[1:]] == ["deadline_exceeded", "session_cancelled"]


class GiveUp(Action):
    """End the session that it runs in, and return or fail at once."""

    fails: bool

    async def call(self, session: Session) -> None:
        """End it."""
        session.cancel("enough")
        if self.fails:
            raise ValueError("no")


@pytest.mark.parametrize("fails", [False, True])
async def test_work_may_end_its_own_session(fails: bool) -> None:
    """It is told of that once, and its task goes on as any other."""
    with pytest.raises(SessionCancelledError, match="enough"):
        await GiveUp(fails).invoke()
    await asyncio.sleep(0.001)
    assert asyncio.current_task().cancelling() == 0
