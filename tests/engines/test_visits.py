"""The demo, and what a later visit finds, in every engine."""

from collections.abc import Callable
from pathlib import Path

from tests.browser.conftest import ROOT
from tests.browser.kept import PREPARED
from tests.browser.tab import Tab
from tests.engines.engine import Page
from worker.bundle.demo import demo_server
from worker.bundle.server import Server

NewPage = Callable[[], Page]
NewTab = Callable[..., Tab]
NewServer = Callable[..., Server]

HEAP = """async () => {
  const cache = await caches.open("langfx-web-snapshot");
  return (await cache.keys()).some(({ url }) => url.endsWith("/heap"));
}"""
PICK = "() => [...document.querySelectorAll('button')].find((button) => /order 7/.test(button.textContent)).click()"
ANSWERED = """() => document.querySelector("#send-label").textContent === "Send" &&
  [...document.querySelectorAll(".entry.answer")].some((answer) => answer.textContent.includes("Arrives Thursday"))"""

# Remembers what the name of the customer was while the model wrote.
FILL = """() => {
  const [sheet, customer] = ["sheet", "customer"].map((id) => document.getElementById(id));
  globalThis.names = new Set();
  new MutationObserver(() => sheet.dataset.outcome === "running" && names.add(customer.textContent))
    .observe(sheet, { subtree: true, childList: true, characterData: true });
  document.getElementById("fill").click();
}"""
CONFIRMED = """() => document.querySelector("#sheet").dataset.outcome === "confirmed" &&
  document.querySelector("#wanted_by").textContent === "Friday, 18 September 2026" &&
  document.querySelectorAll("#items tr").length === 2"""


def ask(page: Page) -> None:
    """Pick the first question of the demo and wait for its answer."""
    page.wait_for_function("() => !document.querySelector('#send').disabled", timeout=120)
    page.evaluate(PICK)
    page.wait_for_function(ANSWERED)


def test_the_demo_answers_with_and_without_a_network(dist: Path, new_page: NewPage) -> None:
    """Its agent looks the order up; once everything is kept, so it does with the server gone."""
    page = new_page()
    with demo_server(dist, ROOT / "web/demo/scripted_provider.py", host="127.0.0.1", port=0) as server:
        url = f"{server.url}demo/"
        page.goto(url)
        ask(page)
        page.wait_for_function(PREPARED, ["", "style.css", "view.js", "support_agent.py", "scripted_in_worker.py"])
        assert page.complaints == []
    page.goto(url)
    ask(page)


def test_the_form_fills_while_the_model_writes(dist: Path, new_page: NewPage) -> None:
    """The demo's second page shows letters before there is an order, and the order once Python has checked it."""
    page = new_page()
    with demo_server(dist, ROOT / "web/demo/scripted_provider.py", host="127.0.0.1", port=0) as server:
        page.goto(f"{server.url}demo/form/")
        page.wait_for_function("() => !document.querySelector('#fill').disabled", timeout=120)
        page.evaluate(FILL)
        page.wait_for_function(CONFIRMED)
        names = [name for name in page.evaluate("() => [...names]") if name]
        assert len(names) > 1
        assert all("Maya Okafor".startswith(name) for name in names)
        assert page.complaints == []


def test_a_later_visit_starts_from_a_snapshot(new_server: NewServer, new_tab: NewTab) -> None:
    """Made in a quiet moment, restored by the next page of the origin, where agents and pydantic work as ever."""
    server = new_server()
    options = {"modules": ["/tests/modules/agents.py", "/tests/modules/typed.py"]}
    first = new_tab(server.url)
    first.attempt("harness.connect(...argument)", [options, 50])
    assert first.attempt("harness.langfx.snapshot") is False
    first.page.wait_for_function(HEAP, timeout=120)
    later = new_tab(server.url)
    later.attempt("harness.connect(...argument)", [options, 600_000])
    assert later.attempt("harness.langfx.snapshot") is True
    assert later.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}
    assert later.page.complaints == []
