"""What a journal's records add up to: the queue, the open turn, and the messages so far; no clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from langfx_web.durable.codec import decode
from langfx_web.durable.inputs import message_of
from langfx_web.durable.records import (
    CallResult,
    CallStart,
    Claim,
    Input,
    Record,
    RecordedCall,
    Reply,
    TurnEnd,
    TurnStart,
)
from langfx_web.errors import JournalInvalidError
from langfx_web.messages import AIMessage, Message, Text, ToolCall, ToolMessage
from langfx_web.stores.base import StoredRecord

AMBIGUOUS = (
    "This call was interrupted. It may have run completely, partly, or not at all. "
    "Check its effect before you try again."
)
NOT_RUN = "This call was not run: the turn ended before it could start."


@dataclass(slots=True)
class Call:
    """A call of a reply: new, then started, then done."""

    call: ToolCall
    recorded: RecordedCall
    started: bool = False
    result: CallResult | None = None

    @property
    def told(self) -> str:
        """What the model is told of a call without a result."""
        return AMBIGUOUS if self.started else NOT_RUN

    def answer(self) -> CallResult:
        """The result, or what a call without one is answered with."""
        id = self.recorded.execution_id
        return self.result or CallResult(execution_id=id, parts=(Text(self.told),), is_error=True)

    def message(self) -> ToolMessage:
        """What the model is told of the call."""
        answer = self.answer()
        return ToolMessage(*answer.parts, call_id=self.call.id, name=self.call.name, is_error=answer.is_error)


@dataclass(slots=True)
class Step:
    """A reply and the calls it asked for, in its order."""

    message: AIMessage
    calls: list[Call]


@dataclass(slots=True)
class TurnState:
    """One prompt and what was done to answer it; `cursor` is the last line before the turn's first."""

    input: Input
    start: TurnStart
    cancelled: bool = False
    steps: list[Step] = field(default_factory=list)
    end: TurnEnd | None = None

    def messages(self) -> list[Message]:
        """The turn as messages; every call has its result right behind its reply."""
        assert self.input.prompt is not None  # only prompts have turns
        messages: list[Message] = [message_of(self.input.prompt).replace(id=self.input.message_id)]
        for step in self.steps:
            messages.append(step.message)
            messages += [call.message() for call in step.calls]
        if self.end is not None and self.end.partial:
            messages.append(AIMessage(self.end.partial, metadata={"incomplete": True}))
        return messages

    @property
    def is_sent(self) -> bool:
        """Whether later requests tell the model of this turn: not where it failed before there was a reply."""
        return bool(self.steps) or self.end is None or self.end.stop_reason not in ("error", "refused")

    def open_calls(self) -> list[Call]:
        """The calls that have no result."""
        return [call for step in self.steps for call in step.calls if call.result is None]


@dataclass(slots=True)
class Waiting:
    """A prompt in the queue."""

    input: Input
    cancelled: bool = False


@dataclass(slots=True)
class Conversation:
    """The state after the records up to `seq`; `size` is their bytes."""

    seq: int = 0
    size: int = 0
    epoch: int = 0
    turns: list[TurnState] = field(default_factory=list)
    open: TurnState | None = None
    waiting: list[Waiting] = field(default_factory=list)
    prompts: set[str] = field(default_factory=set)
    cancels: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)

    @property
    def has_work(self) -> bool:
        """Whether a turn is open or an input waits."""
        return self.open is not None or bool(self.waiting)

    def is_pending(self, message_id: str) -> bool:
        """Whether a prompt waits or is being answered."""
        if self.open is not None and self.open.input.message_id == message_id:
            return True
        return any(waiting.input.message_id == message_id for waiting in self.waiting)

    def messages(self) -> list[Message]:
        """The conversation for people: all turns, the open one so far."""
        return [message for turn in self._all_turns() for message in turn.messages()]

    def transcript(self) -> list[Message]:
        """The conversation for a model: valid to send, without turns that failed before there was a reply."""
        return [message for turn in self._all_turns() if turn.is_sent for message in turn.messages()]

    def extend(self, stored: Iterable[StoredRecord]) -> None:
        """Read and apply stored records; the first bad one raises, and the state stays as it was before it."""
        for record in stored:
            self.apply(record.seq, decode(record.data, seq=record.seq), size=len(record.data))

    def apply(self, seq: int, record: Record, *, size: int = 0) -> None:
        """Add one record; `journal_invalid` if it cannot follow the ones before."""
        if seq != self.seq + 1:
            raise _invalid(seq, f"record {self.seq + 1} was expected")
        match record:
            case Input(type="prompt"):
                self._prompt(record)
            case Input():
                self._cancel(record)
            case Claim():
                self._claim(seq, record)
            case TurnStart():
                self._start(seq, record)
            case Reply():
                self._reply(seq, record)
            case CallStart():
                self._calls_start(seq, record)
            case CallResult():
                self._call_result(seq, record)
            case TurnEnd():
                self._end(seq, record)
        self.seq = seq
        self.size += size

    def _all_turns(self) -> list[TurnState]:
        return [*self.turns, *([self.open] if self.open else [])]

    def _prompt(self, record: Input) -> None:
        if record.message_id in self.prompts:
            return
        self.prompts.add(record.message_id)
        self.waiting.append(Waiting(record, cancelled=record.message_id in self.cancels))
        self.cancels.discard(record.message_id)

    def _cancel(self, record: Input) -> None:
        target = record.target
        if self.open is not None and target in (None, self.open.input.message_id):
            self.open.cancelled = True
        elif target is not None and target not in self.prompts:
            self.cancels.add(target)
        for waiting in self.waiting:
            if waiting.input.message_id == target:
                waiting.cancelled = True

    def _claim(self, seq: int, record: Claim) -> None:
        if record.epoch != self.epoch + 1:
            raise _invalid(seq, f"epoch {record.epoch} cannot follow {self.epoch}")
        self.epoch = record.epoch

    def _start(self, seq: int, record: TurnStart) -> None:
        if self.open is not None:
            raise _invalid(seq, "a turn starts while another is open")
        waiting = self._taken(seq, record.message_id)
        self.open = TurnState(input=waiting.input, start=record, cancelled=waiting.cancelled)

    def _reply(self, seq: int, record: Reply) -> None:
        turn = self._open(seq)
        calls = [Call(call, recorded) for call, recorded in zip(record.message.tool_calls, record.calls, strict=True)]
        new = {call.recorded.execution_id: call for call in calls}
        if len(new) < len(calls) or new.keys() & self.calls.keys():
            raise _invalid(seq, "an execution id is used twice")
        message = record.message
        turn.steps.append(Step(message.replace(id=message.id or f"{turn.input.message_id}:{len(turn.steps)}"), calls))
        self.calls.update(new)

    def _calls_start(self, seq: int, record: CallStart) -> None:
        calls = [self._call(seq, id) for id in record.execution_ids]
        for call in calls:
            call.started = True

    def _call_result(self, seq: int, record: CallResult) -> None:
        self._call(seq, record.execution_id).result = record

    def _end(self, seq: int, record: TurnEnd) -> None:
        if self.open is None or self.open.input.message_id != record.message_id:
            self._taken(seq, record.message_id)
            return
        results = [(self._call(seq, result.execution_id), result) for result in record.results]
        for call, result in results:
            call.result = result
        self.open.end = record
        self.turns.append(self.open)
        self.open = None
        self.calls.clear()

    def _open(self, seq: int) -> TurnState:
        if self.open is None:
            raise _invalid(seq, "no turn is open")
        return self.open

    def _taken(self, seq: int, message_id: str) -> Waiting:
        for index, waiting in enumerate(self.waiting):
            if waiting.input.message_id == message_id:
                return self.waiting.pop(index)
        raise _invalid(seq, f"no prompt {message_id!r} waits")

    def _call(self, seq: int, execution_id: str) -> Call:
        call = self.calls.get(execution_id)
        if call is None or call.result is not None:
            raise _invalid(seq, f"no call {execution_id!r} is open")
        return call


def fold(stored: Iterable[StoredRecord]) -> Conversation:
    """The conversation that these records, from the first on, add up to."""
    conversation = Conversation()
    conversation.extend(stored)
    return conversation


def _invalid(seq: int, what: str) -> JournalInvalidError:
    return JournalInvalidError(f"record {seq} of the journal cannot follow the ones before it: {what}", seq=seq)
