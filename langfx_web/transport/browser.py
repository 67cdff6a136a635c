"""The transport in a browser: fetch, through the worker's pump where there is one.

An exchange is an object with `await head()` (JSON text: status, headers, url), `await next()` (a Uint8Array with what
has arrived, empty at the end) and a synchronous `close()` that aborts. JavaScript objects stay inside this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from langfx_web.errors import TransportError
from langfx_web.json_text import dumps, loads
from langfx_web.transport.base import Request, Response, origin, refuse_insecure

if sys.platform == "emscripten":
    import js
    from pyodide.ffi import JsException, to_js
else:
    # Elsewhere the module can be imported and given exchanges made in Python.
    js: Any = None
    JsException = OSError

    def to_js(value: object) -> Any:
        """Nothing crosses a border here."""
        return value


OpenExchange: TypeAlias = Callable[[str, Any], Any]
"""Starts a fetch and returns its exchange; takes the head as JSON text and the body as a Uint8Array or None."""


class BrowserTransport:
    """Sends with fetch. Without `open_exchange` it uses the pump of `use_pump`, else fetch itself."""

    def __init__(self, open_exchange: OpenExchange | None = None) -> None:
        self._open = open_exchange

    async def send(self, request: Request) -> Response:
        """Send; `unreachable` also stands for a refused preflight, which a page cannot tell from a dead line."""
        refuse_insecure(request, https_page=_is_https_page())
        head = dumps({"method": request.method, "url": request.url, "headers": dict(request.headers)})
        body = None if request.body is None else to_js(request.body)
        open_exchange = self._open or (_pump[0] if _pump else FetchExchange)
        exchange = open_exchange(head, body)
        try:
            answer = loads(await exchange.head())
        except JsException as error:
            exchange.close()
            raise _unreachable(request.url) from error
        except BaseException:
            exchange.close()
            raise
        return Response(answer["status"], dict(answer["headers"]), answer["url"], _ExchangeBody(exchange))


class _ExchangeBody:
    def __init__(self, exchange: Any) -> None:
        self._exchange = exchange

    async def next(self) -> bytes:
        try:
            arrived = await self._exchange.next()
        except JsException as error:
            raise TransportError("the answer broke off", code="body_broken") from error
        chunk: bytes = arrived.to_bytes()
        if not chunk:
            self.abort()
        return chunk

    def abort(self) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.close()


class FetchExchange:
    """The exchange of an interpreter without our worker: fetch and a reader, driven from Python."""

    def __init__(self, head: str, body: Any) -> None:
        request = loads(head)
        self._controller = js.AbortController.new()
        self._reader: Any = None
        self._closed = False
        options = {
            "method": request["method"],
            "headers": js.Object.fromEntries(to_js(list(request["headers"].items()))),
            "mode": "cors",
            "credentials": "omit",
            "cache": "no-store",
            "redirect": "error",
            "referrerPolicy": "no-referrer",
            "signal": self._controller.signal,
        }
        if body is not None:
            options["body"] = body
        self._answer = js.fetch(request["url"], js.Object.fromEntries(to_js(list(options.items()))))

    async def head(self) -> str:
        """Wait for the headers."""
        answer = await self._answer
        if answer.body:
            self._reader = answer.body.getReader()
        headers = loads(js.JSON.stringify(js.Array.from_(answer.headers)))
        return dumps({"status": answer.status, "headers": headers, "url": answer.url})

    async def next(self) -> Any:
        """Wait for bytes."""
        while self._reader is not None:
            read = await self._reader.read()
            if read.done:
                self._closed = True
                self._reader.releaseLock()
                self._reader = None
            elif read.value.length:
                return read.value
        return js.Uint8Array.new(0)

    def close(self) -> None:
        """Abort what is left; a pending `head` or `next` ends with it."""
        if not self._closed:
            self._closed = True
            self._controller.abort()
            if self._reader is not None:
                # A JavaScript function swallows the rejection: a Python one would have to be kept alive for it.
                self._reader.cancel().catch(js.Boolean)


def _is_https_page() -> bool:
    """Asked for at each request: nothing of a page may be kept in a memory snapshot."""
    return bool(js and hasattr(js, "location") and js.location.protocol == "https:")


def use_pump(open_exchange: OpenExchange | None) -> None:
    """Send through the worker's pump from now on; None goes back to fetch."""
    _pump[:] = [] if open_exchange is None else [open_exchange]


_pump: list[OpenExchange] = []


def _unreachable(url: str) -> TransportError:
    return TransportError(
        f"{origin(url)} cannot be reached: it is down or unknown, this device is offline, or the server does not allow "
        "requests from this page's origin (CORS)",
        code="unreachable",
    )
