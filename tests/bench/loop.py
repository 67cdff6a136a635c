"""The agent loop in a browser's worker: steps that each call one typed tool, on a model that answers from a script.

Run by `build.py bench loop`; the peers are pydantic-ai in a worker of ours, and the loop of Vercel's AI SDK in a plain
one. Each has its worker and its schemas before it is timed, and times itself. Runs of twice the steps tell what a long
transcript costs.
"""

import argparse
import statistics

from tests.bench.lab import files, lab, main, rotated, spread
from worker.bundle.pins import read_pins

STEPS = 100
CONTENDERS = ("langfx", "pydantic_ai", "ai_sdk")
NAMES = {"langfx": "step", "pydantic_ai": "pydantic_ai_step", "ai_sdk": "ai_sdk_step"}
TARGETS = {"speedup_over_pydantic_ai": {"min": 5}, "ratio_to_ai_sdk": {"max": 1}}


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Milliseconds per step of every contender, and what follows from them."""
    samples: dict[str, list[float]] = {}
    with lab("loop", {"GET /peers/*": files(options.peer)}) as bench:
        bench.run("prepare", [f"/peers/{pin.file}" for pin in read_pins().peers.values()])
        for number in range(-1, options.rounds):
            for name in rotated(CONTENDERS, number):
                for prefix, steps in (("", STEPS), ("twice_", 2 * STEPS)):
                    found = bench.run("milliseconds", name, steps) / steps
                    samples.setdefault(prefix + NAMES[name], []).extend([found] if number >= 0 else [])
    figures: dict[str, float] = {}
    for name, values in samples.items():
        figures |= spread(name, "ms", values)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    figures["speedup_over_pydantic_ai"] = round(medians["pydantic_ai_step"] / medians["step"], 2)
    figures["ratio_to_ai_sdk"] = round(medians["step"] / medians["ai_sdk_step"], 3)
    for name in NAMES.values():
        figures[f"{name}_growth_ratio"] = round(medians[f"twice_{name}"] / medians[name], 3)
    return figures


if __name__ == "__main__":
    main(measured, TARGETS)
