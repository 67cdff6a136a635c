"""Text deltas of the four wires from a loopback server to an iterator on the page, beside others in the same Chromium.

Run by `build.py bench stream`. A sample is one answer of 20 000 deltas in bursts, read in a fresh worker after another
one that warms up; every contender delivers the same texts, and those of one wire read the same bytes. At last, deltas
at the pace of a model carry the time when they were sent.
"""

import argparse
import itertools
import time
from collections.abc import Iterator

from tests.bench.lab import Lab, lab, main, rotated, spread
from tests.bench.wires import WIRES, Answer
from tests.browser.provider import SSE, Text, event, stream
from worker.bundle.exchange import Exchange
from worker.bundle.server import Route

DELTAS, BURST = 20_000, 50
PACED_DELTAS, PACE = 200, 0.01
WORDS = ("The ", "order", " was", " sent", " on", " Thursday", ",\n", "and", ' "soon"', " Zoë", " will", " it. ")
TEXTS = tuple(itertools.islice(itertools.cycle(WORDS), DELTAS))
EXPECTED = {"count": DELTAS, "characters": len("".join(TEXTS))}
CONTENDERS = {
    "langfx": ("langfx", "anthropic"),
    "js": ("js", "anthropic"),
    "batching_js": ("batching_js", "anthropic"),
    "ai_sdk": ("ai_sdk", "anthropic"),
    "langfx_turn": ("langfx_turn", "anthropic"),
    "langfx_openai": ("langfx", "openai"),
    "js_openai": ("js", "openai"),
    "langfx_chat": ("langfx", "chat"),
    "js_chat": ("js", "chat"),
    "langfx_gemini": ("langfx", "gemini"),
    "js_gemini": ("js", "gemini"),
}
"""Who reads what: the page's name of each, and the wire."""
FIGURES = {
    "langfx": "delta",
    "langfx_turn": "turn_delta",
    "langfx_openai": "openai_delta",
    "langfx_chat": "chat_delta",
    "langfx_gemini": "gemini_delta",
}
OTHER_WIRES = ("openai", "chat", "gemini")
TARGETS = {
    "ratio_to_js": {"max": 1.5},
    **{f"ratio_to_js_{wire}": {"max": 1.8} for wire in OTHER_WIRES},
    "speedup_over_ai_sdk": {"min": 8},
    "paced_latency_ms": {"max": 2},
}


def measured(options: argparse.Namespace) -> dict[str, float]:
    """Microseconds per delta of every contender, and what follows from them."""
    routes = {f"POST /bursts/v1/{path}": _bursts(answer) for path, answer in WIRES.values()}
    routes["POST /paced/v1/messages"] = _paced
    with lab("stream", {**routes, "GET /peer.js": _script(options.peer.read_bytes())}) as bench:
        samples = _rounds(bench, options.rounds)
        latencies = {name: bench.run("paced", name) for name in ("langfx", "js")}
    figures: dict[str, float] = {}
    for name in CONTENDERS:
        figures |= spread(f"{FIGURES.get(name, f'{name}_delta')}", "us", samples[name])
    figures["ratio_to_js"] = round(figures["delta_us"] / figures["js_delta_us"], 3)
    for wire in OTHER_WIRES:
        figures[f"ratio_to_js_{wire}"] = round(figures[f"{wire}_delta_us"] / figures[f"js_{wire}_delta_us"], 3)
    figures["ratio_to_batching_js"] = round(figures["delta_us"] / figures["batching_js_delta_us"], 3)
    figures["speedup_over_ai_sdk"] = round(figures["ai_sdk_delta_us"] / figures["delta_us"], 2)
    figures |= spread("paced_latency", "ms", latencies["langfx"]) | spread("js_paced_latency", "ms", latencies["js"])
    return figures


def _rounds(bench: Lab, rounds: int) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for number in range(rounds):
        for name in rotated(tuple(CONTENDERS), number):
            found = bench.run("burst", *CONTENDERS[name])
            milliseconds = found.pop("milliseconds")
            if found != EXPECTED:
                raise SystemExit(f"{name} delivered {found}, not {EXPECTED}")
            samples[name].append(1000 * milliseconds / DELTAS)
    return samples


def _bursts(answer: Answer) -> Route:
    events = list(answer(TEXTS))
    bursts = [b"".join(events[start : start + BURST]) for start in range(0, len(events), BURST)]
    return lambda exchange: exchange.stream(200, SSE, bursts)


def _paced(exchange: Exchange) -> None:
    exchange.stream(200, SSE, _timed())


def _timed() -> Iterator[bytes | float]:
    around = list(stream(Text(deltas=())))
    yield from around[:2]
    for _ in range(PACED_DELTAS):
        yield PACE
        delta = {"type": "text_delta", "text": f"{time.time() * 1000:.2f}"}
        yield event("content_block_delta", index=0, delta=delta)
    yield from around[2:]


def _script(content: bytes) -> Route:
    return lambda exchange: exchange.respond(200, {"Content-Type": "text/javascript"}, content)


if __name__ == "__main__":
    main(measured, TARGETS)
