"""Turns and lines on their way to the page: whatever fails on that way is told, and nobody waits for ever."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable
from types import SimpleNamespace
from typing import Any

from langfx_web.bridge.conversations import show_turn
from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.outlet import Outlet
from langfx_web.durable.lines import Line, LineStream
from langfx_web.errors import JournalInvalidError


def outlet_with_posts() -> tuple[Outlet, list[dict[str, Any]]]:
    posts: list[dict[str, Any]] = []
    return Outlet(7, Outbox(lambda text, buffers: posts.extend(json.loads(text)))), posts


async def silent() -> AsyncGenerator[tuple[Line, ...], None]:
    await asyncio.Event().wait()
    yield ()


async def broken() -> AsyncGenerator[tuple[Line, ...], None]:
    raise JournalInvalidError("line 3 is missing")
    yield ()


async def fails() -> None:
    raise JournalInvalidError("the end cannot be read")


def turn(lines: Any, result: Awaitable[Any]) -> Any:
    return SimpleNamespace(lines=LineStream(lines), result=result)


async def test_platform_38_bug_104_an_end_that_cannot_be_told_is_an_error_at_once() -> None:
    """Though the lines still wait for news, the page hears of it; cancelling the command leaves no task."""
    outlet, posts = outlet_with_posts()
    showing = asyncio.ensure_future(show_turn(turn(silent, fails()), outlet))
    for _ in range(10):
        await asyncio.sleep(0)
    assert [(post["kind"], post["id"], post["error"]["code"]) for post in posts] == [("error", 7, "journal_invalid")]
    showing.cancel()
    await asyncio.wait([showing])
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_platform_38_bug_104_lines_that_cannot_be_read_end_the_command() -> None:
    """Also while the turn itself goes on; the task that waits for its end goes, too."""
    outlet, _ = outlet_with_posts()
    showing = asyncio.ensure_future(show_turn(turn(broken, asyncio.get_running_loop().create_future()), outlet))
    await asyncio.wait([showing])
    assert isinstance(showing.exception(), JournalInvalidError)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
