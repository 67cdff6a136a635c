"""What a page does with the four wires, whatever browser it is in: each path asserts by itself.

Every path makes its requests to all wires at the same time, and what comes of them must be the same.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.browser.provider import Answer, drops, sends
from tests.browser.tab import Tab
from tests.browser.wires import ARGUMENTS, TEXT, THOUGHT, WIRES, Service, Wire
from worker.bundle.exchange import Exchange
from worker.bundle.server import Server

MODULES = ("agents.py", "probes.py", "wires.py")
Services = dict[str, Service]
Outcomes = dict[str, dict[str, Any]]
Script = Callable[[Wire], list[Answer]]


def every_body(tab: Tab, providers: Services) -> None:
    """In one piece, event by event, byte by byte or in bursts: text, thought, call and usage arrive whole and equal."""
    long = TEXT * 4000
    bodies: dict[str, Script] = {
        "at-once": lambda wire: [sends(b"".join(wire.turn()))],
        "by-event": lambda wire: [sends(*slowly(wire.turn(), 0.01))],
        "by-byte": lambda wire: [sends(*slowly(slices(b"".join(wire.turn()), 1), 0.0005))],
        "in-bursts": lambda wire: [sends(*slices(b"".join(wire.turn(long)), 65536))],
    }
    for scene, script in bodies.items():
        play(providers, scene, script)
    before = tab.call("wires:reads")["all"]
    found = ask(tab, providers, *bodies)
    for scene, outcomes in found.items():
        assert shared(outcomes, *WHOLE) == whole(long if scene == "in-bursts" else TEXT), scene
    reads = tab.call("wires:reads")
    assert reads["pending"] == 0
    assert reads["all"] - before > 200
    for service in providers.values():
        assert all(exchange.client_closed_at is None for scene in bodies for exchange in service.posts(scene))


def early_ends(tab: Tab, providers: Services) -> None:
    """A lost connection and an end without the wire's mark each have their code; what was said is kept."""
    # A browser drops what it has not yet handed on when a connection breaks, so a busy worker gets a second to take it.
    play(providers, "lost", lambda wire: [drops(*wire.begin(TEXT), 1.0)])
    play(providers, "cut", lambda wire: [sends(*wire.begin(TEXT))])
    play(providers, "cut-inside", lambda wire: [sends(*wire.begin(TEXT), wire.begin(TEXT)[-1][:20])])
    play(providers, "empty", lambda wire: [sends()])
    found = ask(tab, providers, "lost", "cut", "cut-inside", "empty", max_attempts=1)
    fields = ("code", "cause", "retryable", "partial", "shown", "attempts")
    assert shared(found["lost"], *fields) == ["connection", "body_broken", True, TEXT, TEXT, 1]
    for scene in ("cut", "cut-inside"):
        assert shared(found[scene], *fields) == ["incomplete_generation", None, False, TEXT, TEXT, 1]
    assert shared(found["empty"], *fields) == ["incomplete_generation", None, True, None, "", 1]


def redirects(tab: Tab, providers: Services, elsewhere: Server) -> None:
    """Whatever kind they are: the request fails as unreachable, and the other origin never hears of the key."""
    kinds = {"moved-302": 302, "moved-307": 307, "moved-308": 308}
    for scene, status in kinds.items():
        play(providers, scene, lambda wire, status=status: [moves(status, f"{elsewhere.origin}{wire.path}")])
    for scene, outcomes in ask(tab, providers, *kinds).items():
        assert shared(outcomes, "code", "cause", "partial") == ["connection", "unreachable", None]
        assert all(len(service.posts(scene)) == 1 for service in providers.values())
    assert elsewhere.exchanges == []


def moves(status: int, url: str) -> Answer:
    """A redirect."""
    return lambda exchange: exchange.respond(status, {"location": url})


def refuses(status: int, document: Any, headers: dict[str, str] | None = None) -> Answer:
    """A refusal."""
    given = {"content-type": "application/json", **(headers or {})}
    return lambda exchange: exchange.respond(status, given, json.dumps(document))


MOMENTS: dict[str, Script] = {
    "before-headers": lambda wire: [silent],
    "in-the-body": lambda wire: [sends(*wire.begin(TEXT), 30.0)],
    "in-a-flood": lambda wire: [sends(*wire.begin(TEXT * 20_000), 30.0)],
    "in-a-wait": lambda wire: [refuses(503, {"error": {"message": "busy"}}), sends(*wire.turn())],
}
"""When requests are cancelled, and what makes the moment last; in a flood the reader is busy as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Scripts of the page that begin requests, count those that speak, and cancel all: when, and how each ends."""

    begin: str
    speaking: str
    cancel: str


WAYS = {
    "page": Way(
        begin="""void (harness.requests = argument.map((asked) => {
          const controller = new AbortController();
          const request = { controller, speaks: false };
          const texts = harness.langfx.stream("wires:texts", asked, { signal: controller.signal });
          request.end = (async () => {
            for await (const _ of texts) request.speaks = true;
            return "an end";
          })().catch((error) => (error === controller.signal.reason ? "CancelledError" : String(error)));
          return request;
        }))""",
        speaking="harness.requests.filter(({ speaks }) => speaks).length",
        cancel="""(async () => {
          const at = Date.now() / 1000;
          for (const { controller } of harness.requests) controller.abort(new Error("enough"));
          return { at, ends: await Promise.all(harness.requests.map(({ end }) => end)) };
        })()""",
    ),
    "task": Way(
        begin="harness.langfx.call('wires:begin', [argument])",
        speaking="harness.langfx.call('wires:speaking')",
        cancel="harness.langfx.call('wires:cancel')",
    ),
}


def cancels(tab: Tab, providers: Services, way: str) -> None:
    """By the page or in Python, at every moment: a second later nothing goes on."""
    for moment, script in MOMENTS.items():
        play(providers, f"{way}-{moment}", script)
    cases = [(service, moment) for service in providers.values() for moment in MOMENTS]
    patience = {"max_attempts": 3, "retry_interval": 30}
    settings = [{**service.settings(f"{way}-{moment}"), **patience} for service, moment in cases]
    busy = [60 * (moment == "in-a-flood") for _, moment in cases]
    tab.attempt(WAYS[way].begin, [[case[0].name, *rest] for case, *rest in zip(cases, settings, busy, strict=True)])
    assert settled(lambda: all(len(service.posts(f"{way}-{moment}")) == 1 for service, moment in cases), 10)
    assert all(service.posts(f"{way}-in-a-wait")[0].wait_ended(10) for service in providers.values())
    assert settled(lambda: tab.attempt(WAYS[way].speaking) == 2 * len(providers), 10)
    cancelled = tab.attempt(WAYS[way].cancel)
    assert cancelled["ends"] == ["CancelledError"] * len(cases)
    for service, moment in cases:
        (exchange,) = service.posts(f"{way}-{moment}")
        assert went_away(exchange, cancelled["at"]) == (moment != "in-a-wait"), (service.name, moment)


def settled(holds: Callable[[], bool], seconds: float = 3) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def play(providers: Services, scene: str, script: Script) -> None:
    """Give every provider its script for a scene."""
    for service in providers.values():
        service.play(scene, *script(service.wire))


def ask(
    tab: Tab, providers: Services, *scenes: str, wires: Iterable[str] = WIRES, **settings: Any
) -> dict[str, Outcomes]:
    """What came of one request to each wire in every scene, all at the same time: by scene, then by wire."""
    asked = [(scene, name) for scene in scenes for name in wires]
    each = [[name, {**providers[name].settings(scene), **settings}] for scene, name in asked]
    found: dict[str, Outcomes] = {scene: {} for scene in scenes}
    for (scene, name), outcome in zip(asked, tab.call("wires:ask_all", [each]), strict=True):
        found[scene][name] = outcome
    return found


def shared(outcomes: Outcomes, *names: str) -> Any:
    """These fields of outcomes, in which all wires must agree."""
    found = {wire: [outcome.get(name, "absent") for name in names] for wire, outcome in outcomes.items()}
    first = found["Anthropic"]
    assert found == dict.fromkeys(WIRES, first)
    return first


def went_away(exchange: Exchange, at: float) -> bool:
    """Whether the client of a request left, at the latest a second after a time."""
    assert exchange.wait_ended(5)
    return exchange.client_closed_at is not None and exchange.client_closed_at - at < 1


def silent(exchange: Exchange) -> None:
    """Give no answer."""
    exchange.wait(30)


def slices(data: bytes, size: int) -> list[bytes]:
    """Data in pieces of one size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def slowly(pieces: list[bytes], pause: float) -> list[bytes | float]:
    """Pieces with a pause after each."""
    return [item for piece in pieces for item in (piece, pause)]


def whole(text: str, requests: int = 1) -> list[Any]:
    """The answer of `Wire.turn`, on any wire."""
    call = ["get_order", json.loads(ARGUMENTS)]
    return [text, text, THOUGHT, [call], "tool_calls", [25, 40, 12, requests]]


WHOLE = ("text", "shown", "thoughts", "calls", "finish", "usage")
