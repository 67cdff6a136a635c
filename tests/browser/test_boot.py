"""Starting: from any static host, and with a clear error, never a hang, where it cannot work."""

import time
from collections.abc import Callable

import pytest

from tests.browser.tab import PageError, Tab
from worker.bundle.server import Server

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
