"""The same work on many things at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from langfx_web.agentic import Outcome, Session
from langfx_web.errors import DeadlineExceededError, InvalidArgumentError, SessionCancelledError, SessionClosedError
from langfx_web.testing import ManualClock


class Work:
    """Work that says what it did; item 2 fails."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.running = 0
        self.most = 0
        self.settled: list[int] = []
        self.two_run = asyncio.Event()

    def items(self, count: int = 10) -> Iterator[int]:
        """Numbers from 0, which note that they were taken."""
        for n in range(count):
            self.taken.append(n)
            yield n

    async def later(self, count: int = 10) -> AsyncIterator[int]:
        """The same, each after a turn of the loop."""
        for n in self.items(count):
            await asyncio.sleep(0)
            yield n

    async def __call__(self, n: int, view: Session) -> int:
        """Ten times the number."""
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(0.05 if n < 2 else 0)
            if n == 2:
                raise ValueError("two")
            return n * 10
        finally:
            await asyncio.sleep(0)
            self.running -= 1
            self.settled.append(n)

    async def hang(self, n: int, view: Session) -> None:
        """Never end."""
        self.running += 1
        if self.running == 2:
            self.two_run.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.running -= 1


async def test_langfx_53_the_first_error_ends_the_others() -> None:
    """They have settled when it is raised, and nothing beyond those in flight was taken."""
    work = Work()
    async with Session() as session:
        with pytest.raises(ValueError, match="two"):
            await session.concurrent_map(work.items(), work, max_concurrency=3)
        assert (work.running, work.most) == (0, 3)
        assert work.taken == [0, 1, 2]
        assert sorted(work.settled) == [0, 1, 2]
        parallel = session.root.children[0]
        assert [node.status for node in parallel.children] == ["cancelled", "cancelled", "error"]
        assert (parallel.status, parallel.error.message) == ("error", "two")


@pytest.mark.parametrize("source", ["items", "later"])
async def test_langfx_53_collected_outcomes(source: str) -> None:
    """One for each item, in their order, which are taken as there is room, also from an async iterable."""
    work = Work()
    async with Session() as session:
        outcomes = await session.concurrent_map(getattr(work, source)(), work, max_concurrency=3, on_error="collect")
        assert [outcome.value for outcome in outcomes] == [0, 10, None, 30, 40, 50, 60, 70, 80, 90]
        assert outcomes[3] == Outcome(value=30)
        assert [str(outcome.error) for outcome in outcomes if outcome.error] == ["two"]
        assert (work.most, len(work.taken)) == (3, 10)


@pytest.mark.parametrize("on_error", ["raise", "collect"])
async def test_langfx_53_cancelling_ends_all_branches(on_error: str) -> None:
    """And waits for them, under either policy; items beyond those in flight were not taken."""
    work = Work()
    async with Session() as session:
        task = asyncio.ensure_future(
            session.concurrent_map(work.later(), work.hang, max_concurrency=2, on_error=on_error)
        )
        await work.two_run.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (work.running, len(work.taken)) == (0, 2)
        assert {node.status for node in session.root.children[0].walk()} == {"cancelled"}


@pytest.mark.parametrize("on_error", ["raise", "collect"])
async def test_langfx_53_the_end_of_the_session_ends_a_map(on_error: str) -> None:
    """By its deadline or by hand, as what it is and not as outcomes."""
    clock, work = ManualClock(), Work()
    session = Session(timeout=5, clock=clock)
    late = asyncio.ensure_future(session.concurrent_map([1, 2, 3], work.hang, max_concurrency=2, on_error=on_error))
    await clock.advance(5)
    with pytest.raises(DeadlineExceededError):
        await late
    session = Session()
    ended = asyncio.ensure_future(session.concurrent_map([1, 2, 3], work.hang, max_concurrency=2, on_error=on_error))
    work.two_run.clear()
    await work.two_run.wait()
    await session.dispose()
    with pytest.raises(SessionCancelledError):
        await ended
    assert work.running == 0


async def test_langfx_53_no_items_and_bad_options() -> None:
    """Nothing gives an empty list; what no map can be made of is named before anything is taken."""
    work = Work()
    async with Session() as session:
        assert await session.concurrent_map([], work) == []
        assert await session.concurrent_map(work.later(0), work, on_error="collect") == []
        for options in ({"max_concurrency": 0}, {"max_concurrency": True}, {"on_error": "ignore"}):
            with pytest.raises(InvalidArgumentError) as caught:
                await session.concurrent_map(work.items(), work, **options)
            assert caught.value.details["option"] in options
        with pytest.raises(InvalidArgumentError):
            await session.concurrent_map(7, work)
        for function in (7, None):
            with pytest.raises(InvalidArgumentError) as caught:
                await session.concurrent_map(work.items(), function)
            assert caught.value.details["option"] == "fn"
        assert work.taken == []
        with pytest.raises(InvalidArgumentError, match="not give a int"):
            await session.concurrent_map([1], lambda item, view: item)


async def test_results_come_in_the_order_of_the_items() -> None:
    """However long each takes; more room than items starts no more tasks than items and one."""

    async def backwards(n: int, view: Session) -> int:
        await asyncio.sleep((5 - n) / 1000)
        return n

    async with Session() as session:
        before = len(asyncio.all_tasks())
        task = asyncio.ensure_future(session.concurrent_map(range(5), backwards, max_concurrency=1_000_000))
        for _ in range(8):
            await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) - before <= 7
        assert await task == [0, 1, 2, 3, 4]


async def test_an_error_of_the_items_is_raised() -> None:
    """Under either policy, as it belongs to none of them."""

    def broken() -> Iterator[int]:
        yield 1
        raise OSError("no more")

    async def same(n: int, view: Session) -> int:
        return n

    async with Session() as session:
        for on_error in ("raise", "collect"):
            with pytest.raises(OSError, match="no more"):
                await session.concurrent_map(broken(), same, on_error=on_error)


async def test_a_view_ends_with_its_branch() -> None:
    """One that is kept takes no work."""
    kept: list[Session] = []

    async def keep(n: int, view: Session) -> None:
        kept.append(view)

    async with Session() as session:
        await session.concurrent_map([1], keep)
        with pytest.raises(SessionClosedError):
            await kept[0].concurrent_map([1], keep)


async def test_an_item_that_cancels_itself_ends_the_map() -> None:
    """A cancellation is never an outcome."""

    async def give_up(n: int, view: Session) -> None:
        raise asyncio.CancelledError

    async with Session() as session:
        with pytest.raises(asyncio.CancelledError):
            await session.concurrent_map([1, 2], give_up, on_error="collect")
