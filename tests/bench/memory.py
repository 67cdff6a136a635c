"""How large the worker's heap is, and what work leaves behind in it.

Run by `build.py bench memory`. A heap grows in steps and never shrinks, so what Python's objects take is looked at too:
the growth of a unit is the larger of the two. Proxies are counted with Pyodide's own tracing.
"""

import argparse
import statistics

from tests.bench.lab import lab, main
from tests.browser.provider import SSE, Text, stream

REPEATS = 10
UNITS = ("call", "stream", "turn", "cancelled_turn", "blob")
MEBIBYTE_MB = 2**20 / 1e6
TARGETS = {
    "ready_heap_mb": {"max": 32 * MEBIBYTE_MB},
    "pydantic_heap_mb": {"max": 40 * MEBIBYTE_MB},
    **{f"{unit}_growth_mb": {"max": MEBIBYTE_MB} for unit in UNITS},
    "proxies_growth": {"max": 0},
}


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Medians of the heaps over the rounds, and the largest growth of each unit in any of them."""
    answer = [item for item in stream(Text(deltas=("word ",) * 100)) if isinstance(item, bytes)]
    with lab("memory", {"POST /v1/messages": lambda exchange: exchange.stream(200, SSE, answer)}) as bench:
        heaps = [bench.run("heaps") for _ in range(options.rounds)]
        growths = [bench.run("growth", REPEATS) for _ in range(options.rounds)]
    figures = {f"{name}_heap_mb": statistics.median(heap[name] for heap in heaps) / 1e6 for name in heaps[0]}
    for unit in UNITS:
        largest = max(max(growth[unit]["heap"], growth[unit]["objects"]) for growth in growths)
        figures[f"{unit}_growth_mb"] = round(largest / 1e6, 6)
    for counted in ("proxies", "references"):
        figures[f"{counted}_growth"] = max(growth[unit][counted] for growth in growths for unit in UNITS)
    return figures


if __name__ == "__main__":
    main(measured, TARGETS)
