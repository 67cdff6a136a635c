"""Lines: the events of a session as they are stored, numbered 1, 2, 3 …, and reading them while they are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from langfx_web import events
from langfx_web.clock import Clock
from langfx_web.durable.codec import json_bytes, utf8
from langfx_web.durable.wake import Wake
from langfx_web.errors import JournalInvalidError, JSONTextError
from langfx_web.events import TextDelta, ThoughtDelta, TurnEvent
from langfx_web.json_text import dumps, loads
from langfx_web.stores.base import Store, StoredLine


@dataclass(frozen=True, slots=True)
class Line:
    """A stored event: `text` is its one JSON object, as it is stored, `plain` the same read.

    `cursor` is None for what a reader made up: the end of a turn that was asked for again.
    """

    text: str
    plain: dict[str, Any]

    @property
    def cursor(self) -> int | None:
        """The line's number in its session."""
        return self.plain.get("cursor")

    @property
    def message_id(self) -> str:
        """The prompt whose turn it belongs to."""
        return str(self.plain["messageId"])

    @property
    def epoch(self) -> int:
        """The claim under which it was written."""
        return int(self.plain["epoch"])

    @property
    def type(self) -> str:
        """The event's type."""
        return str(self.plain["type"])

    @property
    def event(self) -> TurnEvent:
        """The event."""
        return events.decode(self.plain)


def encode(event: TurnEvent, *, message_id: str, epoch: int, cursor: int | None) -> bytes:
    """The bytes of an event's line."""
    if isinstance(event, (TextDelta, ThoughtDelta)) and cursor is not None:
        # One of these comes for every few letters. Written by hand, as making an encoder costs more than the line.
        return utf8(
            f'{{"type":"{event.type}","delta":{dumps(event.delta)},'
            f'"messageId":{dumps(message_id)},"epoch":{epoch},"cursor":{cursor}}}'
        )
    place = {"messageId": message_id, "epoch": epoch}
    return json_bytes({**events.encode(event), **place, **({} if cursor is None else {"cursor": cursor})})


def decode(data: bytes, *, cursor: int | None) -> Line:
    """Read a line; `journal_invalid` for one that is none, or has another number than its place."""
    try:
        text = data.decode("utf-8")
        plain = loads(text)
        if plain.get("cursor") == cursor and int(plain["epoch"]) >= 0 and plain["messageId"] and plain["type"]:
            return Line(text, plain)
    except (UnicodeDecodeError, JSONTextError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise JournalInvalidError(f"line {cursor} cannot be read: {error}") from error
    raise JournalInvalidError(f"line {cursor} is not the line of its place")


async def follow(
    store: Store, session_id: str, after: int, *, clock: Clock, given_up: asyncio.Future[Any] | None = None
) -> AsyncGenerator[tuple[Line, ...], None]:
    """The lines after number `after`, as they come, in the batches they are found in.

    Goes on for ever, or until `given_up` is done and nothing is left.
    """
    with Wake(store, session_id, clock) as wake:

        def stop(given_up: asyncio.Future[Any]) -> None:
            wake.wake()

        if given_up is not None:
            given_up.add_done_callback(stop)
        try:
            while True:
                is_last = given_up is not None and given_up.done()
                page = await store.lines(session_id, after)
                if page:
                    yield tuple(_numbered(page, after))
                    after += len(page)
                elif is_last:
                    return
                else:
                    await wake.wait()
        finally:
            if given_up is not None:
                given_up.remove_done_callback(stop)


async def count(store: Store, session_id: str, after: int, message_id: str) -> int:
    """How many lines after number `after` belong to one prompt."""
    found = 0
    while page := await store.lines(session_id, after):
        found += sum(line.message_id == message_id for line in _numbered(page, after))
        after += len(page)
    return found


def _numbered(page: tuple[StoredLine, ...], after: int) -> list[Line]:
    lines = []
    for number, stored in enumerate(page, after + 1):
        if stored.cursor != number:
            raise JournalInvalidError(f"line {number} is missing")
        lines.append(decode(stored.data, cursor=number))
    return lines


class LineStream:
    """Lines to iterate over, any number of times; nothing is read or held before that.

    `async for line in stream` gives lines one by one, `batches()` as they were stored, `readable` as NDJSON bytes.
    """

    def __init__(self, batches: Callable[[], AsyncGenerator[tuple[Line, ...], None]]) -> None:
        self._batches = batches

    def batches(self) -> AsyncGenerator[tuple[Line, ...], None]:
        """The lines in groups, never an empty one."""
        return self._batches()

    async def __aiter__(self) -> AsyncIterator[Line]:
        """The lines one by one."""
        async with aclosing(self._batches()) as batches:
            async for batch in batches:
                for line in batch:
                    yield line

    @property
    def readable(self) -> AsyncIterator[bytes]:
        """The lines as NDJSON, some lines at a time."""
        return self._readable()

    async def _readable(self) -> AsyncIterator[bytes]:
        async with aclosing(self._batches()) as batches:
            async for batch in batches:
                yield "".join(f"{line.text}\n" for line in batch).encode("utf-8")
