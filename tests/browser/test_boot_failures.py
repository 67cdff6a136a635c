"""Starts that cannot succeed end at once, with a clear code and without a worker; others take their time."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Route

from tests.browser.provider import Provider, calls, says
from tests.browser.tab import PageError, Tab
from worker.bundle.exchange import Exchange
from worker.bundle.server import Server
from worker.bundle.static_files import Faults, answer_file

NewTab = Callable[..., Tab]
NewServer = Callable[..., Server]

INDEX_PAGE = b"<!doctype html><title>index</title><p>Everything that is not there is here.</p>"
AT_ONCE = 2.0
"""Seconds from the cause of a failure to its error."""

CONNECT = """harness.connect(argument).then(
  () => { throw new Error("it started"); },
  (error) => { throw Object.assign(error, { details: { ...error.details, at: Date.now() / 1000 } }); },
)"""


def failed_boot(tab: Tab, *modules: str, **options: Any) -> PageError:
    """The error of a start; `details["at"]` is when it came."""
    urls = [f"/tests/modules/{name}" for name in modules or ("agents.py",)]
    with pytest.raises(PageError) as caught:
        tab.attempt(CONNECT, {"modules": urls, **options})
    tab.wait_for_workers(0)
    return caught.value


def missing(pattern: str) -> Callable[[Faults], None]:
    return lambda faults: faults.missing.add(pattern)


def instead(pattern: str, body: bytes, kind: str = "text/html") -> Callable[[Faults], None]:
    def set_up(faults: Faults) -> None:
        faults.bodies[pattern] = body
        faults.types[pattern] = kind

    return set_up


def cut(pattern: str) -> Callable[[Faults], None]:
    return lambda faults: faults.cuts.__setitem__(pattern, 100_000)


def policy(text: str) -> Callable[[Faults], None]:
    return lambda faults: faults.headers.__setitem__("*/worker/worker.js", {"Content-Security-Policy": text})


BOOT_FILES = ["*.wasm", "*/python.pack", "*/langfx.pack"]
FAILURES: dict[str, tuple[Callable[[Faults], None], str, str, bool]] = {
    **{f"{file} is missing": (missing(file), file, "download_failed", False) for file in BOOT_FILES},
    **{f"{file} breaks off": (cut(file), file, "download_failed", True) for file in BOOT_FILES},
    **{f"{file} is a page": (instead(file, INDEX_PAGE), file, "integrity_failed", False) for file in BOOT_FILES},
    "a file is empty": (instead("*.wasm", b"", "application/wasm"), "*.wasm", "integrity_failed", False),
    "no worker script": (missing("*/worker/worker.js"), "*/worker/worker.js", "boot_failed", False),
    "a page as the worker script": (
        instead("*/worker/worker.js", INDEX_PAGE),
        "*/worker/worker.js",
        "boot_failed",
        False,
    ),
    "not JavaScript": (
        instead("*/worker/worker.js", b"this is {", "text/javascript"),
        "*/worker/worker.js",
        "boot_failed",
        False,
    ),
    "a policy without WebAssembly": (policy("script-src 'self'"), "*/worker/worker.js", "boot_blocked", False),
}


@pytest.mark.parametrize("name", FAILURES)
def test_platform_08_a_file_that_is_not_what_it_should_be(new_server: NewServer, new_tab: NewTab, name: str) -> None:
    """The file, its status or its type are named; a line that broke may be better the next time."""
    set_up, pattern, code, retryable = FAILURES[name]
    server = new_server()
    set_up(server.faults)
    error = failed_boot(new_tab(server.url))
    assert (error.code, error.retryable) == (code, retryable)
    ending = pattern.rpartition("/")[2].lstrip("*")
    causes = [exchange for exchange in server.exchanges if exchange.path.endswith(ending)]
    # The page may know of an answer before the server has noted its end.
    assert all(exchange.wait_ended() for exchange in causes)
    assert error.details["at"] - max(exchange.ended_at or 0 for exchange in causes) < AT_ONCE
    if code in {"download_failed", "integrity_failed"}:
        assert error.details["file"].endswith(ending)
    if "is missing" in name:
        assert error.details["status"] == 404
    if "is a page" in name:
        assert error.details["type"] == "text/html"
    if code == "boot_failed":
        assert error.details["url"].endswith("/worker/worker.js")
    if code == "boot_blocked":
        assert "wasm-unsafe-eval" in error.details["directive"]


def test_platform_08_offline(new_server: NewServer, new_tab: NewTab) -> None:
    """Without a network the file that was wanted is named; it is tried once more, and the start may be."""
    tab = new_tab(new_server().url)
    refused: list[float] = []

    def refuse(route: Route) -> None:
        refused.append(time.time())
        route.abort("internetdisconnected")

    tab.page.context.route("**/*.wasm", refuse)
    error = failed_boot(tab)
    assert (error.code, error.retryable, error.details["status"]) == ("download_failed", True, None)
    assert len(refused) == 2
    assert error.details["at"] - refused[-1] < AT_ONCE


def test_platform_08_page_and_worker_of_two_releases(new_tab: NewTab) -> None:
    """Neither works on with the other, whichever of them is older."""
    tab = new_tab()
    tab.attempt("""void (harness.alter = (text) => text.replace(/"version":"[^"]*"/, '"version":"0.0.1"'))""")
    assert failed_boot(tab).code == "bridge_version"
    tab.attempt("""void (harness.alter = (text) => text.replace('"protocol":1', '"protocol":99'))""")
    assert failed_boot(tab).code == "bridge_version"


@pytest.mark.parametrize(
    ("feature", "script"),
    [
        ("WebAssembly", "delete globalThis.WebAssembly"),
        ("module workers", "globalThis.Worker = class { constructor(url) {} terminate() {} }"),
        ("structuredClone", "delete globalThis.structuredClone"),
        ("DecompressionStream", "delete globalThis.DecompressionStream"),
    ],
)
def test_platform_08_a_browser_that_lacks_something(new_tab: NewTab, feature: str, script: str) -> None:
    """What is missing is named before anything is tried."""
    tab = new_tab()
    tab.page.evaluate(f"() => {{ {script} }}")
    error = failed_boot(tab)
    assert (error.code, error.details["missing"]) == ("unsupported_browser", [feature])


def test_a_start_that_is_too_slow(new_server: NewServer, new_tab: NewTab) -> None:
    """`timeout` bounds the whole start."""
    server = new_server()
    server.faults.delays = {"*.wasm": 5}
    error = failed_boot(new_tab(server.url), timeout=600)
    assert (error.code, error.retryable) == ("boot_timeout", True)


ABORTED = """(async () => {
  const controller = new AbortController();
  const reason = new Error("left the page");
  const abort = () => controller.abort(reason);
  if (argument.phase === "before") abort();
  if (argument.after) setTimeout(abort, argument.after);
  const onProgress = ({ phase }) => phase === argument.phase && abort();
  const modules = argument.modules;
  return harness.connect({ modules, signal: controller.signal, onProgress }).then(
    () => "it started",
    (error) => [error === reason, harness.progress.at(-1)?.phase ?? null],
  );
})()"""


@pytest.mark.parametrize("phase", ["before", "download", "start", "packages", "modules"])
def test_platform_09_aborted_in_each_phase(new_tab: NewTab, phase: str) -> None:
    """The rejection is the signal's reason, the worker is gone, and the page can start again."""
    tab = new_tab()
    modules = ["/tests/modules/agents.py"]
    assert tab.attempt(ABORTED, {"phase": phase, "modules": modules})[0] is True
    tab.wait_for_workers(0)
    tab.connect("agents.py")
    assert tab.call("agents:echo", ["again"]) == "again"
    assert tab.console.complaints == []


def test_platform_09_aborted_while_a_module_is_fetched_or_runs(new_server: NewServer, new_tab: NewTab) -> None:
    """Neither the page's own requests nor a module that never ends are waited for."""
    server = new_server()
    server.faults.bodies = {"/shop/slow.py": b"", "/shop/endless.py": b"while True: pass"}
    server.faults.delays = {"/shop/slow.py": 30}
    tab = new_tab(server.url)
    for module in ("slow", "endless"):
        assert tab.attempt(ABORTED, {"after": 2500, "modules": [f"/shop/{module}.py"]})[0] is True
        tab.wait_for_workers(0)


def test_platform_10_progress_on_a_slow_line(new_server: NewServer, new_tab: NewTab) -> None:
    """The bytes grow bit by bit, never go back, and end at the total."""
    server = new_server()
    server.faults.rates = {"*.wasm": 5_000_000, "*.pack": 1_500_000}
    tab = new_tab(server.url)
    tab.connect("agents.py")
    progress = tab.attempt("harness.progress")
    loaded = [step["loaded"] for step in progress]
    assert loaded == sorted(loaded)
    assert len(set(loaded)) > 10
    assert {step["total"] for step in progress} == {loaded[-1]}
    phases = list(dict.fromkeys(step["phase"] for step in progress))
    assert phases == ["download", "start", "packages", "modules", "ready"]


def test_platform_11_the_second_set_comes_late(new_server: NewServer, new_tab: NewTab, provider: Provider) -> None:
    """The start does not wait for it; typed work does, and works; everything else is answered meanwhile."""
    server, released = new_server(), threading.Event()

    def answer_late(exchange: Exchange) -> None:
        while not released.is_set():
            exchange.wait(0.05)
        answer_file(exchange, server.root, exchange.path, Faults())

    server.routes["GET */schemas.pack"] = answer_late
    provider.play("typed", calls("add", '{"a": 2, "b": 40}'), says("It is 42."))
    tab = new_tab(server.url)
    tab.connect("agents.py")
    turn = tab.start("typed")
    late = server.wait_for(lambda exchange: exchange.path.endswith("/schemas.pack"), 30)
    for _ in range(3):
        assert tab.call("agents:echo", ["meanwhile"]) == "meanwhile"
    assert (late.ended_at, tab.attempt("harness.said('accepted')")) == (None, [])
    released.set()
    outcome = tab.finish(turn)
    assert (outcome.result["stopReason"], outcome.of_type("tool_end")[0]["content"]) == ("end_turn", "42")
    assert tab.console.complaints == []
