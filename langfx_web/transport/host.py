"""The transport outside a browser: httpx, an optional package that is loaded on first use."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from types import ModuleType
from typing import Any

from langfx_web.errors import TransportError
from langfx_web.transport.base import Request, Response, origin, refuse_insecure


class HostTransport:
    """Sends with httpx, one connection per exchange; reads no environment variable and follows no redirect."""

    def __init__(self) -> None:
        self._tls: Any = None
        self._closing: set[asyncio.Task[None]] = set()

    async def send(self, request: Request) -> Response:
        """Send; a missing httpx is `TransportError` (`unreachable`) that says how to install it."""
        refuse_insecure(request)
        httpx = _httpx()
        if self._tls is None and request.url.startswith("https:"):
            self._tls = httpx.create_ssl_context(trust_env=False)
        client = httpx.AsyncClient(verify=self._tls or False, timeout=None, trust_env=False, follow_redirects=False)
        try:
            outgoing = httpx.Request(request.method, request.url, headers=request.headers, content=request.body)
            response = await client.send(outgoing, stream=True)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            await client.aclose()
            raise TransportError(f"{origin(request.url)} cannot be reached: {error}", code="unreachable") from error
        except BaseException:
            await client.aclose()
            raise
        body = _HostBody(httpx, client, response, self._closing)
        return Response(response.status_code, response.headers, request.url, body)


class _HostBody:
    def __init__(self, httpx: ModuleType, client: Any, response: Any, closing: set[asyncio.Task[None]]) -> None:
        self._broken: type[Exception] = httpx.TransportError
        self._client = client
        self._response = response
        self._chunks = response.aiter_bytes()
        self._closing = closing
        self._over = False

    async def next(self) -> bytes:
        try:
            async for chunk in self._chunks:
                if chunk:
                    data: bytes = chunk
                    return data
        except self._broken as error:
            self._over = True
            await self._close()
            raise TransportError(f"the answer broke off: {error}", code="body_broken") from error
        self._over = True
        await self._close()
        return b""

    def abort(self) -> None:
        if self._over:
            return
        self._over = True
        # httpx can only close by awaiting; the server must learn of the end before that.
        stream = self._response.extensions.get("network_stream")
        raw = stream.get_extra_info("socket") if stream is not None else None
        if raw is not None:
            with suppress(OSError):
                raw.shutdown(socket.SHUT_RDWR)
        with suppress(RuntimeError):
            task = asyncio.get_running_loop().create_task(self._close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _close(self) -> None:
        with suppress(self._broken):
            await self._response.aclose()
        await self._client.aclose()


def _httpx() -> ModuleType:
    try:
        # An optional package: only programs outside a browser need it.
        import httpx  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise TransportError(
            "outside a browser the default transport needs httpx: install langfx-web[host], or pass transport=",
            code="unreachable",
            details={"missing": "httpx"},
        ) from error
    module: ModuleType = httpx
    return module
