"""The key that a page gives goes to its provider, in a header, and nowhere else."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Request, Route

from tests.browser.provider import Text, stream
from tests.browser.tab import Tab

REAL_URL = "https://api.anthropic.com/v1/messages"
KEY = "sk-ant-api03-never-show-this-0123456789"
ALLOW = {"access-control-allow-origin": "*"}
SAFELISTED = {"accept", "accept-language", "content-language"}
CORS_ALLOWED = {
    "content-type",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
}
BROWSERS_OWN = {"origin", "referer", "user-agent", "content-length", "host", "connection", "accept-encoding"}


@pytest.fixture
def tab(shared_tab: Tab) -> Iterator[Tab]:
    """A tab whose page has a key; the real provider's address is never reached."""
    shared_tab.attempt(
        "void Object.assign(harness, { credential: { apiKey: argument }, turns: {}, sessions: {} })", KEY
    )
    yield shared_tab
    shared_tab.page.context.unroute_all()


def intercept(tab: Tab, answer: Callable[[Route], None]) -> list[Request]:
    """Answer requests to the real address with `answer`; the list of them grows."""
    asked: list[Request] = []

    def handle(route: Route) -> None:
        asked.append(route.request)
        answer(route)

    tab.page.context.route(REAL_URL, handle)
    return asked


def good(route: Route) -> None:
    """Greet."""
    body = b"".join(item for item in stream(Text(deltas=("Hello ", "there."))) if isinstance(item, bytes))
    route.fulfill(status=200, headers={"content-type": "text/event-stream", **ALLOW}, body=body)


def echoes_the_key(route: Route) -> None:
    """Refuse the key, and repeat it."""
    error = {"type": "authentication_error", "message": f"invalid x-api-key: {KEY}"}
    headers = {"content-type": "application/json", **ALLOW}
    route.fulfill(status=401, headers=headers, body=json.dumps({"type": "error", "error": error}))


def test_request_is_what_the_provider_expects(tab: Tab) -> None:
    """The real address gets the key, its version, the direct-access header, and a streaming request; nothing else."""
    asked = intercept(tab, good)
    assert tab.turn("hello", agent="keyed").text == "Hello there."
    (request,) = asked
    headers = request.all_headers()
    assert request.method == "POST"
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["anthropic-dangerous-direct-browser-access"] == "true"
    assert headers["content-type"].startswith("application/json")
    body = json.loads(request.post_data or "")
    assert (body["model"], body["stream"]) == ("claude-sonnet-5", True)
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    assert KEY not in json.dumps(body)


def test_a_preflight_would_pass(tab: Tab) -> None:
    """Every header we add is one that the provider's CORS answer allows; no cookie and no page address is sent."""
    asked = intercept(tab, good)
    tab.turn("hello", agent="keyed")
    sent = {name for name in asked[0].all_headers() if not name.startswith(("sec-", ":"))}
    assert sent - SAFELISTED - BROWSERS_OWN <= CORS_ALLOWED
    assert "cookie" not in sent
    assert "referer" not in sent


def test_key_is_in_no_record(tab: Tab) -> None:
    """Neither events, results, messages, diagnostics, logs nor the console have the key, even if a server echoes it."""
    intercept(tab, echoes_the_key)
    outcome = tab.turn("hello", agent="keyed")
    assert outcome.result["error"]["code"] == "authentication"
    assert "x-api-key" in outcome.result["error"]["message"]
    everything = [
        outcome.result,
        outcome.events,
        tab.attempt("new Response(Object.values(harness.turns)[0].turn.readable).text()"),
        tab.attempt("Object.values(harness.sessions)[0].messages()"),
        tab.attempt("[harness.logs, harness.progress, harness.diagnostics]"),
        tab.console.lines,
        tab.call("agents:describe_keyed"),
    ]
    assert KEY not in json.dumps(everything)


def test_no_key(new_tab: Callable[..., Tab]) -> None:
    """A page that has no key gets `credentials_failed` and no request is made; with a key the next turn works."""
    tab = new_tab()
    tab.connect("agents.py")
    asked = intercept(tab, good)
    assert tab.turn("hello", agent="keyed").result["error"]["code"] == "credentials_failed"
    assert asked == []
    tab.attempt("void (harness.credential = argument)", KEY)
    assert tab.turn("hello", agent="keyed").text == "Hello there."


def test_unreachable_provider(tab: Tab) -> None:
    """A request that fails without an answer is `connection`, and the message names the origin and CORS."""
    intercept(tab, lambda route: route.abort())
    error = tab.turn("hello", agent="keyed").result["error"]
    assert (error["code"], error["retryable"]) == ("connection", True)
    assert "api.anthropic.com" in error["message"]
    assert "CORS" in error["message"]
