"""How soon a page is ready, beside bare Pyodide with pydantic in the same Chromium.

Run by `build.py bench start`; writes figures and targets as JSON to the file that it is given. Each start has a module
worker of its own; the first of each kind is not counted, and the order changes from round to round.
"""

import argparse
import json
import os
import statistics
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from worker.bundle.exchange import Exchange
from worker.bundle.server import Route, Server
from worker.bundle.static_files import CONTENT_TYPES

PAGES = Path(__file__).with_name("pages")
TARGETS = {"ready_ratio": {"max": 0.4}, "first_token_ratio": {"max": 0.9}}
MODULE_TYPES = {**CONTENT_TYPES, ".py": "text/x-python; charset=utf-8"}


def main() -> None:
    """Measure, and write what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    samples = measured(options.rounds)
    options.out.write_text(json.dumps({"figures": figures(samples), "targets": TARGETS}))


def measured(rounds: int) -> dict[str, list[float]]:
    """Milliseconds by name, one per round."""
    samples: dict[str, list[float]] = {"ready": [], "first_token": [], "npm_ready": []}
    routes = {"GET /bench/*": _files(PAGES), "GET /npm/*": _files(Path(os.environ["LANGFX_NPM"]))}
    with Server(Path(os.environ["LANGFX_DIST"]), routes=routes) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["LANGFX_CHROMIUM"], args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{server.url}bench/start.html")
        page.wait_for_function("() => globalThis.bench")
        for number in range(-1, rounds):
            found = _round(page, ours_first=number % 2 == 0)
            for name in samples if number >= 0 else ():
                samples[name].append(found[name])
        browser.close()
    return samples


def figures(samples: dict[str, list[float]]) -> dict[str, float]:
    """Medians, least and spread in milliseconds, and the ratios of the medians."""
    found = {}
    for name, values in samples.items():
        found[f"{name}_ms"] = round(statistics.median(values), 1)
        found[f"{name}_min_ms"] = round(min(values), 1)
        found[f"{name}_spread_ms"] = round(max(values) - min(values), 1)
    for name in ("ready", "first_token"):
        found[f"{name}_ratio"] = round(found[f"{name}_ms"] / found["npm_ready_ms"], 3)
    return found


def _round(page: Page, *, ours_first: bool) -> dict[str, float]:
    found = {}
    for name in ("ours", "npm") if ours_first else ("npm", "ours"):
        found[name] = page.evaluate(f"() => bench.{name}()")
    ours, npm = found["ours"], found["npm"]
    return {"ready": ours["ready"], "first_token": ours["firstToken"], "npm_ready": npm["ready"]}


def _files(folder: Path) -> Route:
    def route(exchange: Exchange) -> None:
        file = folder / exchange.path.rpartition("/")[2]
        if file.is_file():
            exchange.respond(200, {"Content-Type": MODULE_TYPES[file.suffix]}, file.read_bytes())
        else:
            exchange.respond(404)

    return route


if __name__ == "__main__":
    main()
