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


EVERY_METHOD = [
    "await langfx.call('agents:echo', [1])",
    "await langfx.stream('agents:count', [3]).next()",
    "await harness.open.next()",
    "await langfx.stream('agents:count', [3]).readable.getReader().read()",
    "for await (const _ of harness.turn);",
    "await harness.turn.readable.getReader().read()",
    "await harness.turn.result",
    "await langfx.agent('desk').session().prompt('endless').accepted",
    "await langfx.agent('desk').session().prompt('endless').result",
    "for await (const _ of langfx.agent('desk').session().prompt('endless'));",
    "await langfx.agent('desk').session('s').cancel()",
    "await langfx.agent('desk').session('s').messages()",
    "await langfx.agent('desk').session('s').stream().next()",
]
WHEN_ENDED = """(async () => {
  const started = performance.now();
  await Promise.all([harness.codes, harness.langfx.closed]);
  return performance.now() - started;
})()"""


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


def test_platform_27_fatal_python_error(busy_tab: Tab, provider: Provider) -> None:
    """When the interpreter dies, all that is pending ends with `worker_stopped` at once, and a new connect works."""
    busy_tab.attempt(f"void (harness.ended = {WHEN_ENDED})")
    with pytest.raises(PageError) as caught:
        busy_tab.call("agents:exhaust_stack")
    assert busy_tab.attempt("harness.ended") < 1000
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


def test_platform_28_close(busy_tab: Tab, provider: Provider) -> None:
    """Closing ends all that is pending and comes later with `bridge_closed`; another worker of the page lives on."""
    busy_tab.attempt("void (harness.first = harness.langfx)")
    reading = "harness.open = harness.langfx.stream('agents:count', [1000])"
    assert busy_tab.attempt(f"({reading}).next()") == {"done": False, "value": 0}
    busy_tab.attempt("void (harness.turn = harness.langfx.agent('desk').session().prompt('endless'))")
    busy_tab.connect("agents.py")
    busy_tab.attempt("Promise.all([harness.first.close(), harness.first.close()]).then(() => 1)")
    assert busy_tab.attempt("harness.codes") == ["bridge_closed"] * 3
    assert busy_tab.attempt("harness.first.closed") == {"reason": "closed"}
    for work in EVERY_METHOD:
        with pytest.raises(PageError) as caught:
            busy_tab.attempt(f"(async (langfx) => {{ {work} }})(harness.first)")
        assert caught.value.code == "bridge_closed", work
    exchange = provider.exchanges("endless")[0]
    assert exchange.wait_ended(3)
    assert exchange.client_closed_at is not None
    busy_tab.wait_for_workers(1)
    assert busy_tab.call("agents:echo", ["second"]) == "second"
    assert busy_tab.console.complaints == []
