"""`OTLPExporter`: an observer's events as spans, sent to a collector in batches."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from langfx_web.clock import SYSTEM_CLOCK, Clock, Timer
from langfx_web.deadline import Bounded, deadline_after
from langfx_web.errors import DeadlineExceededError, InvalidArgumentError, LangfxError, TransportError
from langfx_web.observation import ObservedEvent
from langfx_web.otlp.genai import Spans
from langfx_web.otlp.span import document, refused_spans
from langfx_web.transport import Request, Transport, default_transport
from langfx_web.transport.base import origin

MAX_QUEUE = 2048
"""Finished spans that may wait; the oldest are dropped for newer ones."""
MAX_QUEUE_BYTES = 16 * 1024 * 1024
MAX_BATCH = 512
MAX_BATCH_BYTES = 2 * 1024 * 1024
"""Bytes of spans in one request; one larger span goes alone."""
MAX_ANSWER = 64 * 1024
LONGEST_PAUSE = 60.0
"""Seconds between two attempts at most, whatever the collector asks for."""

_AGAIN = frozenset({429, 502, 503, 504})
"""Answers after which the same spans may be sent once more."""


class OTLPExporter:
    """Sends spans to an OpenTelemetry collector: `lf.Observer(exporter.on_event)` on an agent, `aclose()` at the end.

    `endpoint` is the whole address, such as `http://localhost:4318/v1/traces`; the form is OTLP/HTTP with JSON.
    `headers` may hold a key: they are shown nowhere. Every `interval` seconds, or when a batch is full, finished spans
    are sent; each request has `timeout` seconds. Tracing never disturbs what is traced: a collector that cannot be
    reached is tried again, ever more seldom, and of what waits for it the newest 2,048 spans and 16 MiB are kept.
    `sent`, `dropped` and `last_error` tell how it goes.

    In a page the request is a `fetch` of the worker: the collector must allow the page's origin and, by name, the
    header `content-type` and those of `headers` (CORS), and a policy of the page must list it in `connect-src`.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        headers: Mapping[str, str] | None = None,
        service_name: str = "langfx_web",
        transport: Transport | None = None,
        interval: float = 5.0,
        timeout: float = 10.0,
        allow_insecure: bool = False,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        for name, value in (("interval", interval), ("timeout", timeout)):
            if not isinstance(value, (int, float)) or not value > 0:
                raise InvalidArgumentError(f"{name} must be seconds above 0, not {value!r}", details={"option": name})
        if not isinstance(endpoint, str) or not endpoint.startswith(("https://", "http://")):
            raise InvalidArgumentError("endpoint must be an http address", details={"option": "endpoint"})
        self.sent = 0
        self.dropped = 0
        self.last_error: LangfxError | None = None
        # Made once, so that a header that cannot be sent is named here and not in the middle of a run.
        self._request = Request(
            method="POST",
            url=endpoint,
            headers={**(headers or {}), "content-type": "application/json"},
            allow_insecure=allow_insecure,
        )
        self._resource = {"service.name": service_name}
        self._transport = transport or default_transport()
        self._interval = interval
        self._timeout = timeout
        self._clock = clock
        self._spans = Spans()
        self._queue: deque[bytes] = deque()
        self._size = 0
        self._failures = 0
        self._pause = 0.0
        self._asked = ""
        self._timer: Timer | None = None
        self._sending: asyncio.Task[bool] | None = None
        self._is_closed = False

    def on_event(self, event: ObservedEvent) -> None:
        """What an `Observer` calls; returns at once."""
        if self._is_closed:
            return
        for span in self._spans.take(event):
            self._put(span.encode())
        if self._queue and self._sending is None:
            if len(self._queue) >= MAX_BATCH and not self._failures:
                self._send()
            elif self._timer is None:
                self._wait()

    async def flush(self) -> bool:
        """Send all spans that are finished, now; whether they all reached the collector. Never raises for its sake."""
        while self._queue or self._sending is not None:
            # Shielded, since a timer may wait for the same request, or others who flush.
            if not await asyncio.shield(self._sending or self._send()):
                return False
        return True

    async def aclose(self) -> None:
        """Send what is left, once, and take no more; spans that are not finished are lost. Idempotent."""
        self._is_closed = True
        await self.flush()
        self._rest()
        self._trim(most=0)

    def _put(self, span: bytes) -> None:
        self._queue.append(span)
        self._size += len(span)
        self._trim()

    def _trim(self, most: int = MAX_QUEUE) -> None:
        while len(self._queue) > most or self._size > MAX_QUEUE_BYTES:
            self._size -= len(self._queue.popleft())
            self.dropped += 1

    def _wait(self) -> None:
        self._timer = self._clock.call_later(max(self._interval, self._pause), self._due)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        if self._sending is None:
            self._send()

    def _send(self) -> asyncio.Task[bool]:
        self._rest()
        self._sending = asyncio.get_running_loop().create_task(self._work())
        return self._sending

    async def _work(self) -> bool:
        try:
            return await self._emptied()
        finally:
            self._sending = None
            if self._queue and not self._is_closed:
                self._wait()

    async def _emptied(self) -> bool:
        """Send batches until the queue is empty; False where one did not get there."""
        complete = True
        while self._queue:
            batch = self._taken()
            error = await self._post(batch)
            if error is None:
                self._failures, self._pause = 0, 0.0
                continue
            complete, self.last_error = False, error
            if not error.retryable:
                self.dropped += len(batch)
                continue
            self._queue.extendleft(reversed(batch))
            self._size += sum(map(len, batch))
            self._trim()
            self._failures += 1
            self._pause = self._next_pause()
            return False
        return complete

    def _taken(self) -> list[bytes]:
        batch = [self._queue.popleft()]
        size = len(batch[0])
        while self._queue and len(batch) < MAX_BATCH and size + len(self._queue[0]) <= MAX_BATCH_BYTES:
            batch.append(self._queue.popleft())
            size += len(batch[-1])
        self._size -= size
        return batch

    async def _post(self, batch: list[bytes]) -> LangfxError | None:
        """Send one batch; what went wrong, `retryable` where the same spans may be sent again."""
        place = origin(self._request.url)
        body = document(self._resource, "langfx_web", batch)
        try:
            with Bounded(deadline_after(self._timeout, self._clock), self._clock):
                response = await self._transport.send(replace(self._request, body=body))
                answer = await response.read(MAX_ANSWER)
        except DeadlineExceededError:
            return TransportError(f"{place} did not answer within {self._timeout:g} s", code="connect_timeout")
        except TransportError as error:
            return error
        except Exception as error:  # noqa: BLE001  # a transport of the application may raise anything
            return _failure(f"the transport failed with {type(error).__name__}", retryable=True)
        if response.status // 100 == 2:
            self._count(len(batch), refused_spans(answer))
            return None
        self._asked = response.headers.get("retry-after", "")
        return _failure(f"{place} answered with status {response.status}", retryable=response.status in _AGAIN)

    def _count(self, spans: int, refused: int) -> None:
        self.sent += spans - refused
        self.dropped += refused
        if refused:
            self.last_error = _failure(f"the collector refused {refused} spans", retryable=False)

    def _next_pause(self) -> float:
        """Seconds until the next attempt: what the collector asks for, else twice as long after each failure."""
        asked, self._asked = self._asked, ""
        is_number = asked.isascii() and asked.isdigit()
        pause = float(asked) if is_number else self._interval * 2.0 ** min(self._failures, 10)
        return min(pause * random.uniform(1.0, 1.2), LONGEST_PAUSE)

    def __repr__(self) -> str:
        return f"OTLPExporter({origin(self._request.url)}, sent={self.sent}, dropped={self.dropped})"


def _failure(text: str, *, retryable: bool) -> LangfxError:
    return LangfxError(text, code="export_failed", retryable=retryable)
