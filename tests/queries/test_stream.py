"""An answer that is shown while it is written: its events, its one end, and every way of leaving it."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from pydantic import BaseModel, Field, field_validator

import langfx_web as lf
from langfx_web import events
from langfx_web.errors import (
    BudgetExceededError,
    DeadlineExceededError,
    IncompleteGenerationError,
    InvalidArgumentError,
    MappingError,
    OutputLimitError,
    RateLimitError,
    TemplateError,
)
from langfx_web.events import GenerationCancelled, GenerationComplete, GenerationFailed, ParsingFailed, TextDelta
from langfx_web.messages import AIMessage, Text, Thought
from langfx_web.schemas import wait_for_pydantic
from langfx_web.testing import ManualClock, StaticResponse
from langfx_web.transport import HANG
from langfx_web.usage import Usage
from tests.llms.messages_wire import answered, end, error, ok, opened, refused, start, text, text_delta


@dataclass
class Note:
    """A text and what it is about."""

    text: str
    tags: list[str]


NOTE = "Note(text='hé', tags=['a'])"
BEGUN = start() + opened(0, type="text", text="") + text_delta(0, "Note(text='h")
WHOLE = ok(start() + text(0, "Note(text='h', tags=[])") + end())


async def shown(stream: lf.QueryStream) -> list[Any]:
    """All events, with the deltas of a text joined."""
    found: list[Any] = []
    async for event in stream:
        last = found[-1] if found else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            found[-1] = TextDelta(delta=last.delta + event.delta)
        elif isinstance(event, events.StringFieldDelta) and isinstance(last, events.StringFieldDelta):
            found[-1] = events.StringFieldDelta(event.path, last.delta + event.delta)
        else:
            found.append(event)
    return found


# What is shown


@pytest.mark.parametrize("size", [1, 2, 5, None])
async def test_langfx_39_a_note_is_shown_field_by_field(size: int | None) -> None:
    """However the model cuts it, the same events come, and the value is in the last one alone."""
    *found, terminal = await shown(lf.query_stream("Note it.", Note, lm=StaticResponse(NOTE, chunk_size=size)))
    assert found == [
        events.ObjectStart((), "object", "Note"),
        events.FieldStart(("text",)),
        events.StringFieldDelta(("text",), "hé"),
        events.FieldEnd(("text",), "hé"),
        events.FieldStart(("tags",)),
        events.ObjectStart(("tags",), "list"),
        events.FieldStart(("tags", 0)),
        events.StringFieldDelta(("tags", 0), "a"),
        events.FieldEnd(("tags", 0), "a"),
        events.ObjectEnd(("tags",)),
        events.FieldEnd(("tags",), ("a",)),
        events.ObjectEnd(()),
    ]
    assert terminal.value == Note("hé", ["a"])
    assert terminal.message.result == terminal.value
    assert terminal.message.text == NOTE


@pytest.mark.parametrize("schema", [None, str])
async def test_langfx_43_a_text_is_shown_as_it_comes(schema: Any) -> None:
    """Thoughts before it are shown as such, and the end has the whole text, the message and its cost."""
    usage = Usage(input_tokens=3, output_tokens=2)
    answer = AIMessage(Thought("hm, hm"), Text("Hi there"), usage=usage)
    stream = lf.query_stream("Hello", schema, lm=StaticResponse(answer, chunk_size=3))
    assert [event async for event in stream] == [
        events.ThoughtDelta(delta="hm,"),
        events.ThoughtDelta(delta=" hm"),
        TextDelta(delta="Hi "),
        TextDelta(delta="the"),
        TextDelta(delta="re"),
        GenerationComplete(
            value="Hi there",
            message=answer,
            usage=Usage(input_tokens=3, output_tokens=2, num_requests=1),
        ),
    ]


async def test_the_text_of_a_typed_answer_is_shown_on_request() -> None:
    """Each piece of it before what became of it."""
    stream = lf.query_stream("Note it.", Note, lm=StaticResponse(NOTE, chunk_size=12), include_text=True)
    found = [event async for event in stream]
    assert found[:3] == [
        TextDelta(delta=NOTE[:12]),
        events.ObjectStart((), "object", "Note"),
        events.FieldStart(("text",)),
    ]
    assert "".join(event.delta for event in found if isinstance(event, TextDelta)) == NOTE


async def test_langfx_26_nothing_of_a_class_is_run_before_the_end() -> None:
    """Constructors, validators and factories run once, for the value of the last event."""
    runs: list[str] = []

    class Counted(BaseModel):
        text: str
        tags: list[str] = Field(default_factory=lambda: runs.append("factory") or [])  # type: ignore[func-returns-value]

        @field_validator("text")
        @classmethod
        def count(cls, value: str) -> str:
            runs.append("validator")
            return value

        def model_post_init(self, context: Any) -> None:
            runs.append("constructor")

    lm = StaticResponse("Counted(text='it is long enough')", chunk_size=1)
    async for event in lf.query_stream("?", Counted, lm=lm):
        assert (runs == []) or isinstance(event, GenerationComplete)
    assert sorted(runs) == ["constructor", "factory", "validator"]


async def test_an_answer_of_another_type_fails_as_the_call_does() -> None:
    """The last event has the error that a call raises, and the answer."""
    answer = "Note(text=1, tags=[])"
    *found, terminal = await shown(lf.query_stream("?", Note, lm=StaticResponse(answer)))
    assert events.FieldEnd(("text",), 1) in found
    assert isinstance(terminal, ParsingFailed)
    assert isinstance(terminal.error, MappingError)
    assert terminal.error.cause.code == "output_mismatch"
    assert terminal.error.lm_response.text == terminal.message.text == answer


async def test_options_of_a_call_that_shape_no_request_are_taken() -> None:
    """So that both can be asked with the same ones; a stream keeps no answers."""
    lm = StaticResponse("4")
    for seed in (0, None):
        [*_, terminal] = await shown(lf.query_stream("2 + 2?", int, lm=lm, cache_seed=seed, timeout=30))
        assert terminal.value == 4


async def test_a_paused_answer_is_never_read() -> None:
    """Nor is one that was cut by its limit, even where it happens to be a value."""
    for reason in ("pause", "length"):
        lm = StaticResponse(AIMessage(NOTE, finish_reason=reason))
        *_, terminal = await shown(lf.query_stream("?", Note, lm=lm))
        assert isinstance(terminal, GenerationFailed)
        assert isinstance(terminal.error, IncompleteGenerationError)


async def test_over_a_limit_the_request_is_closed_at_once() -> None:
    """The stream ends with the limit, though the provider would go on for ever."""
    model, transport = answered(ok(start() + opened(0, type="text", text="") + text_delta(0, "[[[["), HANG))
    limits = lf.ParseLimits(max_depth=3)
    *_, terminal = await shown(lf.query_stream("?", list[Any], lm=model, parse_limits=limits))
    assert isinstance(terminal, GenerationFailed)
    assert isinstance(terminal.error, OutputLimitError)
    assert (transport.aborted, transport.open) == (1, 0)


async def test_a_limit_that_shows_at_the_end_ends_it_alike() -> None:
    """Where reading had stopped at a fault, too."""
    lm = StaticResponse("x = [[[[1]]]]")
    *_, terminal = await shown(lf.query_stream("?", int, lm=lm, parse_limits=lf.ParseLimits(max_depth=3)))
    assert isinstance(terminal, GenerationFailed)
    assert terminal.error.code == "output_limit"


@pytest.mark.parametrize("cancelled", [False, True])
async def test_the_value_waits_for_pydantic(cancelled: bool) -> None:
    """Where it comes later: fields are shown before, and the query can be cancelled meanwhile."""
    arrived = asyncio.Event()

    async def wait() -> None:
        await arrived.wait()

    token = wait_for_pydantic.set(wait)
    try:
        found: list[Any] = []
        stream = lf.query_stream("?", Note, lm=StaticResponse(NOTE, chunk_size=9))

        async def read() -> None:
            async for event in stream:
                found.append(event)  # noqa: PERF401  # looked at while it grows

        task = asyncio.create_task(read())
        await asyncio.sleep(0.01)
        assert found[-1].type in ("field_end", "object_end")
        stream.cancel() if cancelled else arrived.set()
        await task
    finally:
        wait_for_pydantic.reset(token)
    assert found[-1].type == ("generation_cancelled" if cancelled else "generation_complete")
    assert sum(event.type.startswith("generation") for event in found) == 1


# Failures


def bad_calls() -> list[tuple[Callable[[Any], Any], type[Exception]]]:
    return [
        (lambda lm: lf.query_stream("hi"), InvalidArgumentError),
        (lambda lm: lf.query_stream("hi", lm=lm, warmth=3), TypeError),
        (lambda lm: lf.query_stream("{{x}}", lm=lm), TemplateError),
        (lambda lm: lf.query_stream("hi", Note, lm=lm, protocol="xml"), InvalidArgumentError),
        (lambda lm: lf.query_stream("hi", lm=lm, timeout=float("nan")), InvalidArgumentError),
        (lambda lm: lf.query_stream("hi", lm=lm, n=2), InvalidArgumentError),
        (lambda lm: lf.query_stream("hi", lm=lm.with_options(n=2)), InvalidArgumentError),
    ]


@pytest.mark.parametrize(("call", "kind"), bad_calls())
async def test_a_bad_option_is_raised_at_the_call(call: Callable[[Any], Any], kind: type[Exception]) -> None:
    """Before anything is iterated or sent."""
    lm = StaticResponse("x")
    with pytest.raises(kind):
        call(lm)
    assert lm.requests == []


@pytest.mark.parametrize(
    "answer",
    [refused(429, "rate_limit_error"), ok(BEGUN, error("overloaded_error")), ok(BEGUN)],
    ids=["before the first field", "after it", "cut off"],
)
async def test_langfx_40_a_failure_is_an_event(answer: Any) -> None:
    """Whenever it comes: the last one, once, and nothing is raised."""
    model, transport = answered(answer)
    found = await shown(lf.query_stream("?", Note, lm=model))
    assert [isinstance(event, GenerationFailed) for event in found] == [False] * (len(found) - 1) + [True]
    assert found[-1].error.code in ("rate_limit", "temporary", "incomplete_generation")
    assert transport.open == 0


@pytest.mark.parametrize(
    "failure",
    [BudgetExceededError("spent", limit="max_requests"), RateLimitError("wait"), ValueError("a model's own fault")],
)
async def test_langfx_40_whatever_a_model_raises_is_an_event(failure: Exception) -> None:
    """A spent budget, an error of the provider, and one that nobody foresaw."""
    for after in (0, 2):
        lm = StaticResponse(NOTE, chunk_size=8, fail_after=(after, failure))
        *_, terminal = await shown(lf.query_stream("?", Note, lm=lm))
        assert terminal == GenerationFailed(error=failure)


@pytest.mark.parametrize("timeout", [0, -1])
async def test_langfx_40_without_time_nothing_is_sent(timeout: float) -> None:
    """It fails before the request."""
    lm = StaticResponse(NOTE)
    [terminal] = await shown(lf.query_stream("?", Note, lm=lm, timeout=timeout))
    assert isinstance(terminal.error, DeadlineExceededError)
    assert lm.requests == []


@pytest.mark.parametrize("answer", [HANG, ok(HANG), ok(BEGUN, HANG)], ids=["no headers", "no field", "a field"])
async def test_langfx_40_the_deadline_ends_the_request(answer: Any) -> None:
    """At its moment, whatever had come by then."""
    clock = ManualClock()
    model, transport = answered(answer, clock=clock)
    task = asyncio.create_task(shown(lf.query_stream("?", Note, lm=model, timeout=5)))
    await clock.advance(4.9)
    assert not task.done()
    await clock.advance(0.2)
    *_, terminal = task.result()
    assert isinstance(terminal.error, DeadlineExceededError)
    assert (transport.aborted, transport.open, task.cancelling()) == (1, 0, 0)


async def test_the_readers_own_time_counts_too() -> None:
    """What has come is still shown, and then it is too late to wait for more."""
    clock = ManualClock()
    model, transport = answered(ok(BEGUN, HANG), clock=clock)
    stream = lf.query_stream("?", Note, lm=model, timeout=5)
    first = await anext(stream)
    await clock.advance(6)
    found = [first, *await shown(stream)]
    assert [event.type for event in found] == [
        "object_start",
        "field_start",
        "string_field_delta",
        "generation_failed",
    ]
    assert (transport.aborted, transport.open) == (1, 0)


# Cancelling


@pytest.mark.parametrize("answer", [HANG, ok(HANG), ok(BEGUN, HANG)], ids=["no headers", "no field", "a field"])
async def test_langfx_41_cancelling_the_readers_task_is_raised(answer: Any) -> None:
    """Never an event, and the request has ended by then."""
    model, transport = answered(answer)
    found: list[Any] = []
    ended_before = []

    async def read() -> None:
        try:
            found.extend([event async for event in lf.query_stream("?", Note, lm=model)])
        except asyncio.CancelledError:
            ended_before.append(transport.open == 0)
            raise

    task = asyncio.create_task(read())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended_before == [True]
    assert (transport.aborted, transport.open) == (1, 0)
    assert not any(event.type.startswith("generation") for event in found)


@pytest.mark.parametrize("answer", [HANG, ok(HANG), ok(BEGUN, HANG)], ids=["no headers", "no field", "a field"])
async def test_langfx_41_cancelling_the_stream_is_an_event(answer: Any) -> None:
    """Its reader's task goes on, and is not left cancelled."""
    model, transport = answered(answer)
    stream = lf.query_stream("?", Note, lm=model)
    task = asyncio.create_task(shown(stream))
    await asyncio.sleep(0.01)
    stream.cancel("seen enough")
    stream.cancel("twice")
    found = await task
    assert found[-1] == GenerationCancelled(reason="seen enough")
    assert [event.type for event in found].count("generation_cancelled") == 1
    assert (transport.aborted, transport.open, task.cancelling()) == (1, 0, 0)


async def test_langfx_41_cancelling_between_two_events_drops_the_rest() -> None:
    """What was ready is not shown any more; the request ends at once."""
    model, transport = answered(ok(BEGUN, HANG))
    stream = lf.query_stream("?", Note, lm=model)
    found: list[Any] = []
    async for event in stream:
        found.append(event)
        if len(found) == 1:
            stream.cancel()
            assert (transport.aborted, transport.open) == (1, 0)
    assert [event.type for event in found] == ["object_start", "generation_cancelled"]


async def test_langfx_41_cancelled_before_it_is_read_nothing_is_sent() -> None:
    """One event, no request."""
    lm = StaticResponse(NOTE)
    stream = lf.query_stream("?", Note, lm=lm)
    stream.cancel()
    assert [event.type for event in await shown(stream)] == ["generation_cancelled"]
    assert lm.requests == []


async def test_cancelling_what_has_ended_changes_nothing() -> None:
    """The outcome that came first stays."""
    stream = lf.query_stream("?", lm=StaticResponse("x"))
    found = await shown(stream)
    stream.cancel()
    await stream.aclose()
    assert [event.type for event in found] == ["text_delta", "generation_complete"]


async def test_langfx_41_both_at_once_is_a_cancelled_task() -> None:
    """Whoever cancels the reader itself counts more, in either order."""
    for cancel_stream_first in (True, False):
        model, transport = answered(ok(BEGUN, HANG))
        stream = lf.query_stream("?", Note, lm=model)
        task = asyncio.create_task(shown(stream))
        await asyncio.sleep(0.01)
        for cancel in (stream.cancel, task.cancel) if cancel_stream_first else (task.cancel, stream.cancel):
            cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (transport.aborted, transport.open) == (1, 0)


# Leaving


async def test_langfx_42_every_way_of_leaving_ends_the_request_once() -> None:
    """Before the next statement runs, without the garbage collector, and the model can be asked again."""
    model, transport = answered(*[ok(BEGUN, HANG)] * 6, WHOLE)

    async def returns() -> Any:
        async for event in lf.query_stream("?", Note, lm=model):
            return event
        return None

    async def raises() -> None:
        async for _ in lf.query_stream("?", Note, lm=model):
            raise ZeroDivisionError

    gc.disable()
    try:
        async for _ in lf.query_stream("?", Note, lm=model):
            break
        assert transport.aborted == 1
        assert (await returns()).type == "object_start"
        assert transport.aborted == 2
        with pytest.raises(ZeroDivisionError):
            await raises()
        assert transport.aborted == 3
        async with lf.query_stream("?", Note, lm=model) as stream:
            await anext(stream)
        assert transport.aborted == 4
        await anext(lf.query_stream("?", Note, lm=model))
        assert transport.aborted == 5
        held = lf.query_stream("?", Note, lm=model)
        async for _ in held:
            break
        await held.aclose()
        await held.aclose()
        assert (transport.aborted, transport.open) == (6, 0)
    finally:
        gc.enable()
    assert (await shown(lf.query_stream("?", Note, lm=model)))[-1].value == Note("h", [])


async def test_langfx_42_closing_what_was_never_read_sends_nothing() -> None:
    """No request, and no events after it."""
    lm = StaticResponse(NOTE)
    stream = lf.query_stream("?", Note, lm=lm)
    await stream.aclose()
    assert lm.requests == []
    with pytest.raises(InvalidArgumentError, match="left before its end"):
        await anext(stream)


async def test_closing_waits_until_a_model_has_let_go() -> None:
    """A model of one's own may have something to put away."""
    steps: list[str] = []

    class Own(lf.LanguageModel):
        async def _stream(self, request: Any) -> Any:
            try:
                yield "a"
                yield "b"
            finally:
                await asyncio.sleep(0)
                steps.append("put away")

    async with lf.query_stream("?", lm=Own()) as stream:
        await anext(stream)
    assert steps == ["put away"]


async def test_closing_under_a_waiting_reader_ends_its_events() -> None:
    """The reader gets the end that a cancelled query has."""
    model, transport = answered(ok(BEGUN, HANG))
    stream = lf.query_stream("?", Note, lm=model)
    task = asyncio.create_task(shown(stream))
    await asyncio.sleep(0.01)
    await stream.aclose()
    assert (await task)[-1].type == "generation_cancelled"
    assert (transport.aborted, transport.open) == (1, 0)


async def test_a_stream_has_one_reader() -> None:
    """Iterating again is a mistake, during and after the first time."""
    stream = lf.query_stream("?", lm=StaticResponse("a b", chunk_size=1))
    async for _ in stream:
        with pytest.raises(InvalidArgumentError, match="one reader"):
            aiter(stream)
    with pytest.raises(InvalidArgumentError, match="one reader"):
        aiter(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_second_reader_disturbs_nothing() -> None:
    """It is refused while the first waits, who then reads on."""
    model, _ = answered(ok(BEGUN, 0.02, text_delta(0, "', tags=[])") + end()))
    stream = lf.query_stream("?", Note, lm=model)
    task = asyncio.create_task(shown(stream))
    await asyncio.sleep(0.005)
    with pytest.raises(InvalidArgumentError, match="one reader"):
        await anext(stream)
    assert (await task)[-1].value == Note("h", [])


@pytest.mark.parametrize("count", range(1, 9))
async def test_langfx_42_it_can_be_left_at_any_event(count: int) -> None:
    """By cancelling, closing or breaking after so many: closed once, and nothing is shown that came later."""
    begun = ok(start() + opened(0, type="text", text="") + text_delta(0, "Note(text='h', tags=['a', 'b'"), HANG)
    for leave in ("cancel", "close", "break"):
        model, transport = answered(begun)
        stream = lf.query_stream("?", Note, lm=model)
        found: list[str] = []
        async for event in stream:
            found.append(event.type)
            if len(found) == count:
                if leave == "break":
                    break
                stream.cancel() if leave == "cancel" else await stream.aclose()
                if leave == "close":
                    break
        assert len(found) == count + (leave == "cancel")
        assert (found[-1] == "generation_cancelled") == (leave == "cancel")
        assert (transport.aborted, transport.open) == (1, 0)


# Turns of the loop


class SteppedClock(ManualClock):
    """Goes on by some milliseconds at every look."""

    step = 0.001

    def monotonic(self) -> float:
        """A little later than the last time."""
        self._elapsed += self.step
        return self._elapsed


async def test_the_loop_gets_a_turn_while_events_flow() -> None:
    """At least every 50 ms, though the model never waits; and no turn for each event."""
    clock = SteppedClock()
    lm = StaticResponse(str(list(range(3000))), chunk_size=8, clock=clock)
    turns: list[float] = []

    async def count() -> None:
        while True:
            turns.append(clock._elapsed)
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    seen = len(await shown(lf.query_stream("?", list[int], lm=lm)))
    counting.cancel()
    gaps = [after - before for before, after in pairwise(turns)]
    assert max(gaps) <= 0.05
    assert len(turns) < seen / 10


async def test_what_came_at_once_is_shown_without_a_wait() -> None:
    """Between two events of one network chunk, nobody else has a turn."""
    model, _ = answered(ok(start() + text(0, *"Note(text='h', tags=['a', 'b'])") + end()))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    found = await shown(lf.query_stream("?", Note, lm=model, max_tokens=100))
    counting.cancel()
    assert found[-1].value == Note("h", ["a", "b"])
    assert turns <= 2
