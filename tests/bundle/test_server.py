"""The test server: routes, origins, preflights and its own end."""

import http.client
import threading
import time
from pathlib import Path

import pytest

from worker.bundle.exchange import Exchange
from worker.bundle.server import Cors, Server


def ask(
    server: Server, path: str, *, method: str = "GET", headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers with lower-case names, and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.headers.items()}, response.read()
    finally:
        connection.close()


def hello(exchange: Exchange) -> None:
    """A route."""
    exchange.respond(200, {"Content-Type": "text/plain"}, "hello")


def test_routes_are_found_by_method_and_path(tmp_path: Path) -> None:
    """A route comes before a file of its name, for its method only."""
    (tmp_path / "x").write_text("file")
    with Server(tmp_path, routes={"GET /x": hello, "GET /many/*": hello}) as server:
        assert ask(server, "/x")[2] == b"hello"
        assert ask(server, "/many/of/them")[2] == b"hello"
        assert ask(server, "/x", method="HEAD")[::2] == (200, b"")
        assert ask(server, "/x", method="POST")[0] == 405
        assert ask(server, "/other")[0] == 404


def test_everything_lies_below_the_mount(tmp_path: Path) -> None:
    """The same folder can be served below any path."""
    (tmp_path / "index.html").write_text("page")
    with Server(tmp_path, routes={"GET /x": hello}, mount="/a/b/") as server:
        assert server.url == f"http://127.0.0.1:{server.port}/a/b/"
        assert ask(server, "/a/b/")[2] == b"page"
        assert ask(server, "/a/b/x")[2] == b"hello"
        assert [ask(server, path)[0] for path in ("/", "/x", "/a/bc/x")] == [404, 404, 404]


def test_a_preflight_says_what_other_origins_may_do() -> None:
    """Preflights are answered before any route, with what is allowed and not with what was asked for; and recorded."""
    cors = Cors(headers=("x-api-key", "content-type"), expose=("request-id",))
    origin = "http://127.0.0.1:1"
    asking = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-odd"}
    with Server(routes={"POST /v1": hello}, cors=cors) as server:
        status, headers, _ = ask(server, "/v1", method="OPTIONS", headers=asking)
        assert status == 204
        assert headers["access-control-allow-origin"] == origin
        assert headers["access-control-allow-headers"] == "x-api-key, content-type"
        assert headers["access-control-allow-methods"] == "GET, HEAD, POST"
        _, headers, _ = ask(server, "/v1", method="POST", headers={"Origin": origin})
        assert headers["access-control-allow-origin"] == origin
        assert headers["access-control-expose-headers"] == "request-id"
    assert [exchange.method for exchange in server.exchanges] == ["OPTIONS", "POST"]
    assert server.exchanges[0].headers["access-control-request-headers"] == "x-odd"


def test_without_cors_other_origins_may_do_nothing() -> None:
    """A browser refuses answers that do not name its origin."""
    asking = {"Origin": "http://127.0.0.1:1", "Access-Control-Request-Method": "POST"}
    with Server(routes={"POST /v1": hello}) as server:
        status, headers, _ = ask(server, "/v1", method="OPTIONS", headers=asking)
    assert status == 403
    assert not any(name.startswith("access-control") for name in headers)


def test_two_servers_are_two_origins() -> None:
    """Each server has a port of its own."""
    with Server() as one, Server() as other:
        assert one.origin != other.origin


def test_wait_for_finds_past_and_coming_requests() -> None:
    """A test can wait for a request without sleeping, and is told if none comes."""
    with Server(routes={"GET /*": hello}) as server:
        ask(server, "/past")
        assert server.wait_for(lambda exchange: exchange.path == "/past").method == "GET"
        later = threading.Timer(0.05, ask, (server, "/coming"))
        later.start()
        assert server.wait_for(lambda exchange: exchange.path == "/coming").method == "GET"
        later.join()
        with pytest.raises(TimeoutError):
            server.wait_for(lambda exchange: exchange.path == "/never", timeout=0.05)


def test_nothing_is_left_of_a_server() -> None:
    """Its end ends idle connections, waiting routes and all threads, and frees the port."""
    before = set(threading.enumerate())
    with Server(routes={"GET /x": lambda exchange: exchange.wait(60)}) as server:
        idle = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        idle.request("GET", "/nothing")
        idle.getresponse().read()
        waiting = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        waiting.request("GET", "/x")
        server.wait_for(lambda exchange: exchange.path == "/x")
    assert set(threading.enumerate()) <= before
    idle.close()
    waiting.close()
    with Server(port=server.port) as again:
        assert ask(again, "/")[0] == 404


def test_a_taken_port_is_an_error() -> None:
    """Two servers never share a port unnoticed."""
    with Server() as server, pytest.raises(OSError, match="in use"):
        Server(port=server.port)


def test_open_connections_are_counted() -> None:
    """A client counts until it leaves, between its requests too."""
    with Server(routes={"GET /x": hello}) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("GET", "/x")
        connection.getresponse().read()
        assert server.open_connections == 1
        connection.close()
        end = time.monotonic() + 5
        while server.open_connections and time.monotonic() < end:
            time.sleep(0.01)
        assert server.open_connections == 0
