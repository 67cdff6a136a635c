"""The host transport against a real server on this machine."""

from __future__ import annotations

import asyncio
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from langfx_web.errors import TransportError
from langfx_web.transport import Request
from langfx_web.transport.host import HostTransport

pytest.importorskip("httpx", reason="httpx is an optional package")


class Handler(BaseHTTPRequestHandler):
    """Streams, stalls, breaks off or redirects, by the path; tells when a client has gone away."""

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.seen.put((self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
        if self.path == "/no-headers":
            self._wait_for_close(server)
            return
        self.send_response(302 if self.path == "/redirect" else 200)
        self.send_header("Location", "/elsewhere")
        if self.path == "/broken":
            self.send_header("Content-Length", "1000")
        self.end_headers()
        with suppress(OSError):
            for chunk in (b"one ", b"two"):
                self.wfile.write(chunk)
                self.wfile.flush()
        if self.path == "/stall":
            self._wait_for_close(server)

    def _wait_for_close(self, server: Server) -> None:
        with suppress(OSError):
            self.connection.recv(1)
        server.closed.put(self.path)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: queue.Queue[tuple[str, dict[str, str], bytes]] = queue.Queue()
        self.closed: queue.Queue[str] = queue.Queue()

    def request(self, path: str) -> Request:
        return Request(
            method="POST", url=f"http://127.0.0.1:{self.server_port}{path}", headers={"x-api-key": "k"}, body=b"{}"
        )


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a free port."""
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


async def gone(server: Server) -> str:
    """The path whose client went away."""
    return await asyncio.to_thread(server.closed.get, timeout=10)


async def test_sends_what_it_is_given_and_reads_to_the_end(server: Server) -> None:
    """Method, headers and body arrive as they are, without headers that identify a library."""
    response = await HostTransport().send(server.request("/plain"))
    assert b"".join([chunk async for chunk in response]) == b"one two"
    path, headers, body = server.seen.get_nowait()
    assert (path, body, headers["x-api-key"]) == ("/plain", b"{}", "k")
    assert {name.lower() for name in headers} == {"x-api-key", "host", "content-length"}
    assert (response.status, response.headers["location"]) == (200, "/elsewhere")


async def test_redirects_are_not_followed(server: Server) -> None:
    """A redirect is an answer like any other: the key goes nowhere else."""
    response = await HostTransport().send(server.request("/redirect"))
    assert response.status == 302
    assert await response.read(1000) == b"one two"
    assert server.seen.qsize() == 1


async def test_a_body_that_breaks_off_says_so(server: Server) -> None:
    """A connection that ends inside the body is `body_broken`, after the bytes that came."""
    seen = []

    async def read() -> None:
        async for chunk in await HostTransport().send(server.request("/broken")):
            seen.append(chunk)  # noqa: PERF401  # what came before the failure is looked at

    with pytest.raises(TransportError) as raised:
        await read()
    assert b"".join(seen) == b"one two"
    assert (raised.value.code, raised.value.retryable) == ("body_broken", True)


async def test_a_place_that_is_not_there_is_unreachable() -> None:
    """A refused connection is `unreachable` and names the origin only."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1?key=secret"
    with pytest.raises(TransportError, match=r"http://127\.0\.0\.1:\d+ cannot be reached") as raised:
        await HostTransport().send(Request(method="POST", url=url))
    assert raised.value.code == "unreachable"
    assert "secret" not in str(raised.value)


async def test_plain_http_to_elsewhere_is_not_sent() -> None:
    """An address without TLS that is not this machine is refused before any connection."""
    with pytest.raises(TransportError) as raised:
        await HostTransport().send(Request(method="POST", url="http://example.com/v1"))
    assert raised.value.code == "insecure_url"


async def test_leaving_the_loop_closes_the_connection(server: Server) -> None:
    """A body that is left by `break` is closed on the wire although its task goes on."""
    response = await HostTransport().send(server.request("/stall"))
    async for _ in response:
        break
    assert await gone(server) == "/stall"


@pytest.mark.parametrize("path", ["/no-headers", "/stall"])
async def test_cancelling_closes_the_connection(server: Server, path: str) -> None:
    """Cancelling before the headers, or while waiting for bytes, closes the connection, and the cancel passes."""

    async def read_all() -> None:
        async for _ in await HostTransport().send(server.request(path)):
            pass

    task = asyncio.create_task(read_all())
    await asyncio.to_thread(server.seen.get, timeout=10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(server) == path


async def test_cancelling_a_busy_consumer_closes_the_connection(server: Server) -> None:
    """A task that is cancelled while it works on a chunk closes the connection too."""
    busy = asyncio.Event()

    async def work() -> None:
        async for _ in await HostTransport().send(server.request("/stall")):
            busy.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await busy.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(server) == "/stall"
