"""Static files and their faults, over HTTP."""

import http.client
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.bundle.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of a small folder."""
    root = tmp_path / "served"
    (root / "runtime-0123456789ab").mkdir(parents=True)
    for name in ("index.html", "main.js", "core.mjs", "core.wasm", "some.whl", "data.json", "odd.xyz"):
        (root / name).write_text(name)
    (root / "runtime-0123456789ab" / "worker.js").write_text("worker")
    (tmp_path / "secret.txt").write_text("secret")
    with Server(root) as served:
        yield served


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


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/main.js", "text/javascript; charset=utf-8"),
        ("/core.mjs", "text/javascript; charset=utf-8"),
        ("/core.wasm", "application/wasm"),
        ("/some.whl", "application/zip"),
        ("/data.json", "application/json"),
        ("/odd.xyz", "application/octet-stream"),
    ],
)
def test_types_are_those_that_browsers_insist_on(server: Server, path: str, expected: str) -> None:
    """Module scripts and streamed wasm need their types."""
    status, headers, _ = ask(server, path)
    assert (status, headers["content-type"]) == (200, expected)


def test_files_are_revalidated_by_etag(server: Server) -> None:
    """A file that did not change is not sent twice; a changed one is."""
    _, headers, body = ask(server, "/main.js")
    assert body == b"main.js"
    assert headers["cache-control"] == "no-cache"
    known = {"If-None-Match": headers["etag"]}
    assert ask(server, "/main.js", headers=known)[::2] == (304, b"")
    assert server.root is not None
    os.utime(server.root / "main.js", ns=(1, 1))
    assert ask(server, "/main.js", headers=known)[::2] == (200, b"main.js")


def test_the_runtime_folder_is_kept_for_ever(server: Server) -> None:
    """What is named by its content needs no second look."""
    _, headers, _ = ask(server, "/runtime-0123456789ab/worker.js")
    assert "immutable" in headers["cache-control"]


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/x/../../secret.txt", "//etc/passwd", "/%00", "/no"]
)
def test_nothing_outside_of_the_folder_is_served(server: Server, path: str) -> None:
    """A path cannot climb out."""
    assert ask(server, path)[0] == 404


def test_head_has_the_length_without_the_body(server: Server) -> None:
    """HEAD answers as GET would."""
    status, headers, body = ask(server, "/main.js", method="HEAD")
    assert (status, headers["content-length"], body) == (200, "7", b"")


def test_faults_by_pattern(server: Server) -> None:
    """Wrong types, missing files, other contents and added headers, changed while the server runs."""
    server.faults.types["*.wasm"] = "text/plain"
    server.faults.missing.add("/some.*")
    server.faults.bodies["/main.js"] = b"other"
    server.faults.bodies["/new.js"] = b"made up"
    server.faults.headers["*.mjs"] = {"Content-Security-Policy": "script-src 'self'"}
    assert ask(server, "/core.wasm")[1]["content-type"] == "text/plain"
    assert ask(server, "/some.whl")[0] == 404
    assert ask(server, "/main.js")[2] == b"other"
    assert ask(server, "/new.js")[::2] == (200, b"made up")
    assert ask(server, "/core.mjs")[1]["content-security-policy"] == "script-src 'self'"
    assert "content-security-policy" not in ask(server, "/main.js")[1]
    server.faults.missing.clear()
    assert ask(server, "/some.whl")[0] == 200


def test_delays_and_rates_take_their_time(server: Server) -> None:
    """A slow line is slow before the answer, or all along it, and loses nothing."""
    server.faults.delays["/main.js"] = 0.05
    server.faults.bodies["/big"] = b"x" * 40_000
    server.faults.rates["/big"] = 800_000
    started = time.monotonic()
    assert ask(server, "/main.js")[2] == b"main.js"
    assert time.monotonic() - started >= 0.05
    started = time.monotonic()
    assert ask(server, "/big")[2] == b"x" * 40_000
    assert time.monotonic() - started >= 0.05


def test_a_cut_file_ends_early(server: Server) -> None:
    """A broken connection is told from a whole file by its length."""
    server.faults.cuts["/main.js"] = 3
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    connection.request("GET", "/main.js")
    with pytest.raises(http.client.IncompleteRead) as caught:
        connection.getresponse().read()
    connection.close()
    assert (caught.value.partial, caught.value.expected) == (b"mai", 4)


def test_what_lies_there_compressed_is_sent_to_who_takes_it(server: Server, tmp_path: Path) -> None:
    """Brotli before gzip, with the type of the file itself; a cache is told that there is more than one form."""
    for suffix in (".br", ".gz"):
        (tmp_path / "served" / f"main.js{suffix}").write_text(suffix)
    for accepted, coding, body in (("gzip, deflate, br;q=1", "br", b".br"), ("gzip", "gzip", b".gz")):
        status, headers, sent = ask(server, "/main.js", headers={"Accept-Encoding": accepted})
        assert (status, headers["content-encoding"], sent) == (200, coding, body)
        assert headers["content-type"] == "text/javascript; charset=utf-8"
        assert headers["vary"] == "Accept-Encoding"
    _, headers, sent = ask(server, "/main.js")
    assert ("content-encoding" in headers, headers["vary"], sent) == (False, "Accept-Encoding", b"main.js")
    assert "vary" not in ask(server, "/core.mjs", headers={"Accept-Encoding": "br"})[1]
