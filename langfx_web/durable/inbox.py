"""What users want, stored one after another: prompts with their ids decided in the store, and cancels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from langfx_web.clock import Clock
from langfx_web.durable import codec
from langfx_web.durable.inputs import shown
from langfx_web.durable.journal import Applied, append
from langfx_web.durable.records import Input
from langfx_web.durable.registration import Outcome, Registration
from langfx_web.durable.replica import Replica
from langfx_web.durable.submission import Submission
from langfx_web.errors import JournalTooLargeError, LangfxError, MessageIdInUseError, StoreError
from langfx_web.stores.base import Batch, Creation, Receipt, Store, Unique

MAX_PROMPTED = 16 * 1024 * 1024
"""Bytes of records at which a conversation takes no further prompt."""


class Inbox:
    """Stores the inputs of one worker for one session.

    `turn` is held while an input is being stored, so that they are stored in the order in which they were handed in.
    `submissions` are the prompts that are stored and have not ended, those only that were first stored here.
    """

    def __init__(
        self,
        store: Store,
        session_id: str,
        replica: Replica,
        *,
        agent: str,
        clock: Clock,
        changed: Callable[[], None],
    ) -> None:
        self.turn = asyncio.Lock()
        self.submissions: dict[str, Submission] = {}
        self._store = store
        self._id = session_id
        self._replica = replica
        self._agent = agent
        self._clock = clock
        self._changed = changed

    async def store(self, submission: Submission) -> None:
        """Store a prompt by itself; what comes of it, errors too, is in the submission. The caller holds `turn`."""
        try:
            await self.prepare(submission)
            receipt = await self._append(
                submission.input, submission.registration(self._replica.head.cursor), self.creation(submission)
            )
            self.decided(submission, receipt.head.cursor, receipt.existing)
        except LangfxError as error:
            submission.end(error)

    async def prepare(self, submission: Submission) -> None:
        """Read the conversation where that was not done yet, and refuse a prompt that it has no room for."""
        if not self._replica.is_loaded:
            await self._replica.catch_up()
        if self._replica.conversation.size > MAX_PROMPTED:
            raise JournalTooLargeError("the conversation has reached its size limit: start a new one")

    def creation(self, submission: Submission) -> Creation:
        """What the head of a session says that begins with this prompt."""
        return Creation(agent=self._agent, preview=shown(submission.input.prompt or ""))

    def decided(self, submission: Submission, cursor: int, existing: str | None) -> None:
        """The store has taken a prompt, whose lines come after `cursor`; or has known its id: then it is a repeat."""
        known = None if existing is None else Registration.from_text(existing)
        if known is None or known.nonce == submission.input.nonce:
            self.submissions[submission.message_id] = submission
            submission.accept(self._id, cursor if known is None else known.cursor)
        elif known.type != submission.input.type:
            submission.end(MessageIdInUseError(f"{submission.message_id!r} is the id of another kind of input"))
        else:
            self._repeat(submission, known)

    async def cancel(self, cancel: Input) -> str:
        """Store a cancel: `cancelled` if it hits a turn, one that has yet to be stored too, else `none`."""
        async with self.turn:
            if cancel.target is not None and await self._outcome(cancel.target) is not None:
                return "none"
            registration = Registration(type=cancel.type, nonce=cancel.nonce)
            try:
                receipt = await self._append(cancel, registration, None)
            except StoreError as error:
                if error.code == "session_missing":
                    return "none"
                raise
        self._changed()
        if cancel.target is None:
            return "cancelled" if receipt.head.open else "none"
        outcome = await self._outcome(cancel.target)
        return "cancelled" if outcome is None or outcome.stop_reason == "cancelled" else "none"

    def _repeat(self, submission: Submission, known: Registration) -> None:
        submission.repeated = True
        submission.is_replay = known.outcome is not None
        original = self.submissions.get(submission.message_id)
        if known.outcome is None and original is not None:
            submission.follow(original)
        else:
            submission.end(known.outcome)
        submission.accept(self._id, known.cursor)

    async def _append(self, input: Input, registration: Registration, create: Creation | None) -> Receipt:
        data = codec.encode(input, at=self._clock.now().isoformat(timespec="milliseconds"))
        batch = Batch(
            unique=Unique(input.message_id, registration.to_text()),
            create=create,
            records=(data,),
            marks=("input",) if input.type == "prompt" else (),
            barrier=True,
        )
        receipt = await append(self._store, self._id, batch, clock=self._clock)
        if receipt.existing is None:
            self._replica.stored([Applied(seq=receipt.head.seq, record=input, size=len(data))], receipt.head)
        else:
            self._replica.saw(receipt.head)
        return receipt

    async def _outcome(self, message_id: str) -> Outcome | None:
        text = await self._store.lookup(self._id, message_id)
        return None if text is None else Registration.from_text(text).outcome
