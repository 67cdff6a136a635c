"""Static files over HTTP: right types, revalidation, and the faults that a test asks for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from worker.bundle.exchange import Exchange

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".py": "text/x-python; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ts": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".whl": "application/zip",
    ".zip": "application/zip",
}
_CODINGS = {"br": ".br", "gzip": ".gz"}
_PIECE = 16384

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Faults:
    """What goes wrong or differs, by path below the mount (`fnmatch` patterns, as `*.wasm`); may change at any time.

    `missing` is answered 404. `types` lies about the content type. `bodies` are served in place of a file, whether
    it exists or not. `delays` are seconds before the answer, `rates` bytes per second. `cuts` are bytes after which
    the connection breaks. `headers` are added to every answer: a policy, isolation.
    """

    missing: set[str] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    cuts: dict[str, int] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)


def answer_file(exchange: Exchange, root: Path | None, path: str, faults: Faults) -> None:
    """Answer with the file at `path` (starting with a slash) below `root`, or 404, 405 or 304."""
    exchange.added_headers |= _matching(faults.headers, path) or {}
    if delay := _matching(faults.delays, path):
        exchange.wait(delay)
    if exchange.method not in {"GET", "HEAD"}:
        exchange.respond(405, {"Allow": "GET, HEAD"})
        return
    file = file_below(root, path)
    content = _matching(faults.bodies, path)
    if any(fnmatchcase(path, pattern) for pattern in faults.missing) or (file is None and content is None):
        exchange.respond(404, {"Content-Type": "text/plain; charset=utf-8"}, "not found\n")
        return
    headers = _headers(path, file, faults)
    if content is None and file is not None:
        file, encoding = _as_accepted(file, exchange.headers.get("accept-encoding", ""))
        headers |= encoding
        headers["ETag"] = _etag(file)
        if headers["ETag"] in exchange.headers.get("if-none-match", ""):
            exchange.respond(304, headers)
            return
        content = file.read_bytes()
    _send(exchange, headers, content or b"", rate=_matching(faults.rates, path), cut=_matching(faults.cuts, path))


def _send(exchange: Exchange, headers: dict[str, str], content: bytes, *, rate: float | None, cut: int | None) -> None:
    if exchange.method == "HEAD" or (rate is None and cut is None):
        exchange.respond(200, headers, content)
        return
    exchange.send_part(headers, _paced(content[:cut], rate), length=len(content))
    if cut is not None:
        exchange.drop()


def _paced(content: bytes, rate: float | None) -> Iterator[bytes | float]:
    for start in range(0, len(content), _PIECE):
        piece = content[start : start + _PIECE]
        if rate:
            yield len(piece) / rate
        yield piece


def file_below(root: Path | None, path: str) -> Path | None:
    """The file that `path` names, an index page for a folder; nothing outside of `root`."""
    if root is None or "\0" in path:
        return None
    file = (root / path.lstrip("/")).resolve()
    if path.endswith("/"):
        file /= "index.html"
    return file if file.is_file() and file.is_relative_to(root.resolve()) else None


def _as_accepted(file: Path, accepted: str) -> tuple[Path, dict[str, str]]:
    """The compressed file that lies beside `file` and that the client takes, else `file`; headers that say so."""
    beside = {coding: file.with_name(file.name + suffix) for coding, suffix in _CODINGS.items()}
    found = {coding: path for coding, path in beside.items() if path.exists()}
    wanted = {word.partition(";")[0].strip() for word in accepted.split(",")}
    for coding, path in found.items():
        if coding in wanted:
            return path, {"Content-Encoding": coding, "Vary": "Accept-Encoding"}
    return file, {"Vary": "Accept-Encoding"} if found else {}


def _headers(path: str, file: Path | None, faults: Faults) -> dict[str, str]:
    suffix = file.suffix if file else Path(path).suffix
    return {
        "Content-Type": _matching(faults.types, path) or CONTENT_TYPES.get(suffix, "application/octet-stream"),
        # Files below a folder that is named by its content never change.
        "Cache-Control": "public, max-age=31536000, immutable" if "/runtime-" in path else "no-cache",
    }


def _etag(file: Path) -> str:
    stat = file.stat()
    return f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'


def _matching(table: Mapping[str, T], path: str) -> T | None:
    return next((value for pattern, value in table.items() if fnmatchcase(path, pattern)), None)
