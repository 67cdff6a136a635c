"""The threaded HTTP/1.1 server of `build.py serve` and of the browser tests: files, scripted routes, faults.

It records every request (`exchange.py`) and sees at once when a client closes. Two servers are two origins.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from worker.bundle.exchange import Exchange
from worker.bundle.outcome import CannotRun
from worker.bundle.static_files import Faults, answer_file

Route = Callable[[Exchange], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cors:
    """What pages of other origins may send and read here; the answer to a preflight says so, whatever it asks."""

    headers: tuple[str, ...] = ()
    methods: tuple[str, ...] = ("GET", "HEAD", "POST")
    expose: tuple[str, ...] = ()


class Server:
    """Serves `routes` and the files below `root` on a port of loopback, from the start of `with` to its end.

    `routes` maps `"METHOD /path"`, where the path is an `fnmatch` pattern, to functions; it comes before files.
    `headers` are added to every answer. `mount` is a path that everything lies below, like `/a/b`. Port 0 is a free
    one. `faults` may be changed at any time. `exchanges` lists all requests in order of arrival, preflights too. A
    taken port raises `OSError`.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        routes: Mapping[str, Route] | None = None,
        cors: Cors | None = None,
        headers: Mapping[str, str] | None = None,
        mount: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.root = root
        self.routes = dict(routes or {})
        self.cors = cors
        self.headers = dict(headers or {})
        self.mount = mount.rstrip("/")
        self.host = host
        self.faults = Faults()
        self.exchanges: list[Exchange] = []
        self._arrival = threading.Condition()
        self._listener = _Listener((host, port), self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._listener.server_address[1])

    @property
    def origin(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Address of the served folder, with a slash at its end."""
        return f"{self.origin}{self.mount}/"

    @property
    def open_connections(self) -> int:
        """How many clients are connected now, at work or idle."""
        return self._listener.open_connections

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()
        self._listener.drop_connections()

    def wait_for(self, claim: Callable[[Exchange], bool], timeout: float = 5) -> Exchange:
        """The first recorded exchange that `claim` is true of; raises `TimeoutError` if none comes in time."""

        def found() -> Exchange | None:
            return next(filter(claim, self.exchanges), None)

        with self._arrival:
            exchange = self._arrival.wait_for(found, timeout)
        if exchange is None:
            raise TimeoutError(f"no such request in {timeout} s")
        return exchange

    def answer(self, exchange: Exchange) -> bool:
        """Record a request and answer it; whether its connection is fit for another one."""
        with self._arrival:
            self.exchanges.append(exchange)
            self._arrival.notify_all()
        return exchange.run(self._dispatch)

    def _dispatch(self, exchange: Exchange) -> None:
        exchange.added_headers |= self.headers
        self._allow_origin(exchange)
        if exchange.method == "OPTIONS" and "access-control-request-method" in exchange.headers:
            self._answer_preflight(exchange)
            return
        path = exchange.path
        if not path.startswith(f"{self.mount}/"):
            exchange.respond(404, {"Content-Type": "text/plain"}, "not below the mount\n")
            return
        path = path.removeprefix(self.mount)
        route = self._route(exchange.method, path)
        if route:
            route(exchange)
        else:
            answer_file(exchange, self.root, path, self.faults)

    def _route(self, method: str, path: str) -> Route | None:
        for pattern, route in self.routes.items():
            wanted_method, _, wanted_path = pattern.partition(" ")
            if wanted_method == method and fnmatchcase(path, wanted_path):
                return route
        return None

    def _allow_origin(self, exchange: Exchange) -> None:
        origin = exchange.headers.get("origin")
        if self.cors is None or origin is None:
            return
        exchange.added_headers |= {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        if self.cors.expose:
            exchange.added_headers["Access-Control-Expose-Headers"] = ", ".join(self.cors.expose)

    def _answer_preflight(self, exchange: Exchange) -> None:
        if self.cors is None:
            exchange.respond(403)
            return
        allowed = {"Methods": self.cors.methods, "Headers": self.cors.headers}
        exchange.respond(204, {f"Access-Control-Allow-{name}": ", ".join(value) for name, value in allowed.items()})


def listening(root: Path, *, routes: Mapping[str, Route], host: str, port: int) -> Server:
    """A server, not yet started, at the first port that is free, from `port` on; raises `CannotRun` without one."""
    for candidate in range(port, min(port + 100, 65536)):
        try:
            return Server(root, routes=routes, host=host, port=candidate)
        except OSError as error:
            print(f"port {candidate} cannot be used ({error.strerror}), trying the next one", flush=True)
    raise CannotRun(f"no free port from {port} on: give another one with --port")


class _Listener(ThreadingHTTPServer):
    """Gives each connection a daemon thread, and ends both when the server does."""

    request_queue_size = 128

    def __init__(self, address: tuple[str, int], server: Server) -> None:
        self.answer = server.answer
        self._connections: dict[socket.socket, threading.Thread] = {}
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        arguments = (request, client_address)
        thread = threading.Thread(target=self.process_request_thread, args=arguments, daemon=True)
        self._connections[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self._connections.pop(request, None)

    @property
    def open_connections(self) -> int:
        return len(self._connections)

    def drop_connections(self) -> None:
        for connection, thread in list(self._connections.items()):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            thread.join(2)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that break off before their request is complete."""


class _Handler(BaseHTTPRequestHandler):
    """Turns what comes over one connection into exchanges, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Listener

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        exchange = Exchange(
            method=self.command,
            path=unquote(url.path),
            query=url.query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(int(self.headers.get("content-length", 0))),
            connection=self.connection,
        )
        if not self.server.answer(exchange):
            self.close_connection = True

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the exchanges are the record."""
