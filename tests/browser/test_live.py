"""`build.py serve DIR`: a page that follows its files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.tab import Console
from worker.bundle.live import live_server
from worker.bundle.server import Server

PAGE = """\
<!doctype html>
<meta charset="utf-8">
<title>Shop</title>
<link rel="icon" href="data:,">
<output></output>
<script type="module">
  import { connect } from "./dist/langfx-web.js";

  const langfx = await connect({ modules: ["./shop.py"], store: "memory" });
  document.querySelector("output").textContent = await langfx.call("shop:greeting");
</script>
"""


def module(greeting: str) -> str:
    """The page's module."""
    return f"def greeting() -> str:\n    return {greeting!r}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the page."""
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "shop.py").write_text(module("Welcome"))
    return tmp_path


@pytest.fixture
def server(folder: Path, dist: Path) -> Iterator[Server]:
    """The running server."""
    with live_server(folder, dist, host="127.0.0.1", port=0) as server:
        yield server


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """The page, open."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(server.url)
        yield page


def test_a_changed_module_is_seen_at_once(page: Page, folder: Path) -> None:
    """Python modules, documents and everything else: the page is loaded again, and its files are only read."""
    console = Console()
    console.listen(page)
    greeting = page.locator("output")
    expect(greeting).to_have_text("Welcome", timeout=60_000)
    (folder / "shop.py").write_text(module("Good evening"))
    expect(greeting).to_have_text("Good evening", timeout=60_000)
    (folder / "index.html").write_text(PAGE.replace("<output>", "<output class='new'>"))
    expect(page.locator("output.new")).to_have_text("Good evening", timeout=60_000)
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "shop.py"]
    assert console.complaints == []


@pytest.mark.long
def test_a_mistake_in_a_module_is_shown_until_it_is_mended(page: Page, folder: Path) -> None:
    """The page says which file and which line Python cannot read."""
    expect(page.locator("output")).to_have_text("Welcome", timeout=60_000)
    (folder / "shop.py").write_text("def greeting( -> str:\n")
    error = page.locator(".langfx-error")
    expect(error.locator("strong")).to_have_text("module_failed", timeout=60_000)
    expect(error.locator("pre")).to_contain_text("shop.py, line 1")
    error.get_by_role("button", name="Close").click()
    expect(error).to_have_count(0)
    (folder / "shop.py").write_text(module("Welcome back"))
    expect(page.locator("output")).to_have_text("Welcome back", timeout=60_000)
    expect(error).to_have_count(0)


def test_a_script_that_is_missing_is_shown(page: Page, folder: Path) -> None:
    """So is what the page's own JavaScript fails with."""
    (folder / "index.html").write_text("<!doctype html><script type='module' src='shop.js'></script>")
    error = page.locator(".langfx-error")
    expect(error).to_contain_text("shop.js, or something that it imports, could not be loaded")
    (folder / "shop.js").write_text("document.body.append(nothing.there)")
    expect(error).to_contain_text("nothing is not defined")
