"""How soon a page is ready, from nothing and from a memory snapshot, beside bare Pyodide with pydantic.

Each start has a module worker of its own; the first of each kind is not counted, and the order changes from round to
round.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from tests.bench.lab import Lab, files, lab, main, rotated, spread

TARGETS = {"ready_ratio": {"max": 0.4}, "snapshot_ready_ratio": {"max": 0.3}, "first_token_ratio": {"max": 0.9}}
KINDS = ("cold", "restored", "npm")
NAMES = {"cold": "", "restored": "snapshot_", "npm": "npm_"}


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Medians, least and spread in milliseconds, and the ratios of the medians."""
    samples: dict[str, list[float]] = {}
    with lab("start", {"GET /npm/*": files(Path(os.environ["LANGFX_NPM"]))}) as bench:
        bench.run("prepare")
        for number in range(-1, options.rounds):
            found = _round(bench, number)
            for name, value in found.items() if number >= 0 else ():
                samples.setdefault(name, []).append(value)
    figures: dict[str, float] = {}
    for name, values in samples.items():
        figures |= spread(name, "ms", values)
    for name in ("ready", "snapshot_ready", "first_token", "snapshot_first_token"):
        figures[f"{name}_ratio"] = round(figures[f"{name}_ms"] / figures["npm_ready_ms"], 3)
    return figures


def _round(bench: Lab, number: int) -> dict[str, float]:
    """One start of each kind: milliseconds until it is ready, and until the first token where there is one."""
    found: dict[str, float] = {}
    for kind in rotated(KINDS, number):
        times = bench.run(kind)
        found[f"{NAMES[kind]}ready"] = times["ready"]
        if "firstToken" in times:
            found[f"{NAMES[kind]}first_token"] = times["firstToken"]
    return found


if __name__ == "__main__":
    main(measured, TARGETS)
