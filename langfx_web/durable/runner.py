"""Who runs a session's turns in this worker: takes the hold, claims, and runs one turn per claim."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from langfx_web.agentic import AgentSetup
from langfx_web.clock import Clock
from langfx_web.deferred import later
from langfx_web.durable.inbox import Inbox
from langfx_web.durable.journal import Applied, Journal
from langfx_web.durable.lines import count
from langfx_web.durable.open_gates import gates_of
from langfx_web.durable.recorder import JournalRecorder
from langfx_web.durable.records import Input, Settings, TurnEnd
from langfx_web.durable.registration import Outcome
from langfx_web.durable.replica import Replica
from langfx_web.durable.setup import turn_setup
from langfx_web.durable.submission import Submission
from langfx_web.durable.turn_bounds import put_cancelled, put_end, put_start, put_unknown
from langfx_web.durable.turn_run import TurnRun
from langfx_web.durable.wake import Wake
from langfx_web.errors import FencedError, LangfxError, SessionClosedError, StoreError
from langfx_web.messages import AIMessage
from langfx_web.stores.base import Head, Hold, Store, Unique

if TYPE_CHECKING:
    from langfx_web.durable import observed_journal, watching
else:
    observed_journal = later("langfx_web.durable.observed_journal")
    watching = later("langfx_web.durable.watching")

MAX_CONVERSATION = 20 * 1024 * 1024
"""Bytes of records at which a running turn is ended."""


class Runner:
    """Runs the prompts that are handed in here, first in first out with those of other workers.

    It has one task that works while prompts of its own have not ended, and is alive to other workers that long.
    """

    def __init__(
        self,
        agent: AgentSetup,
        session_id: str,
        *,
        is_new: bool,
        store: Store,
        clock: Clock,
        new_id: Callable[[str], str],
    ) -> None:
        self.id = session_id
        self.store = store
        self.clock = clock
        self.worker = new_id("wkr_")
        self._watch = None
        if agent.observer is not None:
            self._watch = observed_journal.ObservedJournal(agent.observer, session_id, clock)
        self.replica = Replica(store, session_id, is_new=is_new, watch=self._watch)
        self.gates = gates_of(store, session_id, clock)
        self.watchers = watching.watchers_of(store, session_id)
        self._agent = agent
        self._new_id = new_id
        self._inbox = Inbox(store, session_id, self.replica, agent=agent.name, clock=clock, changed=self._changed)
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_working = False
        self._journal: Journal | None = None
        self._run: TurnRun | None = None
        self._wake: Wake | None = None
        self._outcomes: dict[str, Outcome] = {}

    def prompt(self, message_id: str, prompt: str | dict[str, Any], *, context: Any, settings: Settings) -> Submission:
        """Hand in a prompt; storing it starts at once, in a task of the running loop."""
        submission = Submission(self._input("prompt", message_id, prompt=prompt, context=context, settings=settings))
        task = asyncio.get_running_loop().create_task(self._submit(submission))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return submission

    async def cancel(self, target: str | None) -> str:
        """Hand in a cancel; tells whether it hits a turn."""
        return await self._inbox.cancel(self._input("cancel", self._new_id("cnl_"), target=target))

    async def output(self, message_id: str) -> Any:
        """The value of a turn's last answer, read as the turn has read it; its text where the agent wants no value."""
        if not self.replica.is_current:
            await self.replica.catch_up()
        turn = next(turn for turn in self.replica.conversation.turns if turn.input.message_id == message_id)
        answer = turn.steps[-1].message if turn.steps else AIMessage()
        setup = turn_setup(self._agent, turn.input.settings)
        wanted = None if setup.output is None else setup.output.wanted(setup.lm, has_tools=len(setup.tools) > 0)
        return answer.text if wanted is None else (await wanted.read(answer)).result

    def stored(self, records: Sequence[Applied], head: Head) -> None:
        """Our journal has stored something."""
        self.replica.stored(records, head)
        for stored in records:
            if isinstance(stored.record, TurnEnd):
                outcome = self._outcomes.pop(stored.record.message_id, None)
                submission = self._inbox.submissions.pop(stored.record.message_id, None)
                if submission is not None:
                    submission.end(outcome)
        self._changed()

    def failed(self, error: LangfxError) -> None:
        """Our journal can store nothing more: nothing more may be asked or run."""
        if self._watch is not None:
            self._watch.failed(error)
        self._outcomes.clear()
        if self._run is not None:
            self._run.stop()
        if self._run is not None and isinstance(error, FencedError):
            submission = self._inbox.submissions.pop(self._run.message_id, None)
            if submission is not None:
                submission.end(None)

    def _input(self, type: Any, message_id: str, **fields: Any) -> Input:
        return Input(
            type=type,
            message_id=message_id,
            origin=self.worker,
            nonce=f"{self.worker}:{next(self._numbers)}",
            **fields,
        )

    async def _submit(self, submission: Submission) -> None:
        """Store a prompt, and work unless that is being done; errors end up in the submissions."""
        try:
            first: Submission | None = submission
            if self._is_working:
                first = None
                async with self._inbox.turn:
                    await self._inbox.store(submission)
                self._changed()
            while not self._is_working and (first or self._inbox.submissions):
                self._is_working = True
                try:
                    await self._work(first)
                finally:
                    self._is_working = False
                first = None
        except asyncio.CancelledError:
            self._give_up(submission, SessionClosedError("the worker stopped before the turn had ended"))
            raise
        except LangfxError as error:
            self._give_up(submission, error)
        except Exception as error:  # noqa: BLE001  # whoever waits for the turn is told, whatever went wrong
            self._give_up(submission, StoreError(f"the turn cannot go on: {error!r:.200}"))

    def _give_up(self, submission: Submission, error: LangfxError) -> None:
        submission.end(error)
        for other in self._inbox.submissions.values():
            other.end(error)
        self._inbox.submissions.clear()

    async def _work(self, first: Submission | None) -> None:
        """Run turns until no prompt of ours is left."""
        listening = asyncio.get_running_loop().create_task(self._listen())
        try:
            async with self.store.alive(self.worker):
                if first is not None:
                    await self._begin(first)
                orphaned: str | None = None
                while self._inbox.submissions:
                    async with self.store.hold(self.id, self.worker) as hold:
                        assert hold is not None  # we waited for it
                        if not self.replica.is_current:
                            await self.replica.catch_up()
                        self._react()
                        try:
                            origin = await self._next(hold, orphaned)
                        except FencedError:
                            origin = None
                            self._overtaken()
                    orphaned = None if origin is None else await self._leave_to(origin)
        finally:
            listening.cancel()
            await asyncio.wait([listening])

    async def _begin(self, submission: Submission) -> None:
        """Store the first prompt: with a free hold and nothing waiting, and the start of its turn, as one append."""
        async with AsyncExitStack() as stack:
            async with self._inbox.turn:
                hold = await stack.enter_async_context(self.store.hold(self.id, self.worker, wait=False))
                journal = None if hold is None else await self._start_at_once(submission)
                if not submission.stored.done():
                    await self._inbox.store(submission)
            if journal is not None and hold is not None:
                try:
                    await self._run_turn(journal, hold)
                except FencedError:
                    self._overtaken()

    async def _start_at_once(self, submission: Submission) -> Journal | None:
        """The claimed journal of the turn; None if the prompt has to be stored by itself, or is settled already."""
        try:
            await self._inbox.prepare(submission)
            if not self.replica.is_current:
                await self.replica.catch_up()
            if self.replica.conversation.has_work:
                return None
            journal = self._new_journal()
            journal.put(submission.input, marks=("input",))
            put_start(journal, submission.input, self._agent, session_id=self.id)
            registration = submission.registration(self.replica.head.cursor)
            existing = await journal.open(
                unique=Unique(submission.message_id, registration.to_text()),
                create=self._inbox.creation(submission),
                seq=self.replica.head.seq,
            )
        except LangfxError as error:
            if error.code in ("fenced", "session_missing"):
                self.replica.is_loaded = False
            else:
                submission.end(error)
            return None
        self._inbox.decided(submission, registration.cursor, existing)
        return journal if existing is None else None

    async def _next(self, hold: Hold, orphaned: str | None) -> str | None:
        """Run the next turn, or close one that its worker left open; gives the worker whose prompt is next instead."""
        conversation = self.replica.conversation
        journal = self._new_journal()
        if conversation.open is not None:
            abandoned = conversation.open
            lines = await count(self.store, self.id, abandoned.start.cursor, abandoned.input.message_id)
            self._outcomes[abandoned.input.message_id] = put_unknown(journal, abandoned, lines=lines, clock=self.clock)
            await journal.open()
        elif conversation.waiting and conversation.waiting[0].cancelled:
            cancelled = conversation.waiting[0].input
            self._outcomes[cancelled.message_id] = put_cancelled(journal, cancelled, release=True)
            await journal.open()
        elif conversation.waiting:
            front = conversation.waiting[0].input
            if front.origin not in (self.worker, orphaned):
                return front.origin
            put_start(journal, front, self._agent, session_id=self.id)
            await journal.open()
            await self._run_turn(journal, hold)
        return None

    async def _leave_to(self, origin: str) -> str | None:
        """Wait until there is news of another worker's prompt; gives that worker if it is dead."""
        gone = asyncio.ensure_future(self.store.gone(origin))
        try:
            with Wake(self.store, self.id, self.clock) as wake:
                gone.add_done_callback(lambda done: wake.wake())
                await wake.wait()
            if not gone.done():
                return None
            gone.result()
            return origin
        finally:
            gone.cancel()

    async def _run_turn(self, journal: Journal, hold: Hold) -> None:
        """Work on the turn that was just started, and store its end."""
        if not self.replica.is_current:
            await self.replica.catch_up()
        conversation = self.replica.conversation
        turn = conversation.open
        if turn is None:
            raise FencedError("the conversation was continued by another worker")
        recorder = JournalRecorder(
            journal,
            message_id=turn.input.message_id,
            hold=hold,
            room=MAX_CONVERSATION - conversation.size,
            clock=self.clock,
        )
        self._run = TurnRun(
            self._agent,
            turn,
            conversation.transcript(),
            recorder=recorder,
            answers=self.gates,
            watchers=self.watchers,
            session_id=self.id,
            clock=self.clock,
            new_id=self._new_id,
        )
        self._journal = journal
        try:
            self._react()
            ending = await self._run.run()
            self._journal = None
            if journal.error is not None:
                raise journal.error
            self._outcomes[turn.input.message_id] = put_end(journal, turn, ending, recorder)
            await journal.stored(barrier=True)
        finally:
            self._journal = self._run = None
            await journal.close()

    async def _listen(self) -> None:
        """Hear of what others store while we run a turn or wait for one to end."""
        try:
            with Wake(self.store, self.id, self.clock) as self._wake:
                while True:
                    seq = await self._wake.wait()
                    if seq is None or seq > self.replica.conversation.seq or not self.replica.is_current:
                        with suppress(StoreError):
                            await self.replica.catch_up()
                        self._react()
        except LangfxError as error:
            self._deafened(error)
        except Exception as error:  # noqa: BLE001  # a turn must not go on without ears
            self._deafened(StoreError(f"the store failed: {error!r:.200}"))

    def _deafened(self, error: LangfxError) -> None:
        # Without a turn of ours nothing is lost: the next one begins by reading, and meets the error itself.
        if self._journal is not None:
            self._journal.fail(error)

    def _overtaken(self) -> None:
        self._outcomes.clear()
        self.replica.is_loaded = False

    def _changed(self) -> None:
        self._react()
        if self._wake is not None and not self.replica.is_current:
            self._wake.wake()

    def _react(self) -> None:
        """Do what the conversation, as it is known now, asks for."""
        conversation = self.replica.conversation
        if self._run is not None and conversation.open is not None and conversation.open.cancelled:
            self._run.stop()
        if not self.replica.is_current:
            return
        if self._journal is not None and self._journal.error is None:
            for input in [waiting.input for waiting in conversation.waiting if waiting.cancelled]:
                if input.message_id not in self._outcomes:
                    self._outcomes[input.message_id] = put_cancelled(self._journal, input)
        for id in [id for id in self._inbox.submissions if not conversation.is_pending(id)]:
            self._inbox.submissions.pop(id).end(None)

    def _new_journal(self) -> Journal:
        return Journal(
            self.store,
            self.id,
            worker=self.worker,
            head=self.replica.head,
            next_key=lambda: f"{self.worker}:{next(self._numbers)}",
            owner=self,
            clock=self.clock,
        )
