"""What the benches in a browser share: a Chromium on a page of its own server, and figures made of samples."""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from worker.bundle.exchange import Exchange
from worker.bundle.server import Route, Server
from worker.bundle.static_files import CONTENT_TYPES

PAGES = Path(__file__).with_name("pages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A page on a server with the bundle; `run` calls a function of the bench's script on the page."""

    page: Page
    server: Server

    def run(self, name: str, *arguments: Any) -> Any:
        """What the exported function gives, awaited."""
        return self.page.evaluate("([name, given]) => bench[name](...given)", [name, list(arguments)])


@contextmanager
def lab(script: str, routes: Mapping[str, Route] | None = None) -> Iterator[Lab]:
    """A lab whose page has loaded `pages/SCRIPT.js`; whatever the page complains about ends the bench."""
    complaints: list[str] = []
    served = {"GET /bench/*": files(PAGES), **(routes or {})}
    with Server(Path(os.environ["LANGFX_DIST"]), routes=served) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["LANGFX_CHROMIUM"], args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{server.url}bench/blank.html")
        page.evaluate("async script => { globalThis.bench = await import(script) }", f"/bench/{script}.js")
        yield Lab(page=page, server=server)
        browser.close()
    if complaints:
        raise SystemExit(f"the page complained: {complaints}")


def files(folder: Path) -> Route:
    """Serves the files of one folder by their names."""

    def route(exchange: Exchange) -> None:
        file = folder / exchange.path.rpartition("/")[2]
        if file.is_file():
            exchange.respond(200, {"Content-Type": CONTENT_TYPES[file.suffix]}, file.read_bytes())
        else:
            exchange.respond(404)

    return route


def rotated(names: Sequence[str], number: int) -> list[str]:
    """The names in the order of a round: each is first in turn."""
    start = number % len(names)
    return [*names[start:], *names[:start]]


def spread(name: str, unit: str, samples: Sequence[float]) -> dict[str, float]:
    """Median, least and spread of samples, as figures."""
    return {
        f"{name}_{unit}": round(statistics.median(samples), 3),
        f"{name}_min_{unit}": round(min(samples), 3),
        f"{name}_spread_{unit}": round(max(samples) - min(samples), 3),
    }


def main(
    measured: Callable[[argparse.Namespace], dict[str, float]], targets: Mapping[str, Mapping[str, float]]
) -> None:
    """Measure as `build.py bench` asks, and write what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--peer", type=Path, help="a script that npm installs, a Python, or a folder of both kinds")
    options = parser.parse_args()
    options.out.write_text(json.dumps({"figures": measured(options), "targets": targets}))
