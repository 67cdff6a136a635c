"""Where the bundle may lie: any path of any host, beside the page or on another origin."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import HERE
from tests.browser.tab import Console, Tab
from worker.bundle.server import Cors, Server

NewServer = Callable[..., Server]
NewTab = Callable[..., Tab]

PAGE = """\
<!doctype html>
<title>Shop</title>
<link rel="icon" href="data:,">
<output></output>
<script type="module">
  import { connect } from "BUNDLE/langfx-web.js";

  const langfx = await connect({ modules: ["typed.py"], store: "memory" });
  const { legs } = await langfx.call("typed:check", ['{"name": "desk", "legs": 4}']);
  document.querySelector("output").textContent = `${legs} legs`;
</script>
"""
LAB = b"import sqlite3\n\ndef version() -> str:\n    return sqlite3.sqlite_version\n"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; when the test is over, nothing may have been complained about."""
    with browser.new_context(service_workers="block") as context:
        page, console = context.new_page(), Console()
        console.listen(page)
        yield page
        assert console.complaints == []


def write_page(folder: Path, bundle: str) -> Path:
    """A page with its module that loads the bundle from this address."""
    (folder / "index.html").write_text(PAGE.replace("BUNDLE", bundle))
    shutil.copy(HERE / "modules" / "typed.py", folder)
    return folder


def test_platform_05_below_a_path_and_with_a_wrong_type_it_boots(dist: Path, page: Page, tmp_path: Path) -> None:
    """A host that calls WebAssembly and packs plain text will do, and its root is of no interest."""
    shutil.copytree(dist, write_page(tmp_path, "./dist") / "dist")
    with Server(tmp_path, mount="/a/b") as server:
        server.faults.types = {"*.wasm": "text/plain", "*.pack": "text/plain", "*.json": "text/html"}
        page.goto(server.url)
        expect(page.locator("output")).to_have_text("4 legs", timeout=60_000)
        assert all(exchange.path.startswith("/a/b/") for exchange in server.exchanges)


def test_platform_05_a_plain_file_server_is_enough(plain_host: str, page: Page, tmp_path: Path) -> None:
    """One without a cache, a range or a thought of ours, with the bundle below `/a/b/`."""
    write_page(tmp_path / "a", "./b")
    page.goto(plain_host.removesuffix("b/"))
    expect(page.locator("output")).to_have_text("4 legs", timeout=60_000)


def test_platform_06_a_bundle_on_another_origin(new_server: NewServer, new_tab: NewTab) -> None:
    """`baseUrl` may name a folder of another origin that allows this one; packs come from there, too."""
    here, other = new_server(), new_server(cors=Cors(), mount="/a/b")
    here.faults.bodies = {"/shop/lab.py": LAB}
    tab = new_tab(here.url)
    tab.connect("/shop/lab.py", "typed.py", baseUrl=other.url)
    assert tab.call("lab:version").startswith("3.")
    assert tab.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}
    files = {exchange.path.rpartition("/")[2] for exchange in other.exchanges}
    assert {"worker.js", "pyodide.asm.wasm", "python.pack", "schemas.pack", "extra.pack"} <= files
    assert not any(exchange.path.endswith((".wasm", ".pack")) for exchange in here.exchanges)
    assert tab.console.complaints == []


def test_a_page_may_import_the_bundle_from_another_origin(dist: Path, page: Page, tmp_path: Path) -> None:
    """The worker then starts through the same shim, without an option."""
    with Server(dist, cors=Cors()) as other, Server(write_page(tmp_path, other.url.rstrip("/"))) as server:
        page.goto(server.url)
        expect(page.locator("output")).to_have_text("4 legs", timeout=60_000)


def test_a_bundle_of_an_origin_that_allows_nobody_fails(new_server: NewServer, new_tab: NewTab) -> None:
    """The error names the worker's script; nothing hangs."""
    other = new_server()
    tab = new_tab()
    answer = tab.page.evaluate("(baseUrl) => harness.attempt(() => harness.connect({ baseUrl }))", other.url)
    assert answer["error"]["code"] == "boot_failed"
    assert answer["error"]["details"]["url"].startswith(other.url)
