"""A prompt on its way: handed in, stored, and ended; what a `Turn` looks at and a `Runner` moves on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from langfx_web.durable.records import Input
from langfx_web.durable.registration import Outcome, Registration
from langfx_web.errors import LangfxError


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A prompt is stored."""

    message_id: str
    session_id: str


class Submission:
    """One call of `prompt()`. Its futures hold errors as values, so that nobody has to await them.

    `stored` is `Accepted`, or why the prompt was not stored. `ended` is how its turn ended; an error where this worker
    had to give it up; None where it goes on elsewhere, and the store tells how it ends. `repeated` says that the prompt
    was handed in before; with `is_replay` it had ended then.
    """

    def __init__(self, input: Input) -> None:
        loop = asyncio.get_running_loop()
        self.input = input
        self.stored: asyncio.Future[Accepted | LangfxError] = loop.create_future()
        self.ended: asyncio.Future[Outcome | LangfxError | None] = loop.create_future()
        self.given_up: asyncio.Future[None] = loop.create_future()
        self.cursor = 0
        self.repeated = False
        self.is_replay = False

    @property
    def message_id(self) -> str:
        """The prompt's id."""
        return self.input.message_id

    def registration(self, cursor: int) -> Registration:
        """What the store remembers of the prompt."""
        return Registration(type=self.input.type, nonce=self.input.nonce, cursor=cursor)

    def accept(self, session_id: str, cursor: int) -> None:
        """It is stored; its lines come after number `cursor`."""
        self.cursor = cursor
        if not self.stored.done():
            self.stored.set_result(Accepted(message_id=self.message_id, session_id=session_id))

    def end(self, ended: Outcome | LangfxError | None) -> None:
        """Its turn is over, given up, or goes on elsewhere; an error before it was stored is why it was not."""
        if isinstance(ended, LangfxError):
            if not self.stored.done():
                self.stored.set_result(ended)
            if not self.given_up.done():
                self.given_up.set_result(None)
        if not self.ended.done():
            self.ended.set_result(ended)

    def follow(self, original: Submission) -> None:
        """End as another submission of the same prompt does."""
        original.ended.add_done_callback(lambda ended: self.end(ended.result()))
