"""A page of one's own while it is being written."""

import http.client
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from worker.bundle.live import changes_since, live_server, state_of, with_script
from worker.bundle.server import Server


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A folder with a page and its module."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Shop</title>")
    (folder / "shop.py").write_text("prices = {}\n")
    return folder


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A bundle of one file."""
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "langfx-web.js").write_text("export const connect = 1;\n")
    return tmp_path / "built"


@pytest.fixture
def server(page: Path, dist: Path) -> Iterator[Server]:
    """The running server of both."""
    with live_server(page, dist, host="127.0.0.1", port=0) as server:
        yield server


def get(server: Server, path: str, method: str = "GET") -> tuple[int, str]:
    """Status and text."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<!doctype html><html lang='en'><title>a", "<!doctype html>*<html lang='en'><title>a"),
        ("<!DOCTYPE html>\n<title>a", "<!DOCTYPE html>*\n<title>a"),
        ("<p>a", "*<p>a"),
    ],
)
def test_the_script_comes_first_in_any_page(html: str, expected: str) -> None:
    """It hears errors of the page's own scripts, and the page stays in the mode that its doctype asks for."""
    script = '<script src="/.langfx/live.js?abc"></script>'
    assert with_script(html.encode(), "abc").decode() == expected.replace("*", script)


def test_pages_have_the_script_and_files_are_as_they_are(server: Server, page: Path) -> None:
    """Nothing is written: only what is sent of a page differs from its file."""
    status, text = get(server, "/")
    assert status == 200
    assert text.startswith('<!doctype html><script src="/.langfx/live.js?')
    assert get(server, "/shop.py") == (200, "prices = {}\n")
    assert "EventSource" in get(server, "/.langfx/live.js")[1]
    assert sorted(path.name for path in page.iterdir()) == ["index.html", "shop.py"]


def test_the_bundle_lies_beside_the_page(server: Server, dist: Path, page: Path) -> None:
    """`/dist/` is the built one, unless the folder has one of its own."""
    assert get(server, "/dist/langfx-web.js") == (200, "export const connect = 1;\n")
    assert get(server, "/dist/langfx-web.js", "HEAD") == (200, "")
    (page / "dist").mkdir()
    (page / "dist" / "langfx-web.js").write_text("mine")
    with live_server(page, dist, host="127.0.0.1", port=0) as other:
        assert get(other, "/dist/langfx-web.js") == (200, "mine")


def test_a_change_is_told_once_it_is_over(page: Path, dist: Path) -> None:
    """Files that change one after the other make one event, and it waits until they are quiet."""
    events = changes_since(state_of([page, dist]), [page, dist])
    assert [*itertools.islice(events, 3)] == [b": watching\n\n", 0.25, 0.25]
    (page / "shop.py").write_text("prices = {1: 2}\n")
    assert next(events) == 0.1
    (page / "new.css").write_text("p { color: red }")
    assert next(events) == 0.1
    assert [*itertools.islice(events, 2)] == [b"data: changed\n\n", 0.25]
    (page / "new.css").unlink()
    assert [*itertools.islice(events, 2)] == [0.1, b"data: changed\n\n"]


def test_a_change_before_the_page_listens_is_not_missed(page: Path, dist: Path) -> None:
    """A page knows from what state of the files it was made."""
    state = state_of([page, dist])
    (page / "shop.py").write_text("prices = {1: 2}\n")
    assert [*itertools.islice(changes_since(state, [page, dist]), 3)] == [b": watching\n\n", 0.1, b"data: changed\n\n"]


@pytest.mark.parametrize("name", [".git/index", "__pycache__/shop.pyc", "node_modules/a/index.js", ".shop.py.swp"])
def test_what_tools_leave_is_no_change(page: Path, name: str) -> None:
    """Hidden files, bytecode and packages do not load the page again."""
    before = state_of([page])
    (page / name).parent.mkdir(parents=True, exist_ok=True)
    (page / name).write_text("left")
    assert state_of([page]) == before
