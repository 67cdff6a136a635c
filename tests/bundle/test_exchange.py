"""Answers of the test server, and what it sees of its clients."""

import contextlib
import http.client
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from worker.bundle.exchange import Exchange
from worker.bundle.server import Route, Server

REQUEST = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"


@contextlib.contextmanager
def asked(route: Route, *, request: bytes = REQUEST) -> Iterator[tuple[Server, socket.socket]]:
    """A server with one route at `/x`, and a connection over which `request` was sent."""
    with (
        Server(routes={"GET /x": route}) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection,
    ):
        connection.sendall(request)
        yield server, connection


def received(connection: socket.socket, until: bytes) -> bytes:
    """What comes over the connection, up to and with `until`."""
    data = b""
    while until not in data:
        piece = connection.recv(65536)
        if not piece:
            raise AssertionError(f"the connection ended after {data!r}")
        data += piece
    return data


def test_a_route_sees_the_whole_request() -> None:
    """Method, decoded path, query, headers with lower-case names and the body."""
    seen: list[Exchange] = []

    def route(exchange: Exchange) -> None:
        seen.append(exchange)
        exchange.respond(201, {"X-Made": "yes"}, "done")

    with Server(routes={"PUT /a b/*": route}) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        connection.request("PUT", "/a%20b/c?d=1&e", body=b"\0body", headers={"X-Asked": "é".encode("latin-1")})
        response = connection.getresponse()
        assert (response.status, response.read(), response.headers["X-Made"]) == (201, b"done", "yes")
        connection.close()
    (exchange,) = seen
    assert (exchange.method, exchange.path, exchange.query, exchange.body) == ("PUT", "/a b/c", "d=1&e", b"\0body")
    assert exchange.headers["x-asked"] == "é"
    assert server.exchanges == seen


def test_connections_are_kept_for_the_next_request() -> None:
    """HTTP/1.1 clients, like browsers, send several requests over one connection."""
    with Server(routes={"GET /x": lambda exchange: exchange.stream(200, {}, [b"a", b"", b"b"])}) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        for _ in range(3):
            connection.request("GET", "/x")
            assert connection.getresponse().read() == b"ab"
        connection.close()
    assert len({exchange.connection for exchange in server.exchanges}) == 1
    assert all(exchange.client_closed_at is None and exchange.ended_at for exchange in server.exchanges)


def test_each_item_of_a_stream_is_one_chunk_sent_at_once() -> None:
    """What was sent before a wait arrives before its end."""
    go_on = threading.Event()

    def items() -> Iterator[bytes | float]:
        yield b"first"
        go_on.wait(5)
        yield b"second"
        yield 0.05
        yield b"third"

    with asked(lambda exchange: exchange.stream(200, {}, items())) as (_, connection):
        head = received(connection, b"first\r\n")
        assert b"Transfer-Encoding: chunked" in head
        assert head.endswith(b"\r\n\r\n5\r\nfirst\r\n")
        go_on.set()
        sent_at = time.monotonic()
        assert received(connection, b"0\r\n\r\n") == b"6\r\nsecond\r\n5\r\nthird\r\n0\r\n\r\n"
        assert time.monotonic() - sent_at >= 0.05


def waiting_before_headers(exchange: Exchange) -> None:
    """A route that has not answered yet."""
    exchange.wait(60)


def waiting_in_stream(exchange: Exchange) -> None:
    """A route in the pause between two chunks."""
    exchange.stream(200, {}, [b"begun", 60.0, b"never"])


def waiting_in_faulty_file(exchange: Exchange) -> None:
    """A route that sends less than it announced."""
    exchange.send_part({}, [b"begun", 60.0], length=100)


@pytest.mark.parametrize("route", [waiting_before_headers, waiting_in_stream, waiting_in_faulty_file])
def test_a_closing_client_is_seen_while_the_answer_waits(route: Callable[[Exchange], None]) -> None:
    """The exchange says when its client went away, far sooner than the answer would have been due."""
    with asked(route) as (server, connection):
        exchange = server.wait_for(lambda exchange: exchange.path == "/x")
        if route is not waiting_before_headers:
            received(connection, b"begun")
        assert exchange.client_closed_at is None
        before = time.time()
        connection.close()
        assert exchange.wait_ended(1)
    assert exchange.client_closed_at is not None
    assert before - 0.01 <= exchange.client_closed_at <= before + 1


def test_a_closing_client_is_seen_behind_its_next_request() -> None:
    """A second request that came too early does not hide the end of the connection for ever."""
    route_ended = threading.Event()

    def route(exchange: Exchange) -> None:
        try:
            exchange.stream(200, {}, itertools.repeat(b"x"))
        finally:
            route_ended.set()

    with asked(route, request=REQUEST * 2) as (server, connection):
        received(connection, b"x")
        connection.close()
        assert route_ended.wait(1)
    assert server.exchanges[0].client_closed_at is not None


def test_a_client_that_stops_reading_and_closes_is_seen() -> None:
    """A write that is stuck in full buffers ends with the client."""
    with asked(lambda exchange: exchange.stream(200, {}, itertools.repeat(b"x" * 65536))) as (server, connection):
        received(connection, b"x")
        exchange = server.wait_for(lambda exchange: exchange.path == "/x")
        connection.close()
        assert exchange.wait_ended(1)
    assert exchange.client_closed_at is not None


def test_a_generator_of_items_is_closed_with_its_client() -> None:
    """A script can clean up when nobody listens any more."""
    closed = threading.Event()

    def items() -> Iterator[bytes | float]:
        try:
            yield b"begun"
            yield 60.0
        finally:
            closed.set()

    with asked(lambda exchange: exchange.stream(200, {}, items())) as (_, connection):
        received(connection, b"begun")
        connection.close()
        assert closed.wait(1)


def test_drop_breaks_the_connection() -> None:
    """A route can cut an answer off; that is not the client's doing."""

    def route(exchange: Exchange) -> None:
        exchange.stream(200, {}, cut(exchange))

    def cut(exchange: Exchange) -> Iterator[bytes | float]:
        yield b"begun"
        exchange.drop()

    with asked(route) as (server, connection):
        received(connection, b"begun\r\n")
        assert connection.recv(100) == b""
    (exchange,) = server.exchanges
    assert exchange.client_closed_at is None


def test_a_faulty_route_is_reported_and_answered() -> None:
    """An exception of a route is kept for the test, and its client gets status 500."""

    def route(exchange: Exchange) -> None:
        raise LookupError("no script for this")

    with asked(route) as (server, connection):
        assert b"500 Internal Server Error" in received(connection, b"no script for this")
    (exchange,) = server.exchanges
    assert isinstance(exchange.error, LookupError)
