"""One request to the test server, its answer, and what became of its client."""

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.client import responses


class ConnectionEnded(Exception):
    """The connection ended before the answer was complete; a route lets it through."""


@dataclass(slots=True, kw_only=True, eq=False)
class Exchange:
    """One request and its answer; times are seconds since the epoch, as `Date.now() / 1000` on a page.

    `path` is decoded and without the query. `headers` has lower-case names. A route answers with `respond` or
    `stream`; these and `wait` raise `ConnectionEnded` as soon as there is nobody to answer, and then
    `client_closed_at` says since when. `error` is what a faulty route raised.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    connection: socket.socket
    added_headers: dict[str, str] = field(default_factory=dict)
    started_at: float = field(default_factory=time.time)
    ended_at: float | None = None
    status: int | None = None
    client_closed_at: float | None = None
    error: Exception | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    def respond(self, status: int = 200, headers: Mapping[str, str] | None = None, body: bytes | str = b"") -> None:
        """Send a whole answer."""
        content = body.encode() if isinstance(body, str) else body
        length = {} if status in {204, 304} else {"Content-Length": str(len(content))}
        head = self._head(status, {**(headers or {}), **length})
        self._send(head if self.method == "HEAD" else head + content)

    def stream(self, status: int, headers: Mapping[str, str], items: Iterable[bytes | float]) -> None:
        """Send an answer piece by piece: bytes are one chunk and one network write, numbers are seconds to wait.

        A generator of items is closed when the client goes away.
        """
        iterator = iter(items)
        try:
            self._send(self._head(status, {**headers, "Transfer-Encoding": "chunked"}))
            for item in iterator:
                if not isinstance(item, bytes):
                    self.wait(item)
                elif item:
                    self._send(b"%x\r\n%b\r\n" % (len(item), item))
            self._send(b"0\r\n\r\n")
        finally:
            if close := getattr(iterator, "close", None):
                close()

    def send_part(self, head: Mapping[str, str], parts: Iterable[bytes | float], *, length: int) -> None:
        """Send status 200, announce `length` bytes and then send only `parts`, in the manner of `stream`."""
        self._send(self._head(200, {**head, "Content-Length": str(length)}))
        for part in parts:
            if isinstance(part, bytes):
                self._send(part)
            else:
                self.wait(part)

    def wait(self, seconds: float) -> None:
        """Do nothing for a while, but notice at once when the client goes away."""
        end = time.monotonic() + seconds
        while True:
            left = max(0.0, end - time.monotonic())
            readable, _, _ = select.select([self.connection], [], [], left)
            if readable and self._is_at_end():
                self._note_client_closed()
            if left == 0:
                return
            if readable:
                # Bytes of a next request wait to be read, so the connection stays readable: do not spin.
                time.sleep(min(left, 0.02))

    def drop(self) -> None:
        """Break the connection in the middle of the answer."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        raise ConnectionEnded

    def wait_ended(self, timeout: float = 5) -> bool:
        """Whether the answer is complete or its client gone, after waiting at most `timeout` seconds for it."""
        return self._ended.wait(timeout)

    def run(self, answer: Callable[["Exchange"], None]) -> bool:
        """Let `answer` answer and note how that ended; whether the connection is fit for another request."""
        try:
            answer(self)
        except ConnectionEnded:
            return False
        except Exception as error:  # noqa: BLE001 - the route of a test may raise anything; the test reads it here.
            self.error = error
            if self.status is None:
                with contextlib.suppress(ConnectionEnded):
                    self.respond(500, {"Content-Type": "text/plain"}, f"the route failed: {error!r}\n")
            return False
        finally:
            self.ended_at = time.time()
            self._ended.set()
        return True

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        self.wait(0)
        self.status = status
        lines = [f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in {**self.added_headers, **headers}.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def _send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError:
            self._note_client_closed()

    def _is_at_end(self) -> bool:
        try:
            return self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def _note_client_closed(self) -> None:
        self.client_closed_at = self.client_closed_at or time.time()
        raise ConnectionEnded
