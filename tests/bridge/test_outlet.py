"""A stream is never further ahead than the page has room for."""

from __future__ import annotations

import asyncio

import pytest

from langfx_web.bridge.outbox import MAX_ITEMS as FLUSH_ITEMS
from langfx_web.bridge.outbox import MAX_SIZE as FLUSH_SIZE
from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.outlet import MAX_ITEMS, MAX_SIZE, Outlet, Window
from langfx_web.bridge.wire import portable
from langfx_web.errors import NotPortableError


async def test_a_full_window_waits_for_credit() -> None:
    """At 256 items; credit for some lets the next one pass."""
    window = Window()
    for _ in range(MAX_ITEMS - 1):
        window.take(1)
    await asyncio.wait_for(window.room(), 1)
    window.take(1)
    waiting = asyncio.ensure_future(window.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    window.give(1, 1)
    await asyncio.wait_for(waiting, 1)


async def test_one_large_item_passes_an_empty_window() -> None:
    """And then the window is full until it is read."""
    window = Window()
    window.take(MAX_SIZE * 3)
    assert window.is_full
    window.give(1, MAX_SIZE * 3)
    assert not window.is_full


async def test_bytes_fill_the_window_like_text() -> None:
    """And the post: a stream of buffers is neither ahead without a limit nor held back until the end of the turn."""
    posts: list[list[bytes]] = []
    outlet = Outlet(1, Outbox(lambda text, buffers: posts.append(buffers)))
    outlet.send(portable(bytes(FLUSH_SIZE)))
    assert [len(buffers) for buffers in posts] == [1]
    assert not outlet.window.is_full
    outlet.send(portable({"data": bytes(MAX_SIZE - FLUSH_SIZE)}))
    assert outlet.window.is_full


async def test_the_first_end_counts() -> None:
    """A failure after the end, or a second result, is not told; one that could not be told is no end."""
    posts: list[str] = []
    outbox = Outbox(lambda text, buffers: posts.append(text))
    outlet = Outlet(1, outbox)
    with pytest.raises(NotPortableError):
        outlet.result({1})
    assert not outlet.ended
    outlet.result("first")
    outlet.result("second")
    outlet.end(None)
    outlet.fail(RuntimeError("late"))
    outbox.flush()
    assert posts == ['[{"kind":"result","id":1,"value":"first"}]']


async def test_items_of_several_streams_count_together() -> None:
    """256 items are a post, whoever they are for."""
    posts: list[str] = []
    outbox = Outbox(lambda text, buffers: posts.append(text))
    outlets = [Outlet(id_, outbox) for id_ in (1, 2)]
    for number in range(FLUSH_ITEMS):
        outlets[number % 2].send(portable(0))
    assert len(posts) == 1


async def test_one_post_for_all_that_one_turn_of_the_loop_sends() -> None:
    """Fifty items are one message in one post; other streams in between keep the order."""
    posts: list[str] = []
    outbox = Outbox(lambda text, buffers: posts.append(text))
    one, other = Outlet(1, outbox), Outlet(2, outbox)
    for number in range(50):
        one.send(portable(number))
    other.send(portable("x"))
    one.send(portable("last"))
    one.end(None)
    assert posts == []
    await asyncio.sleep(0)
    assert posts == [
        '[{"kind":"items","id":1,"items":[' + ",".join(map(str, range(50))) + "]}"
        ',{"kind":"items","id":2,"items":["x"]},{"kind":"items","id":1,"items":["last"]}'
        ',{"kind":"end","id":1,"value":null,"count":51}]'
    ]


async def test_a_long_burst_is_posted_in_pieces() -> None:
    """After 256 items, or 64 KiB, without waiting for the end of the turn."""
    posts: list[str] = []
    outlet = Outlet(1, Outbox(lambda text, buffers: posts.append(text)))
    for number in range(FLUSH_ITEMS + 1):
        outlet.send(portable(number))
    assert len(posts) == 1
    outlet.send(portable("x" * 70_000))
    assert len(posts) == 2
    await asyncio.sleep(0)
    assert len(posts) == 2
