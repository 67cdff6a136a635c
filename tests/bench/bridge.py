"""What it costs to cross between page and worker.

Run by `build.py bench bridge`. A sample is the mean over many repeats, since a page's clock has steps of 0.1 ms.
"""

import argparse
from collections.abc import Iterator

from tests.bench.lab import Lab, lab, main, spread
from tests.browser.provider import SSE, Text, stream
from worker.bundle.exchange import Exchange

CALLS, ITEMS, MEBIBYTES = 50, 5_000, 10
CHUNKS, DELTAS_PER_CHUNK, PAUSE = 10, 50, 0.05
TARGETS = {
    "call_ms": {"max": 0.6},
    "item_us": {"max": 15},
    "posts_per_chunk": {"max": 1},
    "mebibyte_both_ways_ms": {"max": 5},
}


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Medians over the rounds, after one that warms up."""
    with lab("bridge", {"POST /v1/messages": _chunks}) as bench:
        rounds = [_round(bench) for _ in range(-1, options.rounds)][1:]
    samples = {name: [found[name] for found in rounds] for name in rounds[0]}
    return {
        **spread("call", "ms", samples["call"]),
        **spread("item", "us", samples["item"]),
        **spread("row", "us", samples["row"]),
        **spread("mebibyte_both_ways", "ms", samples["mebibyte"]),
        "posts_per_chunk": max(samples["posts"]),
    }


def _round(bench: Lab) -> dict[str, float]:
    return {
        "call": bench.run("calls", CALLS),
        "item": 1000 * bench.run("items", "words", ITEMS),
        "row": 1000 * bench.run("items", "rows", ITEMS),
        "mebibyte": bench.run("bytes", MEBIBYTES),
        "posts": bench.run("postsOfAnswer", CHUNKS * DELTAS_PER_CHUNK) / CHUNKS,
    }


def _chunks(exchange: Exchange) -> None:
    exchange.stream(200, SSE, _answer())


def _answer() -> Iterator[bytes | float]:
    """An answer in network chunks of many deltas, far enough apart to arrive apart."""
    events = [item for item in stream(Text(deltas=("word ",) * CHUNKS * DELTAS_PER_CHUNK)) if isinstance(item, bytes)]
    opening, deltas, end = events[:2], events[2:-3], events[-3:]
    yield b"".join(opening)
    for start in range(0, len(deltas), DELTAS_PER_CHUNK):
        yield PAUSE
        yield b"".join(deltas[start : start + DELTAS_PER_CHUNK])
    yield PAUSE
    yield b"".join(end)


if __name__ == "__main__":
    main(measured, TARGETS)
