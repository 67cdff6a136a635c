"""How a worker ends, and that nothing waits for one that is gone."""

from collections.abc import Callable

import pytest

from tests.browser.provider import Provider, says
from tests.browser.tab import PageError, Tab
from worker.bundle.server import Server

NewTab = Callable[..., Tab]

THREE_PENDING = """Promise.all([
  harness.langfx.call("agents:sleep", [60]),
  harness.langfx.call("agents:sleep", [60]),
  harness.langfx.agent("desk").session().prompt("endless").result,
].map((promise) => promise.then(() => "no error", (error) => error.code)))"""


@pytest.fixture
def busy_tab(new_tab: NewTab, provider: Provider, server: Server) -> Tab:
    """A connected tab in which two calls and a turn are pending; `harness.codes` will say how they ended."""
    provider.play("endless", says(*["and "] * 1000, pause=0.05))
    before = len(server.exchanges)
    tab = new_tab()
    tab.connect("agents.py")
    tab.attempt(f"void (harness.codes = {THREE_PENDING})")
    tab.call("agents:echo", ["running"])
    server.wait_for(lambda exchange: exchange.path == "/v1/messages" and exchange in server.exchanges[before:], 20)
    return tab


def test_fatal_python_error(busy_tab: Tab, provider: Provider) -> None:
    """When the interpreter dies, all that is pending ends with `worker_stopped` at once, and a new connect works."""
    with pytest.raises(PageError) as caught:
        busy_tab.call("agents:exhaust_stack")
    assert (caught.value.code, caught.value.retryable) == ("worker_stopped", True)
    assert busy_tab.attempt("harness.codes") == ["worker_stopped"] * 3
    assert busy_tab.attempt("harness.langfx.closed.then(({ reason }) => reason)") == "fatal"
    busy_tab.wait_for_workers(0)
    with pytest.raises(PageError) as later:
        busy_tab.call("agents:echo", [1])
    assert later.value.code == "worker_stopped"
    exchange = provider.exchanges("endless")[0]
    assert exchange.wait_ended(3)
    busy_tab.connect("agents.py")
    assert busy_tab.call("agents:echo", ["alive"]) == "alive"


def test_uncaught_error_in_the_worker(busy_tab: Tab) -> None:
    """An error that escapes the worker's own scripts is its end, too."""
    busy_tab.page.workers[0].evaluate("() => setTimeout(() => { throw new Error('spilled ink'); })")
    assert busy_tab.attempt("harness.codes") == ["worker_stopped"] * 3
    assert busy_tab.attempt("harness.langfx.closed.then(({ reason }) => reason)") == "lost"
    busy_tab.wait_for_workers(0)


def test_close(busy_tab: Tab, provider: Provider) -> None:
    """Closing ends all that is pending and comes later with `bridge_closed`; another worker of the page lives on."""
    busy_tab.attempt("void (harness.first = harness.langfx)")
    busy_tab.connect("agents.py")
    busy_tab.attempt("Promise.all([harness.first.close(), harness.first.close()]).then(() => 1)")
    assert busy_tab.attempt("harness.codes") == ["bridge_closed"] * 3
    assert busy_tab.attempt("harness.first.closed") == {"reason": "closed"}
    with pytest.raises(PageError) as caught:
        busy_tab.attempt("harness.first.call('agents:echo', [1])")
    assert caught.value.code == "bridge_closed"
    exchange = provider.exchanges("endless")[0]
    assert exchange.wait_ended(3)
    assert exchange.client_closed_at is not None
    busy_tab.wait_for_workers(1)
    assert busy_tab.call("agents:echo", ["second"]) == "second"
    assert busy_tab.console.complaints == []
