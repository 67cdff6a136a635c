"""Starting: from any static host, and with a clear error, never a hang, where it cannot work."""

import time
from collections.abc import Callable

import pytest

from tests.browser.tab import PageError, Tab
from worker.bundle.server import Cors, Server

NewTab = Callable[..., Tab]
NewServer = Callable[..., Server]


def failed_boot(tab: Tab, *modules: str, **options: object) -> PageError:
    """The error of a `connect` that must fail, and soon; no worker is left."""
    started = time.monotonic()
    with pytest.raises(PageError) as caught:
        tab.connect(*modules, **options)
    assert time.monotonic() - started < 30
    tab.wait_for_workers(0)
    return caught.value


def test_progress_grows_to_its_total(new_tab: NewTab) -> None:
    """`onProgress` counts bytes that never go back and end at the total; its last phase is `ready`."""
    tab = new_tab()
    tab.connect("agents.py")
    progress = tab.attempt("harness.progress")
    loaded = [step["loaded"] for step in progress]
    assert loaded == sorted(loaded)
    assert len({step["total"] for step in progress}) == 1
    assert (progress[-1]["phase"], loaded[-1]) == ("ready", progress[-1]["total"])
    phases = list(dict.fromkeys(step["phase"] for step in progress))
    assert phases == [phase for phase in ("download", "start", "packages", "modules", "ready") if phase in phases]
    assert tab.console.complaints == []


def test_wrong_content_types_do_not_matter(new_server: NewServer, new_tab: NewTab) -> None:
    """A host that calls everything but scripts plain text can still serve the bundle."""
    server = new_server()
    server.faults.types = {"*.wasm": "text/plain", "*.pack": "text/plain", "*.json": "text/plain"}
    tab = new_tab(server.url)
    tab.connect("agents.py")
    assert tab.call("agents:echo", ["here"]) == "here"


@pytest.mark.parametrize("pattern", ["*.wasm", "*/python.pack", "*/langfx.pack"])
def test_missing_file(new_server: NewServer, new_tab: NewTab, pattern: str) -> None:
    """A file that is not there is named, with its status."""
    server = new_server()
    server.faults.missing = {pattern}
    error = failed_boot(new_tab(server.url), "agents.py")
    assert error.code == "download_failed"
    assert error.details["status"] == 404
    assert error.details["file"].endswith(pattern.rpartition("/")[2].lstrip("*"))


@pytest.mark.parametrize("body", [b"<!doctype html><title>index</title>", b""], ids=["index page", "empty"])
def test_altered_file(new_server: NewServer, new_tab: NewTab, body: bytes) -> None:
    """A file with other bytes than the manifest says is refused."""
    server = new_server()
    server.faults.bodies = {"*.wasm": body}
    assert failed_boot(new_tab(server.url), "agents.py").code == "integrity_failed"


def test_cut_file(new_server: NewServer, new_tab: NewTab) -> None:
    """A download that breaks off fails and may be tried again."""
    server = new_server()
    server.faults.cuts = {"*.wasm": 100_000}
    error = failed_boot(new_tab(server.url), "agents.py")
    assert (error.code, error.retryable) == ("download_failed", True)


def test_worker_script_missing(new_server: NewServer, new_tab: NewTab) -> None:
    """Without its script there is no worker, and the error has the script's URL."""
    server = new_server()
    server.faults.missing = {"*/worker/worker.js"}
    error = failed_boot(new_tab(server.url), "agents.py")
    assert error.code == "boot_failed"
    assert error.details["url"].endswith("/worker/worker.js")


def test_policy_without_webassembly(new_server: NewServer, new_tab: NewTab) -> None:
    """A content security policy that forbids WebAssembly is named at once."""
    server = new_server()
    server.faults.headers = {"*/worker/worker.js": {"Content-Security-Policy": "script-src 'self'"}}
    error = failed_boot(new_tab(server.url), "agents.py")
    assert error.code == "boot_blocked"
    assert "wasm-unsafe-eval" in error.message


def test_documented_policy_is_enough(new_server: NewServer, new_tab: NewTab) -> None:
    """The policy that the documentation asks for lets everything work, pydantic too; isolation headers do no harm."""
    server = new_server()
    server.faults.headers = {
        "*": {
            "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; "
            "worker-src 'self'; img-src data:; base-uri 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
        }
    }
    tab = new_tab(server.url)
    tab.connect("typed.py")
    assert tab.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}
    assert tab.console.complaints == []


def test_without_jspi(new_tab: NewTab) -> None:
    """Nothing of ours needs promise integration of WebAssembly."""
    tab = new_tab()
    tab.connect("agents.py", jspi=False)
    assert tab.call("agents:sleep", [0.01]) == "awake"


def test_bundle_on_another_origin(new_server: NewServer, new_tab: NewTab) -> None:
    """`baseUrl` may name a folder of another origin that allows this one."""
    other = new_server(cors=Cors())
    tab = new_tab()
    tab.connect("agents.py", baseUrl=other.url)
    assert tab.call("agents:echo", ["from afar"]) == "from afar"
    assert any(exchange.path.endswith(".wasm") for exchange in other.exchanges)


def test_boot_that_is_too_slow(new_server: NewServer, new_tab: NewTab) -> None:
    """`timeout` bounds the whole start."""
    server = new_server()
    server.faults.delays = {"*.wasm": 5}
    error = failed_boot(new_tab(server.url), "agents.py", timeout=600)
    assert (error.code, error.retryable) == ("boot_timeout", True)


def test_aborted_boot(new_server: NewServer, new_tab: NewTab) -> None:
    """A signal ends the start with its own reason."""
    server = new_server()
    server.faults.delays = {"*.wasm": 5}
    tab = new_tab(server.url)
    aborted = "harness.connect({ signal: AbortSignal.timeout(300) })"
    with pytest.raises(PageError, match="TimeoutError"):
        tab.attempt(aborted)
    tab.wait_for_workers(0)


def test_second_set_does_not_delay_ready(new_server: NewServer, new_tab: NewTab) -> None:
    """The wheels that typed work needs do not hold up the start."""
    server = new_server()
    server.faults.delays = {"*/schemas.pack": 60}
    tab = new_tab(server.url)
    tab.connect("agents.py")
    late = [exchange for exchange in server.exchanges if exchange.path.endswith("/schemas.pack")]
    assert [exchange.ended_at for exchange in late] == [None]


@pytest.mark.parametrize(
    ("source", "line"),
    [("\nimport no_such_package\n", 2), ("def half(:\n", 1)],
    ids=["import", "syntax"],
)
def test_module_that_cannot_be_imported(new_server: NewServer, new_tab: NewTab, source: str, line: int) -> None:
    """The error names the module, the file and the line."""
    server = new_server()
    server.faults.bodies = {"/shop/bad_shelf.py": source.encode()}
    error = failed_boot(new_tab(server.url), "agents.py", "/shop/bad_shelf.py")
    assert error.code == "module_failed"
    assert (error.details["module"], error.details["file"], error.details["line"]) == (
        "bad_shelf",
        "bad_shelf.py",
        line,
    )
    assert f"bad_shelf.py, line {line}" in error.message


def test_module_that_is_not_there(new_tab: NewTab) -> None:
    """A module's URL that answers 404 fails the start with that status."""
    error = failed_boot(new_tab(), "missing.py")
    assert (error.code, error.details["status"]) == ("module_failed", 404)


def test_store_that_this_version_lacks(new_tab: NewTab) -> None:
    """A store that does not exist is refused; nothing falls back to memory silently."""
    assert failed_boot(new_tab(), "agents.py", store={"name": "shop"}).code == "store_unavailable"
