"""What a typed query costs: on the host beside langfun, in a browser's worker beside bare pydantic.

Run by `build.py bench query`; the peer is a Python that has langfun. The worker reads an order of 100 items as the
answer of a query, without a model, and with nothing but pydantic; three fields as the answer of a query; and long
answers in pieces, beside a parser that begins anew at each of them.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from tests.bench.lab import Lab, lab, main, rotated, spread

ROOT = Path(__file__).parents[2]
HOST_TARGETS_MS = {
    "query": 0.6,
    "query_json": 0.6,
    "action": 1,
    "query_text": 0.2,
    "model": 0.15,
    "template": 0.015,
    "new_template": 0.05,
    "type_text": 0.005,
    "new_type_text": 0.5,
    "read": 0.1,
    "read_json": 0.06,
    "read_hundred": 6,
    "read_hundred_json": 3,
    "read_thousand": 60,
    "read_thousand_json": 30,
}
SPEEDUPS = {"query": "speedup_over_langfun", "query_json": "json_speedup_over_langfun"}
TARGETS = {
    **{f"{name}_ms": {"max": most} for name, most in HOST_TARGETS_MS.items()},
    "speedup_over_langfun": {"min": 50},
    "json_speedup_over_langfun": {"min": 50},
    "pyodide_ratio_to_pydantic": {"max": 3},
    "pyodide_read_ratio_to_pydantic": {"max": 3},
    "speedup_over_reparse": {"min": 5},
    "stream_growth_ratio": {"max": 2.5},
}
STREAMS = ("stream", "twice_stream", "reparse")


def measured(options: argparse.Namespace) -> dict[str, float]:
    """The figures of the host, then those of the worker."""
    return {**_on_host(options.peer, options.rounds), **_in_worker(options.rounds)}


def _on_host(python: Path, rounds: int) -> dict[str, float]:
    """Milliseconds of every row, ours and langfun's, and how many times longer langfun takes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        command = [str(python), "-m", "tests.bench.beside_langfun", str(rounds), str(out)]
        # Elsewhere than in the clone, as langfun executes what it reads.
        subprocess.run(command, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})
        found = json.loads(out.read_text())
    figures: dict[str, float] = {}
    for name, samples in found.items():
        ours, theirs = (statistics.median(samples[side]) for side in ("ours", "langfun"))
        figures |= {f"{name}_ms": round(ours, 4), f"langfun_{name}_ms": round(theirs, 3)}
        figures[SPEEDUPS.get(name, f"{name}_speedup")] = round(theirs / ours, 2)
    return figures


def _in_worker(rounds: int) -> dict[str, float]:
    """Medians, least and spread in milliseconds, and the ratios of the medians."""
    with lab("query") as bench:
        samples = _rounds(bench, rounds)
    figures: dict[str, float] = {}
    for name, values in samples.items():
        figures |= spread(f"pyodide_{name}", "ms", values)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    figures["pyodide_ratio_to_pydantic"] = round(medians["query"] / medians["pydantic"], 3)
    figures["pyodide_read_ratio_to_pydantic"] = round(medians["read"] / medians["pydantic"], 3)
    figures["speedup_over_reparse"] = round(medians["reparse"] / medians["stream"], 2)
    figures["stream_growth_ratio"] = round(medians["twice_stream"] / medians["stream"], 3)
    return figures


def _rounds(bench: Lab, rounds: int) -> dict[str, list[float]]:
    """One sample of each in every round, after one that warms up; each kind of stream is first in turn."""
    samples: dict[str, list[float]] = {}
    for number in range(-1, rounds):
        found = bench.run("milliseconds", "answers")
        found |= {name: bench.run("milliseconds", name) for name in rotated(STREAMS, number)}
        for name, value in found.items() if number >= 0 else ():
            samples.setdefault(name, []).append(value)
    return samples


if __name__ == "__main__":
    main(measured, TARGETS)
