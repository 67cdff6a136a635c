"""The four wires from a real page: every body, every failure, every cancel, and nothing left behind."""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from tests.browser import wire_paths as paths
from tests.browser.provider import Answer, drops, sends
from tests.browser.tab import Tab
from tests.browser.wire_paths import (
    MODULES,
    WHOLE,
    Script,
    Services,
    ask,
    play,
    refuses,
    settled,
    shared,
    silent,
    went_away,
    whole,
)
from tests.browser.wires import DIRECT, TEXT, WAIT, WIRES, Service, Wire, services
from worker.bundle.exchange import Exchange
from worker.bundle.server import Cors, Server

__all__ = ["MODULES"]

KEY = "test-key-of-a-page-0123456789"
NewServer = Callable[..., Server]


@pytest.fixture(scope="module")
def providers() -> Iterator[Services]:
    """The four providers."""
    with services() as running:
        yield running


@pytest.fixture
def tab(shared_tab: Tab) -> Iterator[Tab]:
    """A tab in which nothing goes on when the test is over, and which has complained of nothing."""
    shared_tab.console.complaints.clear()
    yield shared_tab
    assert settled(lambda: shared_tab.call("probes:live_tasks") == [])
    assert shared_tab.console.complaints == []


# Answers


def test_every_body_gives_the_same_answer(tab: Tab, providers: Services) -> None:
    """Text, thought, call and usage arrive whole and equal, however the network cuts them."""
    paths.every_body(tab, providers)


def test_models_are_listed(tab: Tab, providers: Services) -> None:
    """A list needs no more of a provider's CORS than an answer does."""
    for name, service in providers.items():
        assert tab.call("wires:list_models", [name, service.settings("listed")]) == ["scripted"]


# Failures


def test_providers_13_and_57_a_body_that_ends_early(tab: Tab, providers: Services) -> None:
    """A lost connection and an end without the wire's mark each have their code; what was said is kept."""
    paths.early_ends(tab, providers)


def test_providers_07_a_server_that_says_nothing(tab: Tab, providers: Services) -> None:
    """Without headers, and after some text: the limit ends the wait, the connection goes, and what was said is kept."""
    play(providers, "no-headers", lambda wire: [silent])
    play(providers, "stalls", lambda wire: [sends(*wire.begin(TEXT), 30.0)])
    found = ask(tab, providers, "no-headers", "stalls", connect_timeout=0.8, idle_timeout=0.8)
    at = time.time()
    fields = ("code", "cause", "retryable", "partial", "attempts")
    assert shared(found["no-headers"], *fields) == ["timeout", "connect_timeout", True, None, 1]
    assert shared(found["stalls"], *fields) == ["timeout", "idle_timeout", True, TEXT, 1]
    for service in providers.values():
        assert [went_away(*service.posts(scene), at) for scene in found] == [True, True]


def test_providers_55_an_error_inside_a_200(tab: Tab, providers: Services) -> None:
    """Before any text the request is made again; after some it is not, and the text is kept."""
    play(providers, "busy", lambda wire: [sends(wire.busy), sends(*wire.turn())])
    play(providers, "busy-later", lambda wire: [sends(*wire.begin(TEXT), wire.busy), sends(*wire.turn())])
    found = ask(tab, providers, "busy", "busy-later", max_attempts=3, retry_interval=0.05)
    assert shared(found["busy"], *WHOLE) == whole(TEXT, requests=2)
    assert shared(found["busy-later"], "code", "partial", "attempts") == ["temporary", TEXT, 1]


def test_providers_14_waits_that_a_page_may_know_of(tab: Tab, providers: Services) -> None:
    """A server's wait counts where its CORS shows it, or where it is in the body; else the wait is our own."""

    def script(wire: Wire) -> list[Answer]:
        refuse = refuses(429, wire.limited, {"retry-after": f"{WAIT:g}"})
        return [refuse, sends(*wire.turn())]

    play(providers, "limited", script)
    play(providers, "limited-for-good", script)
    found = ask(tab, providers, "limited", max_attempts=2, retry_interval=0.2)["limited"]
    assert shared(found, *WHOLE) == whole(TEXT, requests=2)
    found = ask(tab, providers, "limited-for-good")["limited-for-good"]
    assert shared(found, "code", "status", "attempts") == ["rate_limit", 429, 1]
    for name, service in providers.items():
        first, second = service.posts("limited")
        assert found[name]["retry_after"] == service.wire.waits
        assert second.started_at - first.started_at >= (service.wire.waits or 0.15)


def test_an_overloaded_provider_is_asked_again(tab: Tab, providers: Services) -> None:
    """Status 529, until it has time."""
    overloaded = refuses(529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}, {"retry-after": "0"})
    play(providers, "overloaded", lambda wire: [overloaded, overloaded, sends(*wire.turn())])
    found = ask(tab, providers, "overloaded", max_attempts=3, retry_interval=0.05)["overloaded"]
    assert shared(found, *WHOLE) == whole(TEXT, requests=3)


# Cancelling


@pytest.mark.parametrize("way", paths.WAYS)
def test_providers_05_a_cancel_reaches_the_server(tab: Tab, providers: Services, way: str) -> None:
    """From the page or in Python, before headers, in the body or between attempts."""
    paths.cancels(tab, providers, way)


# What may cross an origin


def test_redirects_are_not_followed(tab: Tab, providers: Services, new_server: NewServer) -> None:
    """A key stays where it was sent."""
    paths.redirects(tab, providers, new_server(cors=WIRES["Anthropic"].cors))


def test_request_ids_are_known_where_a_page_may_read_them(tab: Tab, providers: Services) -> None:
    """Of the headers of an answer a page sees what the provider's CORS shows."""
    headers = {"content-type": "text/event-stream", "request-id": "req_1", "x-request-id": "req_1"}
    play(providers, "numbered", lambda wire: [lambda exchange: exchange.stream(200, headers, wire.turn())])
    found = ask(tab, providers, "numbered")["numbered"]
    known = {name for name, outcome in found.items() if outcome["request_id"] == "req_1"}
    assert known == {"Anthropic", "OpenAI", "OpenAIChat"}


def test_providers_20_a_refusal_without_leave_to_read_it(tab: Tab, providers: Services) -> None:
    """Some servers show their refusals to no page: they look like a server that is not there, and are asked twice."""
    play(providers, "hidden", lambda wire: [hides])
    found = ask(tab, providers, "hidden", max_attempts=5, retry_interval=0.01)["hidden"]
    assert shared(found, "code", "cause", "status", "attempts") == ["connection", "unreachable", None, 2]
    assert all(len(service.posts("hidden")) == 2 for service in providers.values())


def hides(exchange: Exchange) -> None:
    """A refusal that no page may read."""
    exchange.added_headers.clear()
    exchange.respond(401)


def test_anthropic_wants_to_be_told_that_it_is_a_page(tab: Tab, providers: Services) -> None:
    """Without that header its refusal is readable, and says what is missing."""
    play(providers, "untold", lambda wire: [sends(*wire.turn())])
    found = ask(tab, providers, "untold", wires=("Anthropic",), browser_access=False)["untold"]["Anthropic"]
    assert (found["code"], found["status"], DIRECT in found["message"]) == ("authentication", 401, True)


def test_providers_62_only_headers_that_the_provider_takes(tab: Tab, providers: Services) -> None:
    """A request asks leave for what it needs and no more; one header too many and it is never made."""
    play(providers, "plain", lambda wire: [sends(*wire.turn())])
    play(providers, "odd", lambda wire: [sends(*wire.turn())])
    play(providers, "keyless", lambda wire: [sends(*wire.turn())])
    ask(tab, providers, "plain")
    ask(tab, providers, "keyless", api_key=None)
    found = ask(tab, providers, "odd", headers={"x-title": "ours"}, max_attempts=1)["odd"]
    assert shared(found, "code", "cause", "partial") == ["connection", "unreachable", None]
    for name, service in providers.items():
        assert "CORS" in found[name]["message"]
        assert service.posts("odd") == []
        asked = {scene: asked_for(service, scene) for scene in ("plain", "keyless", "odd")}
        assert asked["plain"] == HEADERS[name]
        assert asked["keyless"] == HEADERS[name] - {"authorization", "x-api-key", "x-goog-api-key"}
        assert asked["odd"] == HEADERS[name] | {"x-title"}


def test_a_collector_gets_traces_where_its_cors_lets_it(tab: Tab, new_server: NewServer) -> None:
    """A run of an agent is there as spans; one header too many for the collector, and only the spans are lost."""
    routes = {"POST /v1/traces": lambda exchange: exchange.respond(200, {"content-type": "application/json"}, "{}")}
    willing = new_server(routes=routes, cors=Cors(headers=("content-type", "x-tenant")))
    strict = new_server(routes=routes, cors=Cors(headers=("content-type",)))
    assert tab.call("wires:traced", [f"{willing.url}v1/traces"]) == [2, 0, None]
    (post,) = [exchange for exchange in willing.exchanges if exchange.method == "POST"]
    (resource,) = json.loads(post.body)["resourceSpans"]
    names = [span["name"] for span in resource["scopeSpans"][0]["spans"]]
    assert (names, post.headers["x-tenant"]) == (["chat StaticResponse", "invoke_agent desk"], "shop")
    assert tab.call("wires:traced", [f"{strict.url}v1/traces"]) == [0, 2, "unreachable"]
    assert [exchange.method for exchange in strict.exchanges] == ["OPTIONS"]


HEADERS = {
    "Anthropic": {"anthropic-version", "content-type", "x-api-key", DIRECT},
    "OpenAI": {"authorization", "content-type"},
    "OpenAIChat": {"authorization", "content-type"},
    "Gemini": {"content-type", "x-goog-api-key"},
}


def asked_for(service: Service, scene: str) -> set[str]:
    """The headers that a preflight asked leave for; no preflight holds the key."""
    (preflight,) = service.preflights(scene)
    assert KEY not in str(preflight.headers) + preflight.path + preflight.query
    return set(preflight.headers["access-control-request-headers"].split(","))


# Nothing is left

USES: dict[str, tuple[Script, str]] = {
    "whole": (lambda wire: [sends(*wire.turn())], "harness.langfx.call('wires:ask', [wire, settings])"),
    "broken": (lambda wire: [drops(*wire.begin(TEXT), 0.02)], "harness.langfx.call('wires:ask', [wire, settings])"),
    "refused": (lambda wire: [refuses(429, wire.limited)], "harness.langfx.call('wires:ask', [wire, settings])"),
    "left": (
        lambda wire: [sends(*wire.begin(TEXT), 30.0)],
        "(async () => { for await (const _ of harness.langfx.stream('wires:texts', [wire, settings])) break; })()",
    ),
    "cancelled": (lambda wire: [silent], "harness.langfx.call('wires:give_up', [wire, settings])"),
}
"""What the server does, and what the page does with it."""


# Twenty requests are a round.
@pytest.mark.parametrize(("few", "many"), [(1, 3), pytest.param(5, 25, marks=pytest.mark.long)])
def test_nothing_is_held_after_requests(tab: Tab, providers: Services, few: int, many: int) -> None:
    """However many there were, and however they ended: no read waits, no connection is at work, no object is held."""
    for scene, (script, _) in USES.items():
        play(providers, scene, script)
    tab.call("probes:live_proxies")
    use(tab, providers, few)
    first = settled_holdings(tab, providers)
    use(tab, providers, many - few)
    assert settled(lambda: holdings(tab, providers) == first, 10), (first, holdings(tab, providers))
    assert (first["reads"], first["exchanges"]) == (0, 0)
    assert all(len(service.posts(scene)) == many for service in providers.values() for scene in ("whole", "broken"))
    # What a browser keeps open for later requests to one place.
    assert all(service.server.open_connections <= 6 for service in providers.values())


def use(tab: Tab, providers: Services, rounds: int) -> None:
    """Make each use of each wire so often, all of a round at the same time."""
    work = ", ".join(f"...argument.{scene}.map(([wire, settings]) => {code})" for scene, (_, code) in USES.items())
    asked = {scene: [[name, service.settings(scene)] for name, service in providers.items()] for scene in USES}
    for _ in range(rounds):
        tab.attempt(f"Promise.all([{work}]).then(() => null)", asked)


def holdings(tab: Tab, providers: Services) -> dict[str, int]:
    """What is held for requests now: here, in Python and in JavaScript."""
    exchanges = [exchange for service in providers.values() for exchange in list(service.server.exchanges)]
    return {**tab.call("wires:held"), "exchanges": sum(exchange.ended_at is None for exchange in exchanges)}


def settled_holdings(tab: Tab, providers: Services) -> dict[str, int]:
    """The same once what was cancelled is gone: timers take a second."""
    seen = [holdings(tab, providers)]
    for _ in range(8):
        tab.call("agents:sleep", [0.3])
        seen.append(holdings(tab, providers))
    return {name: min(held[name] for held in seen) for name in seen[0]}
