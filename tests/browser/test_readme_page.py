"""The README's page and its Playwright example, as they stand, on the real bundle."""

import importlib.util
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import ROOT
from tests.browser.provider import Call, Items, Text, stream
from tests.browser.tab import Console
from worker.bundle.server import Server

README = (ROOT / "README.md").read_text("utf-8")
REAL_URL = "https://api.anthropic.com/v1/messages"


# A page for the example that only reads a stream.
FORM = """<!doctype html><link rel="icon" href="data:,">
<input id="customer"><input id="items.0.article">
<script type="module">
import { connect } from "./dist/langfx-web.js";
const langfx = await connect({ modules: ["./orders.py"], store: "memory", credentials: async () => "a-made-up-key" });
%s</script>"""


def block(language: str, part: str) -> str:
    """The README's code block of a language that has this part."""
    found = re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    return next(code for code in found if part in code)


@pytest.fixture
def shop_url(dist: Path, tmp_path: Path) -> Iterator[str]:
    """A folder with the README's pages, their modules, and `dist/` beside them."""
    (tmp_path / "index.html").write_text(block("html", "shop_agent"))
    (tmp_path / "shop_agent.py").write_text(block("python", "@lf.tool"))
    (tmp_path / "form.html").write_text(FORM % block("js", "langfx.stream"))
    (tmp_path / "orders.py").write_text(block("python", "class Item"))
    shutil.copytree(dist, tmp_path / "dist")
    with Server(tmp_path) as server:
        yield server.url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own."""
    with browser.new_context(service_workers="block") as context:
        yield context.new_page()


def test_the_page_works_on_the_real_providers_wire(page: Page, shop_url: str) -> None:
    """The agent looks the order up, shows it with the page's tool, and its words are on the page."""
    console = Console()
    console.listen(page)
    answers = [
        stream(
            Call(name="get_order", arguments='{"id": "7"}', id="a"), Call(name="show_order", arguments='{"id": "7"}')
        ),
        stream(Text(deltas=("It is ", "on its way."))),
    ]

    play(page, answers)
    page.add_init_script('sessionStorage.setItem("key", "a-made-up-key")')
    page.goto(shop_url)
    expect(page.locator("#answer")).to_have_text("It is on its way.", timeout=60_000)
    expect(page.locator("#order-7")).to_have_css("font-weight", "700")
    assert answers == []
    assert console.complaints == []
    assert 'get_order {"id":"7","status":"shipped"}' in console.lines


def test_the_form_fills_on_the_real_providers_wire(page: Page, shop_url: str) -> None:
    """Fields of the form take what the model writes, and the page gets the order and what it makes of it."""
    console = Console()
    console.listen(page)
    order = "Order(customer='Ada', items=[Item(quantity=2, article='lamp')])"
    play(page, [stream(Text(deltas=(order[:18], order[18:])))])
    with page.expect_console_message(lambda message: message.text == "Ada 1", timeout=60_000):
        page.goto(f"{shop_url}form.html")
    expect(page.locator('[id="customer"]')).to_have_value("Ada")
    expect(page.locator('[id="items.0.article"]')).to_have_value("lamp")
    assert console.complaints == []


def play(page: Page, answers: list[Items]) -> None:
    """Stand in for the provider with these answers, one after the other."""

    def answer(route: Route) -> None:
        body = b"".join(item for item in answers.pop(0) if isinstance(item, bytes))
        headers = {"content-type": "text/event-stream", "access-control-allow-origin": "*"}
        route.fulfill(status=200, headers=headers, body=body)

    page.context.route(REAL_URL, answer)


def test_the_playwright_example_runs(page: Page, shop_url: str, tmp_path: Path) -> None:
    """The example test itself, as a reader would copy it."""
    console = Console()
    console.listen(page)
    file = tmp_path / "example_test.py"
    file.write_text(block("python", "def test_the_answer_is_shown"))
    spec = importlib.util.spec_from_file_location("example_test", file)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.test_the_answer_is_shown(page, shop_url)
    assert console.complaints == []
