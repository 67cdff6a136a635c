"""What records add up to."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfx_web.durable import codec
from langfx_web.durable.fold import AMBIGUOUS, NOT_RUN, Conversation, fold
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
from langfx_web.messages import AIMessage, Message, Text, ToolCall, ToolMessage, UserMessage
from langfx_web.stores import StoredRecord


def prompt(id: str) -> Input:
    """A user says its id."""
    return Input(type="prompt", message_id=id, origin="w", nonce=f"n-{id}", prompt=f"prompt {id}")


def cancel(target: str | None, id: str = "c") -> Input:
    """A user cancels."""
    return Input(type="cancel", message_id=id, origin="w", nonce=f"n-{id}", target=target)


def start(id: str) -> TurnStart:
    """A worker begins to answer."""
    return TurnStart(message_id=id, model="m", tools="t")


def end(id: str, reason: str = "end_turn", partial: str = "", results: tuple[CallResult, ...] = ()) -> TurnEnd:
    """A turn is over."""
    return TurnEnd(message_id=id, stop_reason=reason, partial=partial, results=results)


def reply(text: str, *execution_ids: str, step: int = 0) -> Reply:
    """The model answers, with a call per execution id."""
    calls = [ToolCall(f"call-{id}", "pay", {"id": id}) for id in execution_ids]
    return Reply(
        step=step,
        message=AIMessage(text, *calls),
        calls=tuple(
            RecordedCall(execution_id=id, call_id=f"call-{id}", idempotent=False, writes=True) for id in execution_ids
        ),
    )


def result(id: str, text: str = "paid") -> CallResult:
    """A call is done."""
    return CallResult(execution_id=id, parts=(Text(text),))


def stored(records: list[Record]) -> list[StoredRecord]:
    """The records as a store gives them."""
    return [StoredRecord(seq, codec.encode(record, at="")) for seq, record in enumerate(records, 1)]


def folded(*records: Record) -> Conversation:
    """The conversation of these records."""
    return fold(stored(list(records)))


def waiting(conversation: Conversation) -> list[str]:
    """The ids in the queue."""
    return [item.input.message_id for item in conversation.waiting]


def test_prompts_wait_in_log_order() -> None:
    """First in, first out; a repeated id is ignored."""
    conversation = folded(prompt("a"), prompt("b"), prompt("a"))
    assert (waiting(conversation), conversation.has_work, conversation.open) == (["a", "b"], True, None)


def test_a_turn_takes_its_prompt() -> None:
    """What is being answered does not wait any more."""
    conversation = folded(prompt("a"), prompt("b"), Claim(holder="w", epoch=1), start("a"))
    assert conversation.open is not None
    assert (conversation.open.input, waiting(conversation), conversation.epoch) == (prompt("a"), ["b"], 1)


def test_a_conversation_as_messages() -> None:
    """Prompt, reply, results in call order right behind it, whatever order they came in, then the next reply."""
    conversation = folded(
        prompt("a"),
        start("a"),
        reply("look", "e1", "e2"),
        CallStart(execution_ids=("e1", "e2")),
        result("e2", "two"),
        result("e1", "one"),
        reply("done", step=1),
        end("a"),
    )
    expected: list[Message] = [
        UserMessage("prompt a"),
        AIMessage("look", ToolCall("call-e1", "pay", {"id": "e1"}), ToolCall("call-e2", "pay", {"id": "e2"})),
        ToolMessage("one", call_id="call-e1", name="pay"),
        ToolMessage("two", call_id="call-e2", name="pay"),
        AIMessage("done"),
    ]
    assert conversation.messages() == conversation.transcript() == expected
    assert [message.id for message in conversation.messages()] == ["a", "a:0", None, None, "a:1"]
    assert not conversation.has_work


def test_what_is_sent_is_always_valid() -> None:
    """A call without a result is answered with an error that says whether it may have run."""
    conversation = folded(
        prompt("a"), start("a"), reply("look", "e1", "e2"), CallStart(execution_ids=("e1",)), end("a", "unknown")
    )
    answers = [message for message in conversation.transcript() if isinstance(message, ToolMessage)]
    assert [(answer.text, answer.is_error) for answer in answers] == [(AMBIGUOUS, True), (NOT_RUN, True)]


def test_closing_results_are_results() -> None:
    """The end of a turn answers the calls that it cut off."""
    closing = CallResult(execution_id="e1", parts=(Text("cut off"),), is_error=True)
    conversation = folded(prompt("a"), start("a"), reply("look", "e1"), end("a", "cancelled", results=(closing,)))
    assert conversation.messages()[-1] == ToolMessage("cut off", call_id="call-e1", name="pay", is_error=True)


def test_the_text_of_a_cut_reply_is_kept() -> None:
    """What a cancelled turn had said is sent on, marked as not complete."""
    conversation = folded(prompt("a"), start("a"), end("a", "cancelled", partial="I was ab"))
    assert conversation.transcript() == [UserMessage("prompt a"), AIMessage("I was ab", metadata={"incomplete": True})]


@pytest.mark.parametrize("reason", ["error", "refused"])
def test_a_turn_that_failed_at_once_is_shown_and_not_sent(reason: str) -> None:
    """A model is not told again of what it could not answer, people see it."""
    failed = folded(prompt("a"), start("a"), end("a", reason), prompt("b"), start("b"))
    assert failed.messages() == [UserMessage("prompt a"), UserMessage("prompt b")]
    assert failed.transcript() == [UserMessage("prompt b")]
    later = folded(prompt("a"), start("a"), reply("look", "e1"), result("e1"), end("a", reason))
    assert later.transcript() == later.messages() != []


def test_a_cancel_without_target_hits_the_open_turn() -> None:
    """It means the turn that is open where it stands in the log, and nothing later."""
    hit = folded(prompt("a"), prompt("b"), start("a"), cancel(None))
    assert hit.open is not None
    assert (hit.open.cancelled, hit.waiting[0].cancelled) == (True, False)
    spent = folded(prompt("a"), cancel(None), start("a"))
    assert spent.open is not None
    assert spent.open.cancelled is False


def test_a_cancel_with_target_hits_that_prompt() -> None:
    """Waiting, running, or yet to come; not one that has ended."""
    assert [item.cancelled for item in folded(prompt("a"), prompt("b"), cancel("b")).waiting] == [False, True]
    assert folded(cancel("a"), prompt("a")).waiting[0].cancelled is True
    running = folded(prompt("a"), start("a"), cancel("a"))
    assert running.open is not None
    assert running.open.cancelled is True
    ended = folded(prompt("a"), start("a"), end("a"), cancel("a"), prompt("a"))
    assert (waiting(ended), ended.cancels) == ([], set())


def test_a_waiting_prompt_may_end() -> None:
    """A prompt that was cancelled in the queue leaves no trace in the conversation."""
    conversation = folded(prompt("a"), prompt("b"), cancel("a"), end("a", "cancelled"))
    assert (waiting(conversation), conversation.messages()) == (["b"], [])


@pytest.mark.parametrize(
    "records",
    [
        [start("a")],
        [prompt("a"), start("b")],
        [prompt("a"), prompt("b"), start("a"), start("b")],
        [prompt("a"), start("a"), start("a")],
        [reply("hi")],
        [prompt("a"), start("a"), reply("hi", "e1", "e1")],
        [prompt("a"), start("a"), reply("hi", "e1"), reply("hi", "e1")],
        [prompt("a"), start("a"), CallStart(execution_ids=("e1",))],
        [prompt("a"), start("a"), reply("hi", "e1"), result("e2")],
        [prompt("a"), start("a"), reply("hi", "e1"), result("e1"), result("e1")],
        [prompt("a"), start("a"), reply("hi", "e1"), result("e1"), CallStart(execution_ids=("e1",))],
        [end("a")],
        [prompt("a"), start("a"), end("b")],
        [prompt("a"), start("a"), end("a"), end("a")],
        [prompt("a"), start("a"), end("a", results=(result("e1"),))],
        [Claim(holder="w", epoch=2)],
        [Claim(holder="w", epoch=1), Claim(holder="w", epoch=1)],
    ],
)
def test_a_record_that_cannot_follow(records: list[Record]) -> None:
    """Row 89: it is refused at its place, and the state stays what it was before it."""
    conversation = Conversation()
    with pytest.raises(JournalInvalidError) as caught:
        conversation.extend(stored(records))
    assert caught.value.seq == len(records)
    assert conversation == fold(stored(records)[:-1])


def test_missing_and_doubled_records() -> None:
    """Row 89: a gap or a repeated number is found, and what comes before it is readable."""
    log = stored([prompt("a"), prompt("b"), prompt("c")])
    for damaged, seq in (([log[0], log[2]], 3), ([log[0], log[0], log[1]], 1), (log[1:], 2)):
        conversation = Conversation()
        with pytest.raises(JournalInvalidError) as caught:
            conversation.extend(damaged)
        assert caught.value.seq == seq
        assert waiting(conversation) == ([] if seq == 2 else ["a"])


@dataclass
class Author:
    """Writes a random log that could have happened, and says nothing about what it means."""

    draw: st.DrawFn
    log: list[Record] = field(default_factory=list)
    queue: list[str] = field(default_factory=list)
    running: str | None = None
    open_calls: list[str] = field(default_factory=list)
    number: int = 0

    def write(self) -> None:
        """Add one thing that may happen now."""
        actions = [self._prompt, self._cancel, self._claim]
        if self.running is None and self.queue:
            actions += [self._start] * 3
        if self.queue:
            actions.append(self._drop)
        if self.running is not None:
            actions += [self._reply, self._end]
            actions += [self._start_call, self._finish_call] * 2 if self.open_calls else []
        self.draw(st.sampled_from(actions))()

    def _fresh(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def _prompt(self) -> None:
        known = [record.message_id for record in self.log if isinstance(record, Input) and record.type == "prompt"]
        id = self.draw(st.sampled_from([*known, "future", self._fresh("p")]))
        self.log.append(prompt(id))
        if id not in known:
            self.queue.append(id)

    def _cancel(self) -> None:
        known = [record.message_id for record in self.log if isinstance(record, Input) and record.type == "prompt"]
        self.log.append(cancel(self.draw(st.sampled_from([None, "future", *known])), self._fresh("c")))

    def _claim(self) -> None:
        self.log.append(Claim(holder="w", epoch=1 + sum(isinstance(record, Claim) for record in self.log)))

    def _start(self) -> None:
        self.running = self.queue.pop(self.draw(st.integers(0, len(self.queue) - 1)))
        self.log.append(start(self.running))

    def _drop(self) -> None:
        self.log.append(end(self.queue.pop(0), "cancelled"))

    def _reply(self) -> None:
        new = [self._fresh("e") for _ in range(self.draw(st.integers(0, 3)))]
        self.log.append(reply(self._fresh("says "), *new))
        self.open_calls += new

    def _start_call(self) -> None:
        self.log.append(CallStart(execution_ids=(self.draw(st.sampled_from(self.open_calls)),)))

    def _finish_call(self) -> None:
        id = self.open_calls.pop(self.draw(st.integers(0, len(self.open_calls) - 1)))
        self.log.append(result(id, f"result of {id}"))

    def _end(self) -> None:
        assert self.running is not None
        reason = self.draw(st.sampled_from(["end_turn", "cancelled", "error"]))
        closed = self.open_calls if self.draw(st.booleans()) else []
        closing = tuple(result(id, f"closed {id}") for id in closed)
        self.log.append(end(self.running, reason, self.draw(st.sampled_from(["", "partial"])), closing))
        self.running, self.open_calls = None, []


@st.composite
def logs(draw: st.DrawFn) -> list[Record]:
    """Logs that could have happened."""
    author = Author(draw)
    for _ in range(draw(st.integers(0, 40))):
        author.write()
    return author.log


def plain_state(log: list[Record]) -> dict[str, object]:
    """The plain reference: each question is answered by looking through the whole log for what decides it."""
    said = [r.message_id for r in log if isinstance(r, Input) and r.type == "prompt"]
    prompts = list(dict.fromkeys(said))
    started = [r.message_id for r in log if isinstance(r, TurnStart)]
    ended = {r.message_id for r in log if isinstance(r, TurnEnd)}
    still_open = next((id for id in started if id not in ended), None)
    queue = [id for id in prompts if id not in started and id not in ended]
    return {
        "waiting": [(id, plain_cancelled(log, id)) for id in queue],
        "open": None if still_open is None else (still_open, plain_cancelled(log, still_open)),
        "epoch": max([r.epoch for r in log if isinstance(r, Claim)], default=0),
        "texts": [text for id in started for text in plain_turn(log, id)],
        "sent": [text for id in started if plain_sent(log, id) for text in plain_turn(log, id)],
    }


def plain_cancelled(log: list[Record], id: str) -> bool:
    """Whether a cancel has hit a prompt that has not ended."""
    is_open = False
    for record in log:
        is_open = is_open or (isinstance(record, TurnStart) and record.message_id == id)
        if isinstance(record, Input) and record.type == "cancel" and record.target in (id, None if is_open else id):
            return True
    return False


def plain_span(log: list[Record], id: str) -> list[Record]:
    """The records of a turn."""
    begin = next(n for n, r in enumerate(log) if isinstance(r, TurnStart) and r.message_id == id)
    until = next((n for n, r in enumerate(log) if isinstance(r, TurnEnd) and r.message_id == id), len(log))
    return log[begin : until + 1]


def plain_turn(log: list[Record], id: str) -> list[str]:
    """The texts of a turn, each call's answer behind its reply."""
    span = plain_span(log, id)
    texts = [f"prompt {id}"]
    for record in span:
        if isinstance(record, Reply):
            texts.append(record.message.text)
            texts += [plain_answer(span, call.execution_id) for call in record.calls]
        if isinstance(record, TurnEnd) and record.message_id == id and record.partial:
            texts.append(record.partial)
    return texts


def plain_answer(span: list[Record], id: str) -> str:
    """What a call is answered with."""
    results = [r for r in span if isinstance(r, CallResult)]
    results += [closing for r in span if isinstance(r, TurnEnd) for closing in r.results]
    own = next((r for r in results if r.execution_id == id), None)
    if own is not None:
        return "".join(part.text for part in own.parts if isinstance(part, Text))
    has_started = any(isinstance(r, CallStart) and id in r.execution_ids for r in span)
    return AMBIGUOUS if has_started else NOT_RUN


def plain_sent(log: list[Record], id: str) -> bool:
    """Whether a model is told of a turn."""
    span = plain_span(log, id)
    failed = any(isinstance(r, TurnEnd) and r.message_id == id and r.stop_reason == "error" for r in span)
    return not failed or any(isinstance(r, Reply) for r in span)


def state_of(conversation: Conversation) -> dict[str, object]:
    """The same answers, from the fold."""
    opened = conversation.open
    return {
        "waiting": [(item.input.message_id, item.cancelled) for item in conversation.waiting],
        "open": None if opened is None else (opened.input.message_id, opened.cancelled),
        "epoch": conversation.epoch,
        "texts": [message.text for message in conversation.messages()],
        "sent": [message.text for message in conversation.transcript()],
    }


@settings(max_examples=150, deadline=None)
@given(logs())
def test_the_fold_of_any_log(log: list[Record]) -> None:
    """Row 99: every prefix of a log that could have happened folds, to what a plain reading of it says."""
    records = stored(log)
    conversation = Conversation()
    for end_ in range(len(records) + 1):
        assert state_of(conversation) == plain_state(log[:end_])
        assert conversation.seq == end_
        conversation.extend(records[end_ : end_ + 1])
    assert conversation == fold(records)
    assert conversation.size == sum(len(record.data) for record in records)


@settings(max_examples=80, deadline=None)
@given(logs())
def test_any_transcript_is_valid(log: list[Record]) -> None:
    """Row 99: in whatever state a conversation is, each call is followed by exactly its results."""
    transcript = fold(stored(log)).transcript()
    expected: list[str] = []
    for message in transcript:
        if isinstance(message, ToolMessage):
            assert message.call_id == expected.pop(0)
        else:
            assert expected == []
            expected = [call.id for call in message.tool_calls]
    assert expected == []
