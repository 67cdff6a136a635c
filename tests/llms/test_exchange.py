"""One attempt over HTTP: keys, refusals, rejected thoughts, and what reaches the wire."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Mapping
from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.errors import LMError
from langfx_web.llms import Credentials
from langfx_web.testing.time import ManualClock
from langfx_web.transport import HANG, MockResponse, MockTransport, Request, Response
from langfx_web.transport.browser import BrowserTransport, JsException
from tests.llms.messages_wire import HELLO, answered, ok, refused, sent, start, text
from tests.transport.test_browser import FakeExchange

BOUND = "messages.1.content.0: thinking block is bound to a different conversation"


async def failure(model: lf.llms.Anthropic) -> LMError:
    """The error of a call."""
    with pytest.raises(LMError) as raised:
        await model("hi")
    return raised.value


def keys(transport: MockTransport) -> list[str | None]:
    """The keys of the requests that were sent."""
    return [request.headers.get("x-api-key") for request in transport.requests]


class Rotating:
    """A source of keys that gives the next one each time it is asked."""

    def __init__(self, *given: str) -> None:
        self.given = list(given)

    async def __call__(self) -> str:
        return self.given.pop(0) if len(self.given) > 1 else self.given[0]


# Keys


async def test_a_callable_key_is_asked_for_each_attempt() -> None:
    """A key that changes between attempts is used as it is then."""
    clock = ManualClock()
    model, transport = answered(refused(503), ok(), clock=clock, api_key=Rotating("one-key", "two-key"), max_attempts=2)
    task = asyncio.create_task(model("hi"))
    await clock.advance(5)
    await task
    assert keys(transport) == ["one-key", "two-key"]


async def test_who_watches_is_told_of_each_request() -> None:
    """Attempts, and requests that are sent once more for a new key; what is refused by a watcher is not sent."""
    model, transport = answered(refused(401), ok(), ok(), api_key=Rotating("old-key", "new-key"))
    told: list[int] = []
    watched = model.watched(lambda request: told.append(len(request.messages)))
    await watched("hi")
    assert (told, len(transport.requests)) == ([1, 1], 2)

    def refuse(request: lf.llms.request.ModelRequest) -> None:
        if len(told) == 4:
            raise errors.BudgetExceededError("enough", limit="max_requests")

    model, transport = answered(refused(401), ok(), api_key=Rotating("old-key", "new-key"))
    twice = model.watched(lambda request: told.append(0)).watched(refuse)
    with pytest.raises(errors.BudgetExceededError):
        await twice("hi")
    assert (told, len(transport.requests), transport.open) == ([1, 1, 0, 0], 1, 0)


async def test_providers_21_a_rejected_key_is_replaced_once() -> None:
    """After a 401 a source with another key gets one more request, outside the count of attempts."""
    model, transport = answered(refused(401), ok(), api_key=Rotating("old-key", "new-key"))
    message = await model("hi")
    assert keys(transport) == ["old-key", "new-key"]
    assert message.usage is not None
    assert message.usage.num_requests == 2
    model, transport = answered(refused(401), refused(401), api_key=Rotating("old-key", "new-key", "third-key"))
    assert isinstance(await failure(model), errors.AuthenticationError)
    assert keys(transport) == ["old-key", "new-key"]


@pytest.mark.parametrize("source", ["same-key", Rotating("same-key"), None])
async def test_providers_21_the_same_key_is_not_sent_again(source: Any) -> None:
    """A source that has no other key leaves the 401 as it is."""
    model, transport = answered(refused(401), api_key=source)
    assert isinstance(await failure(model), errors.AuthenticationError)
    assert len(transport.requests) == 1


async def test_credentials_learn_of_a_rejection() -> None:
    """A loader is asked anew after a 401 and told why; its extra headers are sent."""
    asked: list[Mapping[str, Any]] = []

    async def load(question: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(question)
        return {"api_key": f"key-number-{len(asked)}", "headers": {"X-Team": "a"}}

    model, transport = answered(refused(401), ok(), ok(), api_key=Credentials(load, provider="anthropic"))
    await model("hi")
    await model("hi")
    assert keys(transport) == ["key-number-1", "key-number-2", "key-number-2"]
    assert [question["rejected"] for question in asked] == [False, True]
    assert transport.requests[0].headers["x-team"] == "a"


async def test_without_a_key_no_credential_is_sent() -> None:
    """A gateway or a transport may add the credential: none is invented."""
    model, transport = answered(ok(), api_key=None)
    await model("hi")
    assert set(transport.requests[0].headers) == {"content-type", "anthropic-version"}


async def test_the_callers_headers_come_last() -> None:
    """`headers` can replace any header, and their values are not shown."""
    model, transport = answered(ok(), headers={"X-API-Key": "mine", "X-Extra": "e"})
    await model("hi")
    assert transport.requests[0].headers["x-api-key"] == "mine"
    assert transport.requests[0].headers["x-extra"] == "e"
    assert "mine" not in repr(model)


async def test_providers_22_a_key_is_nowhere_to_be_seen() -> None:
    """A key that the server echoes is masked in the error, its cause and the traceback; the model hides it too."""
    key = "very-secret-key-0042"
    for answer in (
        refused(401, "authentication_error", f"key {key} is invalid"),
        MockResponse(status=500, body=f"oops {key}".encode()),
        refused(400, key, f"key {key}", **{"request-id": key}),
        ok(start(), b'data: {"type":"error","error":{"type":"api_error","message":"' + key.encode() + b'"}}\n\n'),
    ):
        model, transport = answered(answer, api_key=key)
        raised = await failure(model)
        shown = [str(raised), repr(raised), repr(raised.args), repr(raised.details), repr(model)]
        shown += [str(raised.request_id), str(raised.provider_code)]
        shown += [repr(transport.requests[0]), "".join(traceback.format_exception(raised))]
        assert not any(key in text for text in shown)
        assert "***" in str(raised)


async def test_a_key_that_no_header_can_carry_is_refused_unsent_and_unseen() -> None:
    """A key with a line break inside is an input error that does not repeat it."""
    model, transport = answered(api_key="broken\nkey-0042")
    raised = await failure(model)
    assert isinstance(raised, errors.LMInputError)
    assert "0042" not in "".join(traceback.format_exception(raised))
    assert transport.requests == []


# Refusals


async def test_providers_23_a_web_page_as_error_is_cut_to_a_line() -> None:
    """However large the body of an error is, the text stays short and the status is kept."""
    model, _ = answered(MockResponse(status=502, body=[b"<html>", b"x" * 100_000]))
    raised = await failure(model)
    assert (type(raised), raised.status) == (errors.TemporaryLMError, 502)
    assert len(str(raised)) <= 500


async def test_an_error_without_a_readable_body_keeps_its_status() -> None:
    """A body that breaks off or stalls does not hide what the status says."""
    clock = ManualClock()
    broken = errors.TransportError("cut", code="body_broken")
    model, transport = answered(
        MockResponse(status=429, body=[broken]), MockResponse(status=429, body=[HANG]), clock=clock, idle_timeout=1
    )
    assert isinstance(await failure(model), errors.RateLimitError)
    task = asyncio.create_task(failure(model))
    await clock.advance(2)
    assert isinstance(await task, errors.RateLimitError)
    assert transport.open == 0


async def test_the_request_id_is_kept() -> None:
    """The server's id of a request is on the message, and on the error, from header or body."""
    model, _ = answered(MockResponse(headers={"Request-Id": "req_7"}, body=HELLO), refused(400), refused(400))
    assert (await model("hi")).metadata["request_id"] == "req_7"
    assert (await failure(model)).request_id == "req_1"
    model, _ = answered(MockResponse(status=400, headers={"request-id": "req_9"}))
    assert (await failure(model)).request_id == "req_9"
    model, _ = answered(MockResponse(headers={"request-id": "req_8"}, body=start()))
    assert (await failure(model)).request_id == "req_8"


@pytest.mark.parametrize("url", ["http://example.com/v1", "http://10.0.0.1"])
async def test_providers_61_plain_http_to_elsewhere_is_an_input_error(url: str) -> None:
    """An address without TLS is refused unsent, unless the model says that it may be used."""
    model, transport = answered(ok(), base_url=url)
    raised = await failure(model)
    assert (type(raised), raised.code, transport.requests) == (errors.LMInputError, "insecure_url", [])
    assert (await model.with_options(allow_insecure=True)("hi")).text == "Hello"


async def test_providers_62_a_local_server_gets_few_headers() -> None:
    """A server on this machine without a key gets only what the wire needs."""
    model, transport = answered(ok(), base_url="http://localhost:11434/v1", api_key=None)
    await model("hi")
    assert set(transport.requests[0].headers) == {"content-type", "anthropic-version"}


# Rejected thoughts


async def test_providers_43_rejected_thoughts_are_left_to_the_provider_once() -> None:
    """A 400 about thoughts is answered by one request that lets the provider drop them; the message says so."""
    model, transport = answered(refused(400, message=BOUND), ok(), ok(), thoughts=True)
    message = await model("hi")
    assert message.metadata["thoughts_dropped"] is True
    assert sent(transport, 0)["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert sent(transport, 1)["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }
    assert transport.requests[1].headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    await model([lf.UserMessage("hi"), message, lf.UserMessage("and?")])
    assert "block_binding" in sent(transport, 2)["thinking"]


async def test_providers_43_a_second_rejection_stands() -> None:
    """If leaving thoughts out does not help, or the 400 is about something else, the error is raised."""
    model, transport = answered(refused(400, message=BOUND), refused(400, message="Invalid `signature` in block"))
    assert isinstance(await failure(model), errors.LMInputError)
    assert len(transport.requests) == 2
    model, transport = answered(refused(400, message="temperature is not supported"))
    assert isinstance(await failure(model), errors.LMInputError)
    assert len(transport.requests) == 1


# The end of a stream


async def test_a_server_that_keeps_the_line_open_does_not_hold_up_the_answer() -> None:
    """After the wire's own end the server gets a second to close; then the answer is complete all the same."""
    clock = ManualClock()
    model, transport = answered(ok(HELLO, HANG), clock=clock, idle_timeout=0.2)
    task = asyncio.create_task(model("hi"))
    await clock.advance(1.5)
    assert (await task).text == "Hello"
    assert transport.aborted == 1


async def test_what_comes_after_the_end_is_not_read() -> None:
    """Bytes behind the end, and a line that breaks then, change nothing."""
    broken = errors.TransportError("cut", code="body_broken")
    model, _ = answered(ok(HELLO + b"data: {broken", b"data: more", broken))
    assert (await model("hi")).text == "Hello"


async def test_a_document_is_read_like_a_stream() -> None:
    """A server that answers with one JSON document, whatever was asked, gives the same message."""
    content = [{"type": "text", "text": "Hello"}]
    document = {
        "id": "msg_1",
        "content": content,
        "stop_reason": "end_turn",
        "model": "m-1",
        "usage": {"input_tokens": 1},
    }
    model, transport = answered(MockResponse(body=json.dumps(document).encode()), stream_wire=False)
    message = await model("hi")
    assert (message.text, message.finish_reason, message.model) == ("Hello", "stop", "m-1")
    assert "stream" not in sent(transport)
    model, _ = answered(MockResponse(body=b'{"object": "list"}'))
    assert isinstance(await failure(model), errors.LMProtocolError)


async def test_an_oversized_event_is_a_protocol_error() -> None:
    """An event without end is refused, with the partial answer, and not asked for again."""
    flood = [b"data: " + b"x" * 2**20, *[b"x" * 2**20] * 33]
    model, transport = answered(ok(start() + text(0, "Part"), *flood), max_attempts=3)
    raised = await failure(model)
    assert (type(raised), raised.partial.text, len(transport.requests)) == (errors.LMProtocolError, "Part", 1)


async def test_an_async_function_can_carry_the_requests() -> None:
    """Whatever takes a request and gives a response is a transport, with the same limits around it."""
    seen = []
    mock = MockTransport([ok()])

    async def carry(request: Request) -> Response:
        seen.append(request.url)
        return await mock.send(request)

    assert (await lf.llms.Anthropic("m", transport=carry)("hi")).text == "Hello"
    assert seen == ["https://api.anthropic.com/v1/messages"]


def immediate(request: Request) -> Any:
    """A transport that answers at once, which none can."""
    return MockResponse()


async def empty(request: Request) -> Any:
    """A transport that gives nothing."""


@pytest.mark.parametrize("carry", [immediate, empty])
async def test_what_gives_no_response_is_no_transport(carry: Any) -> None:
    """It is named as what is wrong, instead of failing somewhere inside."""
    with pytest.raises(errors.InvalidArgumentError, match="a transport must give a Response"):
        await lf.llms.Anthropic("m", transport=carry)("hi")


async def test_one_network_chunk_costs_few_turns_of_the_loop() -> None:
    """Between two network chunks our path takes at most four callbacks of the event loop."""
    pieces = [HELLO[at : at + 40] for at in range(0, len(HELLO), 40)]
    turns = 0

    class Body:
        async def next(self) -> bytes:
            arrived = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_soon(arrived.set_result, pieces.pop(0) if pieces else b"")
            return await arrived  # type: ignore[no-any-return]

        def abort(self) -> None:
            """Nothing to let go."""

    async def carry(request: Request) -> Response:
        return Response(200, {}, request.url, Body())

    def count() -> None:
        nonlocal turns
        turns += 1
        asyncio.get_running_loop().call_soon(count)

    count()
    chunks = len(pieces)
    await lf.llms.Anthropic("m", transport=carry)("hi")
    assert turns <= 4 * (chunks + 1) + 4


@pytest.mark.parametrize("shown", [(), (start() + text(0, "Part"),)], ids=["before a chunk", "after one"])
async def test_bug_063_providers_06_somebody_elses_abort_is_a_lost_connection(shown: tuple[bytes, ...]) -> None:
    """It is worth another try where nothing came, and keeps what came otherwise; it is no cancelled task."""
    head = {"status": 200, "headers": [], "url": "https://api.anthropic.com/v1/messages"}
    lost = JsException("AbortError: The user aborted a request.")
    exchanges = [FakeExchange(head, *shown, lost), FakeExchange(head, HELLO)]
    opened = iter(exchanges)
    transport = BrowserTransport(lambda head, body: next(opened).open(head, body))
    model = lf.llms.Anthropic("m", transport=transport, max_attempts=2, retry_interval=0)
    if not shown:
        assert (await model("hi")).text == "Hello"
        model = model.with_options(max_attempts=1)
        opened = iter([FakeExchange(head, lost)])
    raised = await failure(model)
    assert type(raised) is errors.LMConnectionError
    assert (raised.code, raised.partial.text if shown else raised.partial) == ("connection", "Part" if shown else None)
    assert raised.retryable
    assert exchanges[1].opened_with is None or not shown
