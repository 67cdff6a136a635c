"""A streamed answer: attempts, waits, limits, and leaving it at any moment."""

from __future__ import annotations

import asyncio
import gc
import math
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.errors import LMError, TransportError
from langfx_web.llms import ModelStream, StreamChunk
from langfx_web.testing.time import ManualClock
from langfx_web.transport import HANG, MockResponse
from langfx_web.usage import Usage
from tests.llms.messages_wire import (
    HELLO,
    PING,
    answered,
    closed,
    delta,
    end,
    error,
    ok,
    opened,
    refused,
    start,
    text,
    text_delta,
    texts,
    thinking,
)

RESET = TransportError("connection reset", code="body_broken")
DOWN = TransportError("nobody there", code="unreachable")
BEGUN = start() + opened(0, type="text", text="") + text_delta(0, "Part")


async def read(stream: ModelStream) -> list[StreamChunk]:
    """All chunks."""
    return [chunk async for chunk in stream]


async def failure(stream: ModelStream) -> LMError:
    """The error a stream ends with."""
    with pytest.raises(LMError) as raised:
        await read(stream)
    return raised.value


# Leaving


async def test_providers_03_break_aborts_before_the_next_statement() -> None:
    """Leaving the loop ends the request at once, held or not, and the model can be asked again."""
    model, transport = answered(*[ok(*[BEGUN, text_delta(0, "more"), HANG])] * 2, ok())
    async for _ in model.stream("hi"):
        break
    assert transport.aborted == 1
    held = model.stream("hi")
    async for _ in held:
        break
    assert (transport.aborted, transport.open) == (2, 0)
    with pytest.raises(errors.InvalidArgumentError, match="left before its end"):
        await anext(held)
    assert (await model("hi")).text == "Hello"


async def test_bug_055_every_way_of_leaving_aborts_once() -> None:
    """An exception, a return, a close and dropping the stream all end the request, without the garbage collector."""
    model, transport = answered(*[ok(BEGUN, HANG)] * 5)

    async def returns() -> str:
        async for chunk in model.stream("hi"):
            return chunk.delta.text
        return ""

    async def raises() -> None:
        async for _ in model.stream("hi"):
            raise ZeroDivisionError

    gc.disable()
    try:
        assert await returns() == "Part"
        assert transport.aborted == 1
        with pytest.raises(ZeroDivisionError):
            await raises()
        assert transport.aborted == 2
        async with model.stream("hi") as stream:
            await anext(stream)
        assert transport.aborted == 3
        await anext(model.stream("hi"))
        assert transport.aborted == 4
        closed_stream = model.stream("hi")
        await anext(closed_stream)
        await closed_stream.aclose()
        await closed_stream.aclose()
        assert (transport.aborted, transport.open) == (5, 0)
    finally:
        gc.enable()


async def test_providers_04_a_stream_read_to_its_end_is_released() -> None:
    """Nothing is aborted after a whole answer, and iterating again gives nothing more."""
    model, transport = answered(ok(HELLO[:50], HELLO[50:]))
    stream = model.stream("hi")
    assert (await read(stream))[-1].final
    assert await read(stream) == []
    await stream.aclose()
    assert (transport.aborted, transport.open) == (0, 0)


async def test_a_stream_that_is_never_read_sends_nothing() -> None:
    """Making a stream, and closing it, makes no request."""
    model, transport = answered()
    await model.stream("hi").aclose()
    assert transport.requests == []


@pytest.mark.parametrize(
    "answers",
    [[HANG], [ok(HANG)], [ok(BEGUN, HANG)], [refused(503), ok()]],
    ids=["before headers", "before the first chunk", "between chunks", "in a retry wait"],
)
async def test_bug_063_providers_05_cancelling_ends_everything(answers: list[Any]) -> None:
    """A cancelled task ends as cancelled in every state, with at most one abort and no further request."""
    clock = ManualClock()
    model, transport = answered(*answers, clock=clock, max_attempts=5)
    task = asyncio.create_task(read(model.stream("hi")))
    await clock.advance(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await clock.advance(1000)
    assert (len(transport.requests), transport.open) == (1, 0)
    assert transport.aborted == (0 if len(answers) == 2 else 1)


async def test_providers_05_cancelling_a_busy_consumer_aborts() -> None:
    """A task that is cancelled while it works on a chunk ends the request, although the stream has a name."""
    model, transport = answered(ok(BEGUN, HANG))
    busy = asyncio.Event()

    async def consume() -> None:
        stream = model.stream("hi")
        async for _ in stream:
            busy.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(consume())
    await busy.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert transport.aborted == 1


# Attempts


async def test_providers_10_temporary_failures_are_tried_again() -> None:
    """With three attempts, two failures before any chunk are not seen but in the count of requests."""
    clock = ManualClock()
    model, transport = answered(refused(503), refused(503), ok(), clock=clock, max_attempts=3)
    task = asyncio.create_task(model("hi"))
    await clock.advance(10)
    message = await task
    assert message.text == "Hello"
    assert message.usage == Usage(
        input_tokens=25,
        output_tokens=15,
        total_tokens=40,
        cached_input_tokens=0,
        cache_write_input_tokens=0,
        num_requests=3,
    )
    assert len(transport.requests) == 3


async def test_providers_11_there_is_one_attempt_unless_more_are_asked_for() -> None:
    """Retries are opt-in."""
    model, transport = answered(refused(503, "api_error"))
    raised = await failure(model.stream("hi"))
    assert (type(raised), raised.attempts, len(transport.requests)) == (errors.TemporaryLMError, 1, 1)


async def test_bug_061_providers_12_a_loss_before_the_first_chunk_is_tried_again() -> None:
    """Stream headers and pings are no output: after them a lost connection is not seen."""
    clock = ManualClock()
    model, transport = answered(ok(start() + PING, RESET), ok(), clock=clock, max_attempts=2)
    task = asyncio.create_task(texts(model.stream("hi")))
    await clock.advance(5)
    assert await task == ["Hello"]
    assert len(transport.requests) == 2


SEEN = {
    "text": BEGUN,
    "call": start()
    + opened(0, type="tool_use", id="t1", name="pay", input={})
    + delta(0, type="input_json_delta", partial_json='{"amo'),
    "thought": start()
    + opened(0, type="thinking", thinking="", signature="")
    + delta(0, type="thinking_delta", thinking="h"),
}


@pytest.mark.parametrize("begun", SEEN.values(), ids=SEEN)
@pytest.mark.parametrize(
    ("ending", "kind"),
    [([RESET], errors.LMConnectionError), ([], errors.IncompleteGenerationError)],
    ids=["lost", "cut"],
)
async def test_bug_061_providers_13_nothing_is_sent_again_after_output(
    begun: bytes, ending: list[Any], kind: type[LMError]
) -> None:
    """Once anything was shown, a failure stands, with what had arrived and a lower bound of the cost."""
    model, transport = answered(ok(begun, *ending), ok(), max_attempts=5)
    raised = await failure(model.stream("hi"))
    assert type(raised) is kind
    assert raised.partial is not None
    assert raised.usage.lower_bound is raised.partial.usage.lower_bound is True
    assert (raised.attempts, len(transport.requests)) == (1, 1)
    assert all(call.args is None for call in raised.partial.tool_calls)


async def test_providers_57_a_cut_answer_is_worth_another_try_only_if_nothing_came() -> None:
    """A clean end without the wire's own end is incomplete; an empty one may be tried again."""
    for body, retryable in (([], True), ([start() + PING], True), ([BEGUN], False), ([start() + text(0, "x")], False)):
        model, _ = answered(ok(*body, b""))
        raised = await failure(model.stream("hi"))
        assert (type(raised), raised.retryable) == (errors.IncompleteGenerationError, retryable)


@pytest.mark.parametrize(
    ("first", "shown"),
    [(error("overloaded_error"), ""), (PING + error("overloaded_error").partition(b"\n")[2], ""), (BEGUN, "Part")],
    ids=["first event", "as data only", "after text"],
)
async def test_bug_011_providers_55_errors_inside_a_stream(first: bytes, shown: str) -> None:
    """An overload inside a 200 is temporary: tried again before output, raised with the partial answer after it."""
    clock = ManualClock()
    body = first if not shown else first + error("overloaded_error", "Overloaded")
    model, transport = answered(ok(body), ok(), clock=clock, max_attempts=2)
    task = asyncio.create_task(failure(model.stream("hi")) if shown else read(model.stream("hi")))
    await clock.advance(5)
    outcome = await task
    if not shown:
        assert outcome[-1].aggregated.text == "Hello"  # type: ignore[index]
        return
    assert isinstance(outcome, errors.TemporaryLMError)
    assert (outcome.partial.text, outcome.provider_code, outcome.status) == ("Part", "overloaded_error", 529)
    assert len(transport.requests) == 1


async def test_providers_18_a_server_can_refuse_retries() -> None:
    """`x-should-retry` overrides what the class of the error says."""
    model, transport = answered(refused(503, x_should_retry="false"), max_attempts=3)
    assert not (await failure(model.stream("hi"))).retryable
    clock = ManualClock()
    model, transport = answered(refused(400, x_should_retry="true"), ok(), clock=clock, max_attempts=3)
    task = asyncio.create_task(model("hi"))
    await clock.advance(5)
    assert (await task).text == "Hello"
    assert len(transport.requests) == 2


async def test_providers_19_the_last_error_itself_is_raised() -> None:
    """When attempts run out there is no wrapper: the error knows how many there were."""
    clock = ManualClock()
    model, _ = answered(refused(503), refused(529), clock=clock, max_attempts=2)
    task = asyncio.create_task(failure(model.stream("hi")))
    await clock.advance(10)
    raised = await task
    assert (type(raised), raised.status, raised.attempts) == (errors.TemporaryLMError, 529, 2)


async def test_providers_20_an_unreachable_place_gets_two_requests() -> None:
    """However many attempts are allowed, a place that cannot be reached is asked twice."""
    clock = ManualClock()
    model, transport = answered(*[DOWN] * 5, clock=clock, max_attempts=5)
    task = asyncio.create_task(failure(model.stream("hi")))
    await clock.advance(100)
    raised = await task
    assert isinstance(raised, errors.LMConnectionError)
    assert isinstance(raised.__cause__, TransportError)
    assert len(transport.requests) == 2


@pytest.mark.parametrize(
    ("headers", "wait"), [({"retry_after": "2"}, 2.0), ({"retry_after_ms": "250", "retry_after": "9"}, 0.25)]
)
async def test_providers_14_a_servers_wait_is_kept(headers: dict[str, str], wait: float) -> None:
    """The next request goes out when the server said, not earlier and hardly later."""
    clock = ManualClock()
    model, transport = answered(refused(429, **headers), ok(), clock=clock, max_attempts=2)
    task = asyncio.create_task(model("hi"))
    await clock.advance(wait - 0.01)
    assert len(transport.requests) == 1
    await clock.advance(0.12)
    assert len(transport.requests) == 2
    assert (await task).text == "Hello"


async def test_providers_16_a_day_is_not_waited_for() -> None:
    """A wait beyond the limit fails at once and says how long it would be."""
    model, _ = answered(refused(429, "rate_limit_error", retry_after="86400"), max_attempts=5)
    raised = await failure(model.stream("hi"))
    assert (type(raised), raised.retry_after) == (errors.RateLimitError, 86400)


async def test_a_wait_beyond_the_remaining_time_is_not_slept() -> None:
    """If the timeout would pass during the wait, the error stands now."""
    model, _ = answered(refused(429, retry_after="20"), max_attempts=5, timeout=10)
    assert (await failure(model.stream("hi"))).retry_after == 20


async def test_what_failed_attempts_cost_is_a_lower_bound_of_the_whole() -> None:
    """Usage that a failed attempt reported is part of the answer's cost."""
    clock = ManualClock()
    model, _ = answered(ok(start(7, 1), RESET), ok(), clock=clock, max_attempts=2)
    task = asyncio.create_task(model("hi"))
    await clock.advance(5)
    usage = (await task).usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.num_requests, usage.lower_bound) == (32, 16, 2, True)


async def test_an_empty_answer_may_be_tried_again() -> None:
    """An answer of nothing is an error like any other that showed nothing."""
    clock = ManualClock()
    model, _ = answered(ok(start() + end()), ok(), clock=clock, max_attempts=2)
    task = asyncio.create_task(model("hi"))
    await clock.advance(5)
    assert (await task).text == "Hello"
    model, _ = answered(ok(start() + end()))
    raised = await failure(model.stream("hi"))
    assert (type(raised), raised.usage.lower_bound) == (errors.EmptyGenerationError, False)


# Time


async def test_bug_099_providers_07_headers_that_never_come() -> None:
    """Without headers in time the request ends as a timeout that may be tried again."""
    clock = ManualClock()
    model, transport = answered(HANG, clock=clock, connect_timeout=0.5)
    task = asyncio.create_task(failure(model.stream("hi")))
    await clock.advance(0.6)
    raised = await task
    assert (type(raised), raised.retryable, raised.partial) == (errors.LMTimeoutError, True, None)
    assert transport.aborted == 1


async def test_bug_099_providers_07_a_stream_that_stalls() -> None:
    """A server that stops sending is a timeout with the partial answer, and is not asked again."""
    clock = ManualClock()
    model, transport = answered(ok(BEGUN, HANG), clock=clock, idle_timeout=0.3, max_attempts=3)
    task = asyncio.create_task(failure(model.stream("hi")))
    await clock.advance(0.5)
    raised = await task
    assert (type(raised), raised.partial.text) == (errors.LMTimeoutError, "Part")
    assert (len(transport.requests), transport.aborted) == (1, 1)


async def test_bug_099_providers_08_pings_and_fragments_are_signs_of_life() -> None:
    """Any byte counts against the idle limit, and a slow consumer is no stalled server."""
    clock = ManualClock()
    beats: list[Any] = []
    for _ in range(10):
        beats += [0.2, PING]
    model, _ = answered(ok(BEGUN, *beats, closed(0) + end()), clock=clock, idle_timeout=0.3)
    task = asyncio.create_task(texts(model.stream("hi")))
    await clock.advance(3)
    assert await task == ["Part"]
    model, _ = answered(ok(BEGUN, text_delta(0, "b"), closed(0) + end()), clock=clock, idle_timeout=0.3, timeout=0.3)
    seen = []
    async for chunk in model.stream("hi"):
        seen.append(chunk.delta.text)
        await clock.advance(1)
    assert seen == ["Part", "b", ""]


async def test_the_total_timeout_covers_all_waiting() -> None:
    """`timeout` counts headers, bytes and retry waits together, and ends for good."""
    clock = ManualClock()
    model, transport = answered(ok(3.0, BEGUN, 3.0, text_delta(0, "x"), HANG), clock=clock, timeout=10, max_attempts=3)
    task = asyncio.create_task(failure(model.stream("hi")))
    await clock.advance(9.9)
    assert not task.done()
    await clock.advance(0.2)
    raised = await task
    assert (type(raised), raised.retryable, raised.partial.text) == (errors.LMTimeoutError, False, "Partx")
    assert (len(transport.requests), transport.aborted) == (1, 1)


@pytest.mark.parametrize("option", ["timeout", "connect_timeout", "idle_timeout"])
async def test_bug_101_providers_09_extreme_limits(option: str) -> None:
    """Very long limits do not fire early, none at all is allowed, 0 sends nothing, NaN is refused."""
    for limit in (30 * 86400.0, 2**31 / 1000, math.inf, None):
        clock = ManualClock()
        model, _ = answered(ok(0.3, HELLO), clock=clock, **{option: limit})
        task = asyncio.create_task(model("hi"))
        await clock.advance(1)
        assert (await task).text == "Hello"
    for limit in (0, -1):
        model, transport = answered(ok(), **{option: limit})
        assert isinstance(await failure(model.stream("hi")), errors.LMTimeoutError)
        assert transport.requests == []
    with pytest.raises(errors.InvalidArgumentError, match=option):
        answered(**{option: math.nan})


# Order


async def test_all_chunks_of_a_network_chunk_come_in_one_turn() -> None:
    """What arrived together is handed on together: no turn of the event loop lies between its chunks."""
    body = BEGUN + b"".join(text_delta(0, str(number)) for number in range(50))
    model, _ = answered(ok(body, 0, closed(0) + end()))
    turns = 0

    def count() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(count)

    count()
    seen = {chunk.delta.text: turns async for chunk in model.stream("hi")}
    assert len({turn for shown, turn in seen.items() if shown}) == 1
    assert seen[""] > seen["49"]


async def test_chunks_before_an_error_of_the_same_network_chunk_are_seen() -> None:
    """An error does not swallow what came before it."""
    model, _ = answered(ok(BEGUN + error("api_error")))
    stream = model.stream("hi")
    assert (await anext(stream)).delta.text == "Part"
    with pytest.raises(errors.TemporaryLMError):
        await anext(stream)


FAULTS: dict[str, tuple[Any, type[LMError]]] = {
    "401": (refused(401, "authentication_error"), errors.AuthenticationError),
    "404": (refused(404, "not_found_error", "model: x"), errors.ModelNotFoundError),
    "no line": (DOWN, errors.LMConnectionError),
    "error after text": (ok(BEGUN + error("api_error")), errors.TemporaryLMError),
    "garbage": (ok(BEGUN + b"data: {not json\n\n"), errors.LMProtocolError),
    "odd shapes": (ok(BEGUN + b'data: {"type":"content_block_delta","index":0}\n\n'), errors.LMProtocolError),
    "web page": (ok(b"<html>"), errors.LMProtocolError),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_bug_102_no_failure_ends_a_stream_silently(fault: tuple[Any, type[LMError]]) -> None:
    """Every failure is raised from the iteration and from a call, with provider and model on it."""
    answer, kind = fault
    model, _ = answered(answer, answer)
    raised = await failure(model.stream("hi"))
    assert (type(raised), raised.provider, raised.model) == (kind, "anthropic", "claude-x")
    with pytest.raises(kind) as called:
        await model("hi")
    assert str(called.value) == str(raised)
    assert called.value.partial == raised.partial


async def test_providers_02_a_call_is_the_fold_of_its_stream() -> None:
    """Streaming and calling give equal messages and usage for the same bytes."""
    body = start() + thinking(0, "hm") + text(1, "a", "b") + end()
    model, _ = answered(ok(body), MockResponse(body=body))
    streamed = (await read(model.stream("hi")))[-1].aggregated
    called = await model("hi")
    assert called == streamed
    assert (called.usage, called.finish_reason, called.response_id) == (streamed.usage, "stop", "msg_1")
