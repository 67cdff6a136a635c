"""The demo as `build.py serve` serves it, with a made-up script for the provider."""

import http.client
import json
from pathlib import Path

import pytest

from worker.bundle.demo import demo_server, load_respond
from worker.bundle.outcome import CheckFailed
from worker.bundle.server import Server

SCRIPT = """
from dataclasses import dataclass

@dataclass(slots=True, kw_only=True)
class Turn:
    text: str

def respond(body):
    turn = Turn(text=body["say"])
    return 200, {"content-type": "text/event-stream"}, [turn.text.encode(), 0.0, b"!"]
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A provider that repeats what it is told."""
    path = tmp_path / "scripted_provider.py"
    path.write_text(SCRIPT)
    return path


def ask(server: Server, path: str, *, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    """Status and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request(method, path, body=body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A folder whose file says that there is no provider."""
    (tmp_path / "dist" / "demo").mkdir(parents=True)
    (tmp_path / "dist" / "demo" / "provider.json").write_text('{"baseUrl": null}')
    return tmp_path / "dist"


def test_provider_streams_what_its_script_answers(script: Path, dist: Path) -> None:
    """The route hands the JSON body to the script and sends on what comes back."""
    with demo_server(dist, script, host="127.0.0.1", port=0) as server:
        assert ask(server, "/v1/messages", method="POST", body=b'{"say": "hi"}') == (200, b"hi!")
        assert ask(server, "/v1/messages", method="POST", body=b"no json")[0] == 400


def test_demo_is_told_where_its_provider_is(script: Path, dist: Path) -> None:
    """Served by us, the demo finds the provider on its own origin; the file of `dist/` says there is none."""
    with demo_server(dist, script, host="127.0.0.1", port=0) as server:
        status, body = ask(server, "/demo/provider.json")
        assert (status, json.loads(body)) == (200, {"baseUrl": "/v1"})


def test_a_taken_port_gives_the_next_one(script: Path, dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The demo starts all the same and says which port was taken."""
    with Server() as taken, demo_server(dist, script, host="127.0.0.1", port=taken.port) as server:
        assert server.port > taken.port
    assert f"port {taken.port} cannot be used" in capsys.readouterr().out


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    """Serving without the script fails with its path."""
    with pytest.raises(CheckFailed, match="scripted_provider"):
        load_respond(tmp_path / "scripted_provider.py")
