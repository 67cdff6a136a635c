"""How long a server goes on sending after the page has cancelled.

Run by `build.py bench cancel`. An answer is cancelled before its headers are there, between two of its chunks, and
while whoever reads it is busy with something else and the server sends on.
"""

import argparse
import statistics
from collections.abc import Iterator

from tests.bench.lab import Lab, lab, main
from tests.browser.provider import SSE, Text, stream
from worker.bundle.exchange import Exchange

REPEATS, PATIENCE = 4, 30.0
STATES = ("before_headers", "between_chunks", "consumer_busy")
TARGETS = {
    **{f"{state}_ms": {"max": 300} for state in STATES},
    **{f"{state}_worst_ms": {"max": 1000} for state in STATES},
}


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Milliseconds from the page's cancel to the server's notice of it, after one that warms up."""
    figures = {}
    with lab("cancel", {"POST /*/v1/messages": _answer}) as bench:
        for state in STATES:
            samples = [_milliseconds(bench, state) for _ in range(-1, REPEATS * options.rounds)][1:]
            figures[f"{state}_ms"] = round(statistics.median(samples), 2)
            figures[f"{state}_worst_ms"] = round(max(samples), 2)
    return figures


def _milliseconds(bench: Lab, state: str) -> float:
    earlier = set(bench.server.exchanges)
    bench.run("start", state, state != "before_headers")
    exchange = bench.server.wait_for(lambda known: known.method == "POST" and known not in earlier)
    asked = float(bench.run("cancel"))
    if not exchange.wait_ended(PATIENCE) or exchange.client_closed_at is None:
        raise SystemExit(f"{state}: the server never saw the end")
    return 1000 * (exchange.client_closed_at - asked)


def _answer(exchange: Exchange) -> None:
    if "before_headers" in exchange.path:
        exchange.wait(PATIENCE)
    exchange.stream(200, SSE, _pieces(sending_on="consumer_busy" in exchange.path))


def _pieces(*, sending_on: bool) -> Iterator[bytes | float]:
    opening, block, delta, *_ = (item for item in stream(Text(deltas=("word ",))) if isinstance(item, bytes))
    yield opening + block + delta
    for _ in range(int(PATIENCE / 0.02) if sending_on else 0):
        yield 0.02
        yield delta
    yield PATIENCE


if __name__ == "__main__":
    main(measured, TARGETS)
