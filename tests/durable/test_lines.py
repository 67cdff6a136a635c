"""Lines: written, and read while they are written."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from langfx_web import events
from langfx_web.durable.codec import json_bytes
from langfx_web.durable.lines import Line, LineStream, count, decode, encode, follow
from langfx_web.durable.wake import POLL, Wake
from langfx_web.errors import JournalInvalidError
from langfx_web.events import TextDelta, ThoughtDelta, TurnEnd
from langfx_web.stores import Batch, Creation, Fence, MemoryStore, StoredLine
from langfx_web.stores.memory import MemoryWatch
from langfx_web.testing import ManualClock
from tests.durable.faults import settle
from tests.stores.conformance import an_input


class Page:
    """A session whose lines a test writes."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.clock = ManualClock()
        self.last = 0

    async def write(self, *texts: str, message_id: str = "m") -> None:
        """Store one batch of lines."""
        lines = []
        for text in texts:
            self.last += 1
            lines.append(encode(TextDelta(delta=text), message_id=message_id, epoch=1, cursor=self.last))
        batch = Batch(
            fence=Fence(epoch=0, chain=0),
            key=f"w:{self.last}",
            create=Creation(agent="a", preview=""),
            lines=tuple(lines),
        )
        await self.store.append("s", batch)


def texts_of(batch: tuple[Line, ...]) -> list[str]:
    """What a batch says."""
    return [line.plain["delta"] for line in batch]


def test_a_line_is_read_as_it_was_written() -> None:
    """Its event, its turn, its claim and its number come back, and its text is what was stored."""
    event = TurnEnd(stop_reason="end_turn")
    data = encode(event, message_id="m", epoch=3, cursor=9)
    line = decode(data, cursor=9)
    assert (line.event, line.message_id, line.epoch, line.cursor, line.type) == (event, "m", 3, 9, "turn_end")
    assert line.text.encode() == data
    assert decode(encode(event, message_id="m", epoch=3, cursor=None), cursor=None).cursor is None


@pytest.mark.parametrize("kind", [TextDelta, ThoughtDelta])
@pytest.mark.parametrize("text", ["word ", 'a "quoted"\nline', "Zoë \u2028 \U0001f600", "half \ud83d", ""])
def test_a_delta_is_written_like_any_event(kind: type[TextDelta | ThoughtDelta], text: str) -> None:
    """Whatever its text; half a character becomes U+FFFD."""
    event = kind(delta=text)
    place = {"messageId": 'm"1', "epoch": 2, "cursor": 7}
    written = encode(event, message_id='m"1', epoch=2, cursor=7)
    assert written == json_bytes({**events.encode(event), **place})
    assert decode(written, cursor=7).event == kind(delta=text.replace("\ud83d", "\ufffd"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"7",
        b"{}",
        b'{"type":"x","messageId":"m","epoch":1,"cursor":2}',
        b'{"type":"x","messageId":"m","epoch":"one","cursor":1}',
        b'{"messageId":"m","epoch":1,"cursor":1}',
        b'{"type":"x","epoch":1,"cursor":1}',
    ],
)
def test_damaged_lines(data: bytes) -> None:
    """What is no line, or the line of another place, is `journal_invalid`."""
    with pytest.raises(JournalInvalidError):
        decode(data, cursor=1)


async def test_following_from_any_cursor() -> None:
    """Row 3: exactly the lines after the cursor, those to come too; it stays open."""
    page = Page()
    await page.write("1", "2")
    for cursor in range(6):
        async with aclosing(follow(page.store, "s", cursor, clock=page.clock)) as batches:
            pending = asyncio.ensure_future(anext(batches))
            await settle()
            if cursor < page.last:
                assert texts_of(await pending) == [str(n) for n in range(cursor + 1, page.last + 1)]
                pending = asyncio.ensure_future(anext(batches))
                await settle()
            assert not pending.done()
            if cursor <= page.last:
                await page.write(str(page.last + 1))
                assert texts_of(await pending) == [str(page.last)]
            pending.cancel()
            await asyncio.wait([pending])


async def test_batches_are_those_that_were_stored() -> None:
    """A reader that keeps up gets each stored batch as one."""
    page = Page()
    seen: list[list[str]] = []

    async def read() -> None:
        async with aclosing(follow(page.store, "s", 0, clock=page.clock)) as batches:
            while True:
                seen.append(texts_of(await anext(batches)))

    reading = asyncio.create_task(read())
    for batch in (["a", "b"], ["c"], ["d", "e", "f"]):
        await page.write(*batch)
        await settle()
    reading.cancel()
    await asyncio.wait([reading])
    assert seen == [["a", "b"], ["c"], ["d", "e", "f"]]


async def test_a_slow_reader_loses_nothing() -> None:
    """Row 103: who pauses reads on from what is stored, in larger groups."""
    page = Page()
    await page.write("first")
    async with aclosing(follow(page.store, "s", 0, clock=page.clock)) as batches:
        assert texts_of(await anext(batches)) == ["first"]
        for n in range(600):
            await page.write(str(n))
        rest = [await anext(batches) for _ in range(3)]
    assert [text for batch in rest for text in texts_of(batch)] == [str(n) for n in range(600)]
    assert [len(batch) for batch in rest] == [256, 256, 88]


async def test_a_reader_finds_new_lines_without_hints() -> None:
    """Row 135: where all hints are lost, it looks every two seconds."""

    class Deaf(MemoryStore):
        def watch(self, id: str | None, notify: object) -> MemoryWatch:
            return super().watch(id, lambda hint: None)

    page = Page()
    page.store = Deaf()
    async with aclosing(follow(page.store, "s", 0, clock=page.clock)) as batches:
        pending = asyncio.ensure_future(anext(batches))
        await settle()
        await page.write("x")
        await settle()
        assert not pending.done()
        await page.clock.advance(POLL)
        assert texts_of(await pending) == ["x"]


async def test_giving_up_ends_with_what_is_stored() -> None:
    """A view of a turn that its worker gave up shows what is there, and ends."""
    page = Page()
    given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    await page.write("x")

    async def read() -> list[str]:
        batches = follow(page.store, "s", 0, clock=page.clock, given_up=given_up)
        return [text async for batch in batches for text in texts_of(batch)]

    reading = asyncio.create_task(read())
    await settle()
    assert not reading.done()
    given_up.set_result(None)
    assert await reading == ["x"]


async def test_a_gap_is_noticed() -> None:
    """A store that leaves a line out is not believed."""

    class Gap(MemoryStore):
        async def lines(self, id: str, after: int, limit: int = 256) -> tuple[StoredLine, ...]:
            return (await super().lines(id, after, limit))[1:]

    page = Page()
    page.store = Gap()
    await page.write("1", "2")
    with pytest.raises(JournalInvalidError):
        await anext(follow(page.store, "s", 0, clock=page.clock))


async def test_counting() -> None:
    """The lines of one prompt, over several pages."""
    page = Page()
    for n in range(300):
        await page.write("x", message_id="ab"[n % 2])
    assert await count(page.store, "s", 0, "a") == 150
    assert await count(page.store, "s", 299, "b") == 1
    assert await count(page.store, "s", 300, "b") == 0


async def test_a_stream_can_be_read_in_three_ways() -> None:
    """Line by line, in batches, and as NDJSON; each time from the beginning."""
    page = Page()
    given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    given_up.set_result(None)
    await page.write("a", "b")
    stream = LineStream(lambda: follow(page.store, "s", 0, clock=page.clock, given_up=given_up))
    for _ in range(2):
        assert [line.plain["delta"] async for line in stream] == ["a", "b"]
    assert [texts_of(batch) async for batch in stream.batches()] == [["a", "b"]]
    (data,) = [piece async for piece in stream.readable]
    assert [decode(line, cursor=n).plain["delta"] for n, line in enumerate(data.splitlines(), 1)] == ["a", "b"]
    assert data.endswith(b"\n")


async def test_news_between_a_look_and_the_wait_is_not_missed() -> None:
    """Whoever watches first and looks then hears of all that comes after the look."""
    store = MemoryStore()
    clock = ManualClock()
    with Wake(store, "s", clock) as wake:
        waiting = asyncio.create_task(wake.wait())
        await settle()
        assert not waiting.done()
        await store.append("s", an_input("m-1"))
        assert await waiting == 1
        for n in (2, 3):
            await store.append("s", an_input(f"m-{n}"))
        assert await wake.wait() == 3
        waiting = asyncio.create_task(wake.wait())
        await clock.advance(POLL)
        assert await waiting is None
