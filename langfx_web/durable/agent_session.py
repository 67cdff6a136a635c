"""One stored conversation with an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from langfx_web.agentic import AgentSetup
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.durable.fold import Conversation
from langfx_web.durable.ids import new_id as random_id
from langfx_web.durable.inputs import (
    Prompt,
    check_cursor,
    check_message_id,
    check_session_id,
    check_size,
    plain_prompt,
)
from langfx_web.durable.lines import Line, LineStream, follow
from langfx_web.durable.records import Settings
from langfx_web.durable.runner import Runner
from langfx_web.durable.turn import Turn
from langfx_web.errors import InvalidArgumentError, JournalInvalidError, NotPortableError
from langfx_web.json_text import dumps, loads
from langfx_web.llms import ModelChoice, ModelSettings
from langfx_web.messages import Message
from langfx_web.stores.base import Store

if TYPE_CHECKING:
    from langfx_web.agentic import Gate
    from langfx_web.durable.watching import Watch

MAX_INSTRUCTIONS = 64 * 1024


class AgentSession:
    """A conversation that is stored as it happens; any number of objects, in any tab, may share it.

    Making one does no I/O. Without an `id` it is a new one. `model`, `instructions` and `context` (JSON for the tools)
    hold for the turns that this object starts. Errors: `invalid_session_id`; `invalid_argument` names another option.
    """

    def __init__(
        self,
        agent: AgentSetup,
        id: str | None = None,
        *,
        store: Store,
        clock: Clock = SYSTEM_CLOCK,
        new_id: Callable[[str], str] = random_id,
        model: ModelChoice | None = None,
        instructions: str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        self._settings = Settings(
            model=ModelSettings.of(model), instructions=_text("instructions", instructions, MAX_INSTRUCTIONS)
        )
        self._context = _copied(context)
        self._id = None if id is None else check_session_id(id)
        self._new_id = new_id
        self._runner = Runner(
            agent, self._id or new_id("ses_"), is_new=id is None, store=store, clock=clock, new_id=new_id
        )

    @property
    def id(self) -> str | None:
        """The session's id; None for a new one until its first prompt is stored."""
        return self._id or (self._runner.id if self._runner.replica.head.seq else None)

    def prompt(self, input: Prompt, *, message_id: str | None = None) -> Turn:
        """Say something; storing it starts at once, in a task of the running loop.

        A `message_id` that was used before makes this a repeat: the same turn, asked for again. Raises at once
        `invalid_input`, `input_too_large` (8 MiB) and `invalid_message_id`.
        """
        id = self._new_id("msg_") if message_id is None else check_message_id(message_id)
        prompt = plain_prompt(input)
        check_size(prompt, self._context, self._settings.instructions)
        submission = self._runner.prompt(id, prompt, context=self._context, settings=self._settings)
        return Turn(self._runner, submission)

    async def cancel(self, message_id: str | None = None) -> str:
        """Cancel the turn that is open, or a prompt by its id, waiting, running or yet to come.

        Gives `cancelled`, or `none` where there is nothing (more) to cancel. The turn ends as `cancelled`.
        """
        return await self._runner.cancel(None if message_id is None else check_message_id(message_id))

    async def answer(self, gate_id: str, value: Any) -> None:
        """Answer an open question of a turn.

        `gate_answer_invalid` where the value does not fit: the gate stays open. `gate_not_found` where none is open.
        """
        await self._runner.gates.answer(gate_id, value)

    async def decline(self, gate_id: str, reason: str = "") -> None:
        """Refuse to answer an open question: whoever asked is told the reason; a call that needs approval is denied."""
        self._runner.gates.decline(gate_id, reason)

    async def gates(self) -> list[Gate]:
        """The questions that are open now, oldest first; those that this worker asks."""
        return self._runner.gates.gates()

    def stream(self, cursor: int = 0) -> LineStream:
        """The session's lines after number `cursor`, also those to come: it stays open. `invalid_cursor` at once."""
        after = check_cursor(cursor)
        runner = self._runner

        def batches() -> AsyncGenerator[tuple[Line, ...], None]:
            return follow(runner.store, runner.id, after, clock=runner.clock)

        return LineStream(batches)

    def watch(self) -> Watch:
        """What the turns do that this worker runs, from now on, as session events: an async iterator, live only.

        A turn is a node `Agent:…` with its `message_id` as metadata; its steps, tools and what they do are below it.
        Nobody waits for the reader: one who is more than 1,000 events behind gets an `EventsDropped` for the oldest.
        """
        return self._runner.watchers.watch()

    async def messages(self) -> list[Message]:
        """The conversation so far, as messages; of a damaged one the part before the damage."""
        loaded = await self._runner.store.load(self._runner.id)
        conversation = Conversation()
        with suppress(JournalInvalidError):
            conversation.extend(loaded.records)
        return conversation.messages()

    def __repr__(self) -> str:
        return f"AgentSession({self.id!r})"


def _text(option: str, value: str | None, limit: int) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value.encode("utf-8", "replace")) > limit):
        message = f"{option} must be a str of at most {limit} bytes"
        raise InvalidArgumentError(message, details={"option": option})
    return value


def _copied(context: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if context is None:
        return None
    try:
        copy: dict[str, Any] = loads(dumps(dict(context)))
    except (NotPortableError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"context is not JSON: {error}", details={"option": "context"}) from error
    return copy
