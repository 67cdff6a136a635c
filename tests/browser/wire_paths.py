"""What a page does with the four wires, whatever browser it is in: each path asserts by itself.

Every path makes its requests to all wires at the same time, and what comes of them must be the same.
"""

import json
import time
from collections.abc import Callable, Iterable
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


MOMENTS: dict[str, tuple[Script, float | None]] = {
    "before-headers": (lambda wire: [silent], 0.5),
    "in-the-body": (lambda wire: [sends(*wire.begin(TEXT), 30.0)], None),
    "in-a-wait": (lambda wire: [refuses(503, {"error": {"message": "busy"}}), sends(*wire.turn())], 0.5),
}
"""What the server does, and seconds after which the request is cancelled; None is at its first text."""

BY_THE_PAGE = """Promise.all(argument.map(async ([wire, settings, after]) => {
  const controller = new AbortController();
  const reason = new Error("enough");
  let at;
  const stop = () => {
    at ??= Date.now() / 1000;
    controller.abort(reason);
  };
  if (after !== null) setTimeout(stop, after * 1000);
  const texts = harness.langfx.stream("wires:texts", [wire, settings], { signal: controller.signal });
  try {
    for await (const _ of texts) stop();
    return { outcome: "an end" };
  } catch (error) {
    return { at, seconds: Date.now() / 1000 - at, outcome: error === reason ? "CancelledError" : String(error) };
  }
}))"""
WAYS = {"page": BY_THE_PAGE, "task": "Promise.all(argument.map((asked) => harness.langfx.call('wires:cancel', asked)))"}


def cancels(tab: Tab, providers: Services, way: str) -> None:
    """From the page or in Python, before headers, in the body or between attempts: a second later nothing goes on."""
    for moment, (script, _) in MOMENTS.items():
        play(providers, f"{way}-{moment}", script)
    cases = [(service, moment) for service in providers.values() for moment in MOMENTS]
    patience = {"max_attempts": 3, "retry_interval": 1.0}
    asked = [[s.name, {**s.settings(f"{way}-{moment}"), **patience}, MOMENTS[moment][1]] for s, moment in cases]
    ends = tab.attempt(WAYS[way], asked)
    cancelled = time.monotonic()
    assert [end["outcome"] for end in ends] == ["CancelledError"] * len(cases)
    assert max(end["seconds"] for end in ends) < 1
    for (service, moment), end in zip(cases, ends, strict=True):
        (exchange,) = service.posts(f"{way}-{moment}")
        assert went_away(exchange, end["at"]) == (moment != "in-a-wait")
    # As long as the next attempt would have waited.
    time.sleep(max(0.0, cancelled + 1 - time.monotonic()))
    assert all(len(service.posts(f"{way}-{moment}")) == 1 for service, moment in cases)


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
