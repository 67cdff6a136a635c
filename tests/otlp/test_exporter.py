"""Spans on their way to a collector, and what becomes of them when it is not there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError
from langfx_web.json_text import loads
from langfx_web.otlp import OTLPExporter
from langfx_web.otlp.exporter import MAX_BATCH, MAX_QUEUE
from langfx_web.testing import ManualClock
from langfx_web.transport import HANG, MockResponse, MockTransport, Request
from tests.otlp.told import told

ENDPOINT = "https://collector.example/v1/traces"
KEY = "secret-key-123456"
GOOD = MockResponse(body=b"{}")
SPANS = 4
"""Spans of one told run."""


def exporter(transport: MockTransport, clock: ManualClock | None = None, **options: Any) -> OTLPExporter:
    """An exporter on a scripted transport."""
    return OTLPExporter(ENDPOINT, transport=transport, clock=clock or ManualClock(), **options)


def tell(given: OTLPExporter, run: int = 0, **options: Any) -> None:
    """Let an exporter hear of a whole run."""
    for event in told(content=False, run_id=f"run_{run}", **options):
        given.on_event(event)


def names(request: Request) -> list[str]:
    """The spans in the body of a request."""
    (resource,) = loads(request.body or b"")["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    return [span["name"] for span in scope["spans"]]


async def test_spans_go_together_after_a_while() -> None:
    """What is finished within the interval is one request: JSON, to the address, with the headers."""
    clock, transport = ManualClock(), MockTransport([GOOD])
    given = exporter(transport, clock, headers={"X-Key": KEY}, service_name="shop")
    tell(given)
    await clock.advance(4.9)
    assert transport.requests == []
    await clock.advance(0.2)
    (request,) = transport.requests
    assert (request.method, request.url) == ("POST", ENDPOINT)
    assert request.headers == {"x-key": KEY, "content-type": "application/json"}
    assert names(request) == ["chat m-1", "execute_tool get_order", "chat m-1", "invoke_agent shop"]
    resource = loads(request.body or b"")["resourceSpans"][0]["resource"]
    assert resource == {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    assert (given.sent, given.dropped, given.last_error) == (SPANS, 0, None)
    await clock.advance(60)
    assert len(transport.requests) == 1


async def test_a_full_batch_goes_at_once() -> None:
    """Many spans do not wait for the clock, and a request has 512 of them at most."""
    clock, transport = ManualClock(), MockTransport([GOOD, GOOD])
    given = exporter(transport, clock)
    for run in range(MAX_BATCH // SPANS + 1):
        tell(given, run)
    await clock.advance(0)
    assert [len(names(request)) for request in transport.requests] == [MAX_BATCH, SPANS]
    assert given.sent == MAX_BATCH + SPANS


async def test_flush_sends_now_and_tells_whether_it_arrived() -> None:
    """Nothing to send is fine, too."""
    transport = MockTransport([GOOD, MockResponse(status=400)])
    given = exporter(transport)
    assert await given.flush() is True
    tell(given)
    assert await given.flush() is True
    tell(given)
    assert await given.flush() is False
    assert (given.sent, given.dropped) == (SPANS, SPANS)
    assert given.last_error is not None
    assert (given.last_error.code, given.last_error.message) == (
        "export_failed",
        "https://collector.example answered with status 400",
    )


@pytest.mark.parametrize(
    "failure",
    [MockResponse(status=503), MockResponse(status=429), OSError("no"), HANG, MockResponse(body=[b"{", HANG])],
    ids=["busy", "throttled", "broken transport", "no answer", "no end of the answer"],
)
async def test_what_may_arrive_later_is_sent_again(failure: Any) -> None:
    """The same spans once more, after a pause that grows, and then everything in order again."""
    clock, transport = ManualClock(), MockTransport([failure, failure, GOOD, GOOD])
    given = exporter(transport, clock, timeout=1.0)
    tell(given)
    await clock.advance(7)
    assert (len(transport.requests), given.sent, given.dropped) == (1, 0, 0)
    await clock.advance(40)
    assert given.sent == SPANS
    assert len({request.body for request in transport.requests}) == 1
    assert len(transport.requests) == 3
    tell(given)
    await clock.advance(5.1)
    assert (given.sent, transport.open) == (2 * SPANS, 0)


async def test_a_collector_says_how_long_to_wait() -> None:
    """`Retry-After` in seconds counts, up to a minute."""
    throttled = [MockResponse(status=429, headers={"Retry-After": wait}) for wait in ("30", "4000")]
    clock, transport = ManualClock(), MockTransport([*throttled, GOOD])
    given = exporter(transport, clock)
    tell(given)
    await clock.advance(5)
    await clock.advance(29)
    assert len(transport.requests) == 1
    await clock.advance(8)
    assert len(transport.requests) == 2
    await clock.advance(61)
    assert given.sent == SPANS


async def test_the_newest_2048_spans_are_kept() -> None:
    """While nothing can be sent the oldest are dropped and counted, and no request grows out of bounds."""
    clock = ManualClock()
    transport = MockTransport([MockResponse(status=503), *[GOOD] * 4])
    given = exporter(transport, clock)
    tell(given)
    await clock.advance(5.1)
    for run in range(1, MAX_QUEUE // SPANS + 3):
        tell(given, run)
    assert given.dropped == 3 * SPANS
    await clock.advance(60)
    assert given.sent == MAX_QUEUE
    assert max(len(names(request)) for request in transport.requests) == MAX_BATCH


async def test_large_spans_are_bounded_by_their_bytes() -> None:
    """16 MiB may wait; 2 MiB go together, and a larger span alone."""
    clock = ManualClock()
    transport = MockTransport([MockResponse(status=503), *[GOOD] * 20])
    given = exporter(transport, clock)
    for run in range(20):
        for event in told(content=False, run_id=f"run_{run}", session_id="s" * 1024 * 1024):
            given.on_event(event)
        await clock.advance(0)
    await clock.advance(200)
    assert given.sent + given.dropped == 20 * SPANS
    assert given.dropped > 0
    assert max(len(request.body or b"") for request in transport.requests) < 2.1 * 1024 * 1024


async def test_refused_spans_are_counted_and_not_sent_again() -> None:
    """A collector that takes some of a batch has answered for all of it."""
    answer = MockResponse(body=b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}')
    transport = MockTransport([answer])
    given = exporter(transport)
    tell(given)
    assert await given.flush() is True
    assert (given.sent, given.dropped) == (SPANS - 3, 3)
    assert given.last_error is not None
    assert given.last_error.message == "the collector refused 3 spans"


async def test_closing_sends_what_is_left_once() -> None:
    """It ends whether or not that arrives, takes no more, and can be done twice."""
    clock, transport = ManualClock(), MockTransport([MockResponse(status=503)])
    given = exporter(transport, clock)
    tell(given)
    await given.aclose()
    await given.aclose()
    tell(given)
    await clock.advance(600)
    assert (len(transport.requests), given.sent, given.dropped) == (1, 0, SPANS)


async def test_spans_that_finish_during_a_request_go_next() -> None:
    """There is one request at a time, and nothing is left behind."""
    gate = asyncio.Event()

    async def answer(request: Request) -> MockResponse:
        await gate.wait()
        return GOOD

    transport = MockTransport(answer)
    given = exporter(transport)
    tell(given)
    flushed = asyncio.ensure_future(given.flush())
    await asyncio.sleep(0.01)
    tell(given, 2)
    assert len(transport.requests) == 1
    gate.set()
    assert await flushed is True
    assert [len(names(request)) for request in transport.requests] == [SPANS, SPANS]


async def test_an_address_that_is_not_encrypted_gets_nothing() -> None:
    """Unless it is this machine, or the application says so."""
    transport = MockTransport([GOOD])
    plain = OTLPExporter("http://collector.example/v1/traces", transport=transport, clock=ManualClock())
    tell(plain)
    assert await plain.flush() is False
    assert plain.last_error is not None
    assert (plain.last_error.code, plain.dropped, transport.requests) == ("insecure_url", SPANS, [])
    for url, allow in (("http://localhost:4318/v1/traces", False), ("http://collector.example/v1/traces", True)):
        given = OTLPExporter(url, transport=MockTransport([GOOD]), clock=ManualClock(), allow_insecure=allow)
        tell(given)
        assert await given.flush() is True


async def test_headers_are_shown_nowhere() -> None:
    """Not in its text, not in an error, not in a span."""
    transport = MockTransport([MockResponse(status=401, body=KEY.encode()), OSError(KEY)])
    given = exporter(transport, headers={"authorization": f"Bearer {KEY}"})
    shown = [repr(given)]
    for run in range(2):
        tell(given, run)
        await given.flush()
        shown.append(repr(given.last_error))
    shown += [(request.body or b"").decode() for request in transport.requests]
    assert not [text for text in shown if KEY in text]
    assert repr(given) == f"OTLPExporter(https://collector.example, sent=0, dropped={SPANS})"


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"endpoint": "collector:4317"}, "endpoint"),
        ({"interval": 0}, "interval"),
        ({"timeout": float("nan")}, "timeout"),
        ({"headers": {"x-key": "ä"}}, "headers"),
    ],
)
def test_options_are_checked(options: dict[str, Any], option: str) -> None:
    """What cannot work is named when the exporter is made, without the value of a header."""
    with pytest.raises(InvalidArgumentError) as raised:
        OTLPExporter(**{"endpoint": ENDPOINT, **options})
    assert raised.value.details["option"] == option
    assert "ä" not in str(raised.value)


class Collector(BaseHTTPRequestHandler):
    """Keeps what it is sent."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append((self.path, self.headers["content-type"], body))  # type: ignore[attr-defined]  # ours
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[ThreadingHTTPServer]:
    """A collector on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    server.seen = []  # type: ignore[attr-defined]  # ours
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_real_collector_gets_them(collector: ThreadingHTTPServer) -> None:
    """By the transport of the platform, to an address of this machine."""
    pytest.importorskip("httpx", reason="httpx is an optional package")
    given = lf.otlp.OTLPExporter(f"http://127.0.0.1:{collector.server_port}/v1/traces")
    tell(given)
    await given.aclose()
    ((path, kind, body),) = collector.seen  # type: ignore[attr-defined]  # ours
    assert (path, kind, given.sent) == ("/v1/traces", "application/json", SPANS)
    assert len(loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]) == SPANS
