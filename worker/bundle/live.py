"""A page of one's own while it is being written: served with `dist/` beside it, loaded again when a file changes."""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from worker.bundle.exchange import Exchange
from worker.bundle.server import Route, Server, listening
from worker.bundle.static_files import Faults, answer_file, file_below

_SCRIPT = Path(__file__).with_name("live.js")
_PLACE = "/.langfx/"
_DOCTYPE = re.compile(rb"(?i)<!doctype[^>]*>")
_SECONDS_BETWEEN_LOOKS = 0.25
_SECONDS_OF_QUIET = 0.1


def live_server(folder: Path, dist: Path, *, host: str, port: int) -> Server:
    """A server, not yet started, of the pages in `folder`, and of `dist` below `/dist/` unless `folder` has its own.

    Each page gets a script that loads it again when a file of either folder has changed, and that shows errors which
    the page does not catch. No file is written. It takes the next free port from `port` on.
    """
    return listening(folder, routes=live_routes(folder, dist), host=host, port=port)


def live_routes(folder: Path, dist: Path) -> dict[str, Route]:
    """What such a server answers; the last route is for every file."""
    watched = [folder, dist]

    def script(exchange: Exchange) -> None:
        answer_file(exchange, _SCRIPT.parent, f"/{_SCRIPT.name}", Faults())

    def changes(exchange: Exchange) -> None:
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        exchange.stream(200, headers, changes_since(exchange.query, watched))

    def bundle(exchange: Exchange) -> None:
        answer_file(exchange, dist, exchange.path.removeprefix("/dist"), Faults())

    def page_or_file(exchange: Exchange) -> None:
        file = file_below(folder, exchange.path)
        if file and file.suffix in {".html", ".htm"}:
            headers = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"}
            exchange.respond(200, headers, with_script(file.read_bytes(), state_of(watched)))
        else:
            answer_file(exchange, folder, exchange.path, Faults())

    routes: dict[str, Route] = {f"GET {_PLACE}live.js": script, f"GET {_PLACE}changes": changes}
    if not (folder / "dist").exists():
        routes["GET /dist/*"] = bundle
    routes["GET *"] = page_or_file
    return routes | {route.replace("GET", "HEAD", 1): answer for route, answer in routes.items()}


def with_script(html: bytes, state: str) -> bytes:
    """The page with the script before anything of its own; `state` is what the files were like."""
    found = _DOCTYPE.search(html)
    end = found.end() if found else 0
    return html[:end] + f'<script src="{_PLACE}live.js?{state}"></script>'.encode() + html[end:]


def changes_since(state: str, folders: list[Path]) -> Iterator[bytes | float]:
    """Server-sent events, with pauses in seconds between: one each time that files have changed and then were quiet."""
    yield b": watching\n\n"
    while True:
        now = state_of(folders)
        if now == state:
            yield _SECONDS_BETWEEN_LOOKS
            continue
        yield _SECONDS_OF_QUIET
        if state_of(folders) == now:
            state = now
            yield b"data: changed\n\n"


def state_of(folders: list[Path]) -> str:
    """A text that differs when a file does; hidden files and what tools leave are no part of it."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in folders for path in _files(folder)):
        # An editor may have taken the file away since.
        with contextlib.suppress(FileNotFoundError):
            stat = path.stat()
            digest.update(f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}\n".encode())
    return digest.hexdigest()[:16]


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_passed_over(name)]
        yield from (Path(parent, name) for name in names if not _is_passed_over(name))


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in {"__pycache__", "node_modules"}
