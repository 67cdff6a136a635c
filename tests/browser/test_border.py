"""Where JavaScript meets Python: proxies, tasks and timers do not add up, and the console stays empty."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.provider import Answer, Provider, calls, fails, says, sends, stream
from tests.browser.provider import Text as TextBlock
from tests.browser.tab import Tab
from worker.bundle.server import Server


@pytest.fixture(scope="module")
def shared_tab(browser: Browser, server: Server) -> Iterator[Tab]:
    """A tab whose worker can be looked into."""
    with browser.new_context(service_workers="block") as context:
        tab = Tab(context.new_page(), server.url).open()
        tab.connect("agents.py", "probes.py")
        tab.call("probes:count_everything")
        yield tab


READ = "await Array.fromAsync(harness.langfx.stream('probes:say', [prompt]));"
RUN = "await harness.langfx.agent('patient').session().prompt(prompt).result;"
UNITS: dict[str, tuple[list[Answer], str]] = {
    "calls": ([], "for (let n = 0; n < 20; n++) await harness.langfx.call('agents:echo', [[n, new Uint8Array(9)]]);"),
    "calls that fail": (
        [],
        "for (let n = 0; n < 20; n++) await harness.langfx.call('agents:fail').catch(() => {});",
    ),
    "a stream of a thousand deltas": (
        [sends(b"".join(i for i in stream(TextBlock(deltas=("word ",) * 1000)) if isinstance(i, bytes)))],
        READ,
    ),
    "a run of ten page tools": ([*[calls("paint", '{"colour": "x"}')] * 10, says("Done.")], RUN),
    "a run of ten Python tools": ([*[calls("add", '{"a": 1, "b": 2}')] * 10, says("Done.")], RUN),
    "subscriptions": (
        [],
        "for (let n = 0; n < 20; n++) { const lines = harness.langfx.agent('desk').session('kept').stream();"
        " lines.next().catch(() => {}); await lines.return(); } await harness.langfx.call('agents:echo', [1]);",
    ),
    "runs that are cancelled": (
        [sends(*(item for item in stream(TextBlock(deltas=("so ", "far "))) if item != 0), 20.0)],
        "for (let n = 0; n < 5; n++) { const session = harness.langfx.agent('desk').session();"
        " const turn = session.prompt(prompt); for await (const _ of turn) break;"
        " await session.cancel(); await turn.result; }",
    ),
    "requests that are retried": ([fails(503, "api_error", "busy", {"retry-after": "0"}), says("Now.")], RUN),
    "requests that fail": ([fails(400, "invalid_request_error", "no")], f"for (let n = 0; n < 5; n++) {{ {RUN} }}"),
}


def proxies_after(tab: Tab, provider: Provider, name: str, repeats: int) -> int:
    """How many proxies live after a unit of work was done so often."""
    answers, work = UNITS[name]
    for _ in range(repeats):
        provider.play(name, *answers)
        tab.attempt(f"(async (prompt) => {{ {work} }})(argument)", name)
    return settled_proxies(tab)


def settled_proxies(tab: Tab) -> int:
    """How many proxies live once what was cancelled is gone: timers take a second."""
    least = tab.call("probes:live_proxies")
    for _ in range(8):
        tab.call("agents:sleep", [0.3])
        least = min(least, tab.call("probes:live_proxies"))
    return int(least)


# Each takes ten seconds, most of it waiting for timers to go.
SAMPLE = ("a stream of a thousand deltas", "runs that are cancelled")


NAMES = [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.long) for name in UNITS]


@pytest.mark.parametrize("name", NAMES)
def test_platform_38_bug_086_live_proxies_do_not_grow_with_use(tab: Tab, provider: Provider, name: str) -> None:
    """However often a unit of work is repeated, as many Python objects are held by JavaScript; and no task is left."""
    tab.call("probes:live_proxies")
    proxies_after(tab, provider, name, 1)
    assert proxies_after(tab, provider, name, 2) == proxies_after(tab, provider, name, 8)
    assert tab.call("probes:live_tasks") == []


@pytest.mark.parametrize("limit", ["2147482.647", "2147483.648", "2147488.648", "2592000", "1e12", "inf", "None"])
@pytest.mark.parametrize("kind", ["run", "timeout", "connect_timeout", "idle_timeout"])
def test_platform_37_bug_101_limits_that_are_practically_infinite(
    tab: Tab, provider: Provider, kind: str, limit: str
) -> None:
    """Do not fire at once, and no timer is longer than a browser can count."""
    provider.play("a limit", lambda exchange: (exchange.wait(0.3), says("fine")(exchange))[1])
    tab.call("probes:reset")
    assert tab.call("probes:run_limited", [kind, limit]) == "fine"
    assert tab.call("probes:counts")["longest"] < 2**31 / 1000


@pytest.mark.parametrize("kind", ["run", "timeout", "connect_timeout", "idle_timeout"])
def test_platform_37_bug_101_limits_that_leave_no_time(tab: Tab, provider: Provider, kind: str) -> None:
    """End the run before any request; what is no number is refused when the limit is set."""
    provider.play("a limit", says("fine"))
    for limit in ("0", "-1"):
        code = tab.call("probes:run_limited", [kind, limit])
        assert code in {"deadline_exceeded", "timeout", "budget_exceeded", "refused: invalid_argument"}, limit
    assert provider.exchanges("a limit") == []
    assert tab.call("probes:run_limited", [kind, "nan"]).startswith("refused: invalid_")


def test_platform_37_two_thousand_timeouts(tab: Tab) -> None:
    """Limits that are never reached are gone a second later, of a user's code too."""
    before = settled_proxies(tab)
    assert tab.call("probes:many_timeouts", [2000]) == 2000
    assert settled_proxies(tab) == before


def test_platform_37_negative_delays(tab: Tab) -> None:
    """Libraries may ask for what is already over."""
    assert tab.call("probes:negative_delays") == "went on"
