"""Starting and ending, in every engine: wherever the bundle is served, and with a code where it cannot work."""

from collections.abc import Callable

import pytest

from tests.browser.tab import PageError, Tab
from tests.engines.engine import Page
from worker.bundle.exchange import Exchange
from worker.bundle.server import Cors, Server

NewTab = Callable[..., Tab]
NewPage = Callable[[], Page]
NewServer = Callable[..., Server]

POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; "
    "worker-src 'self'; img-src data:; base-uri 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


def failed_boot(tab: Tab, **options: object) -> PageError:
    """The error of a `connect` that must fail."""
    with pytest.raises(PageError) as caught:
        tab.connect("agents.py", timeout=60_000, **options)
    return caught.value


def test_documented_policy_is_enough(new_server: NewServer, new_tab: NewTab) -> None:
    """Under the policy of the documentation and isolation headers all works, pydantic too, and nothing is reported."""
    server = new_server()
    server.faults.headers = {"*": POLICY}
    page = server.routes["GET /tests/*"]

    def with_policy(exchange: Exchange) -> None:
        exchange.added_headers |= POLICY
        page(exchange)

    server.routes["GET /tests/*"] = with_policy
    tab = new_tab(server.url)
    tab.connect("typed.py")
    assert tab.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}
    assert tab.attempt("crossOriginIsolated") is True
    assert tab.page.complaints == []


def test_policy_without_webassembly(new_server: NewServer, new_tab: NewTab) -> None:
    """A policy that forbids WebAssembly is named, instead of a hang."""
    server = new_server()
    server.faults.headers = {"*/worker/worker.js": {"Content-Security-Policy": "script-src 'self'"}}
    error = failed_boot(new_tab(server.url))
    assert error.code == "boot_blocked"
    assert "wasm-unsafe-eval" in error.message


def test_below_a_path_of_a_plain_server(plain_host: str, new_page: NewPage) -> None:
    """Any server of static files will do, at any path."""
    page = new_page()
    page.goto(f"{plain_host}manifest.json")
    connected = f"""async () => {{
      const {{ connect }} = await import("{plain_host}langfx-web.js");
      const langfx = await connect({{ store: "memory" }});
      const {{ version }} = langfx;
      await langfx.close();
      return version;
    }}"""
    assert page.evaluate(connected) == "0.1.0"


def test_bundle_on_another_origin(new_server: NewServer, new_tab: NewTab) -> None:
    """The worker starts from a blob that imports the script of the other origin."""
    other = new_server(cors=Cors())
    tab = new_tab()
    tab.connect("agents.py", baseUrl=other.url)
    assert tab.call("agents:echo", ["from afar"]) == "from afar"
    assert any(exchange.path.endswith(".wasm") for exchange in other.exchanges)


@pytest.mark.parametrize("pattern", ["*.wasm", "*/langfx.pack"])
def test_missing_file(new_server: NewServer, new_tab: NewTab, pattern: str) -> None:
    """A file that is not there is named, with its status."""
    server = new_server()
    server.faults.missing = {pattern}
    error = failed_boot(new_tab(server.url))
    assert (error.code, error.details["status"]) == ("download_failed", 404)


def test_altered_file(new_server: NewServer, new_tab: NewTab) -> None:
    """A page in the place of a file is refused."""
    server = new_server()
    server.faults.bodies = {"*.wasm": b"<!doctype html><title>index</title>"}
    assert failed_boot(new_tab(server.url)).code == "integrity_failed"


def test_worker_script_missing(new_server: NewServer, new_tab: NewTab) -> None:
    """An engine that says nothing of the reason still says that there is no worker."""
    server = new_server()
    server.faults.missing = {"*/worker/worker.js"}
    error = failed_boot(new_tab(server.url))
    assert error.code == "boot_failed"
    assert error.details["url"].endswith("/worker/worker.js")


def test_fatal_error_then_a_new_start(new_tab: NewTab) -> None:
    """When the interpreter dies all that is pending ends with `worker_stopped`, and the page can start another one."""
    tab = new_tab()
    tab.connect("agents.py")
    sleeping = "harness.langfx.call('agents:sleep', [60]).catch((error) => error.code)"
    tab.attempt(f"void (harness.codes = Promise.all([{sleeping}, {sleeping}]))")
    with pytest.raises(PageError) as caught:
        tab.call("agents:exhaust_stack")
    assert caught.value.code == "worker_stopped"
    assert tab.attempt("harness.codes") == ["worker_stopped"] * 2
    assert tab.attempt("harness.langfx.closed.then(({ reason }) => reason)") == "fatal"
    tab.connect("agents.py")
    assert tab.call("agents:echo", ["alive"]) == "alive"


def test_closing(new_tab: NewTab) -> None:
    """`close` ends what is pending and all that comes later with `bridge_closed`."""
    tab = new_tab()
    tab.connect("agents.py")
    tab.attempt("void (harness.code = harness.langfx.call('agents:sleep', [60]).catch((error) => error.code))")
    tab.attempt("harness.langfx.close()")
    assert tab.attempt("harness.code") == "bridge_closed"
    with pytest.raises(PageError) as caught:
        tab.call("agents:echo", [1])
    assert caught.value.code == "bridge_closed"
    assert tab.page.complaints == []


def test_closing_while_python_is_busy(new_tab: NewTab) -> None:
    """A worker that is ended in the middle of its work says nothing more, whatever the engine makes of that."""
    tab = new_tab()
    tab.connect("agents.py")
    tab.attempt("void (harness.code = harness.langfx.call('agents:burn').catch((error) => error.code))")
    tab.attempt("harness.langfx.close()")
    assert tab.attempt("harness.code") == "bridge_closed"
    assert tab.page.complaints == []
