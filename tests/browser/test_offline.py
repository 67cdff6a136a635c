"""Starting without a network, by the service worker. Where a test leaves `with Server(…)`, the network is gone."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import HERE, ROOT
from tests.browser.kept import wait_until, wait_until_prepared
from tests.browser.tab import Console
from tests.browser.test_demo import Demo
from worker.bundle.demo import demo_server
from worker.bundle.server import Server

PAGE = """\
<!doctype html>
<title>Shop</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
<output></output>
<script type="module">
  import { connect } from "./dist/langfx-web.js";

  globalThis.logs = [];
  globalThis.langfx = await connect({
    modules: ["./typed.py"],
    store: "memory",
    offline: OFFLINE,
    onLog: (entry) => logs.push(entry),
  });
  const { legs } = await langfx.call("typed:check", ['{"name": "desk", "legs": 4}']);
  document.querySelector("output").textContent = `${legs} legs`;
</script>
"""
OWN_WORKER = 'import { listen } from "./dist/langfx-web-sw.js";\nlisten();\n'
APP_WORKER = """\
import { activate, install, respond } from "./dist/langfx-web-sw.js";

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(activate()));
addEventListener("fetch", (event) => {
  if (!respond(event) && event.request.url.endsWith("/hello")) event.respondWith(new Response("from the app"));
});
"""
RELEASES = """async () => {
  const names = (await caches.keys()).filter((name) => name.includes("/runtime-"));
  return names.map((name) => name.split("/").at(-2)).sort();
}"""


class Shop:
    """A folder with a page, its style and its module, and the bundle beside them."""

    def __init__(self, folder: Path, dist: Path) -> None:
        self.folder = folder
        shutil.copytree(dist, folder / "dist")
        shutil.copy(HERE / "modules" / "typed.py", folder)
        self.write("style.css", "output { color: rgb(1, 2, 3) }")

    def write(self, name: str, text: str) -> None:
        """Put a file into the folder."""
        (self.folder / name).write_text(text)

    def write_page(self, offline: object) -> None:
        """Put the page there, with this option."""
        self.write("index.html", PAGE.replace("OFFLINE", json.dumps(offline)))

    @property
    def runtime(self) -> str:
        return str(json.loads((self.folder / "dist" / "manifest.json").read_text())["runtime"])

    def release(self, runtime: str) -> None:
        """Replace the bundle by one that differs in the name of its runtime folder."""
        dist, old = self.folder / "dist", self.runtime
        (dist / old).rename(dist / runtime)
        for name in ("langfx-web.js", "langfx-web-sw.js", "manifest.json", f"{runtime}/web/manifest.js"):
            (dist / name).write_text((dist / name).read_text().replace(old, runtime))


@pytest.fixture
def shop(dist: Path, tmp_path: Path) -> Shop:
    """A shop without its page."""
    return Shop(tmp_path / "shop", dist)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a browser profile of its own, which allows service workers."""
    with browser.new_context() as context:
        yield context.new_page()


def expect_answer(page: Page) -> None:
    """Python, pydantic and the page's module have worked."""
    expect(page.locator("output")).to_have_text("4 legs", timeout=60_000)


def warnings(page: Page) -> list[str]:
    """What `onLog` was warned of."""
    return [entry["text"] for entry in page.evaluate("logs") if entry["level"] == "warn"]


def test_platform_16_the_demo_works_without_a_network(dist: Path, page: Page) -> None:
    """After one visit the demo starts with its server gone; the script plays on, and a real provider fails as such."""
    console = Console()
    console.listen(page)
    with demo_server(dist, ROOT / "web/demo/scripted_provider.py", host="127.0.0.1", port=0) as server:
        demo = Demo(page).open(f"{server.url}demo/")
        wait_until_prepared(page, "style.css", "view.js", "support_agent.py", "scripted_in_worker.py")
        assert console.complaints == []
    demo.open(server.url + "demo/")
    demo.ask("Where is order 7?")
    demo.wait_for_end()
    assert "Arrives Thursday" in demo.last_answer
    expect(page.locator("#where-model")).to_have_text("is scripted, played in the worker")
    page.context.set_offline(True)
    demo.use_key("sk-ant-made-up-0123456789")
    demo.ask("hello")
    expect(page.locator(".entry.error .code")).to_have_text("connection")


def test_a_page_beside_the_bundle_works_by_a_worker_of_two_lines(shop: Shop, page: Page) -> None:
    """Document, style, module and bundle are there without a network, whatever the address's query says."""
    shop.write_page({"worker": "./sw.js"})
    shop.write("sw.js", OWN_WORKER)
    with Server(shop.folder) as server:
        page.goto(server.url)
        expect_answer(page)
        wait_until_prepared(page, "style.css", "typed.py")
        assert warnings(page) == []
    page.goto(f"{server.url}?from=a-letter")
    expect_answer(page)
    expect(page.locator("output")).to_have_css("color", "rgb(1, 2, 3)")
    assert warnings(page) == []


def test_with_a_network_the_page_is_the_newest(shop: Shop, page: Page) -> None:
    """What is kept of the page is only for when there is no network, and is then what was seen last."""
    shop.write_page({"worker": "./sw.js"})
    shop.write("sw.js", OWN_WORKER)
    with Server(shop.folder) as server:
        page.goto(server.url)
        wait_until_prepared(page, "style.css", "typed.py")
        for colour in ("rgb(4, 5, 6)", "rgb(7, 8, 9)"):
            shop.write("style.css", f"output {{ color: {colour} }}")
            page.goto(server.url)
            expect(page.locator("output")).to_have_css("color", colour)
        expect_answer(page)
        wait_until(page, "async () => (await (await caches.match('style.css')).text()).includes('7, 8, 9')")
    page.goto(server.url)
    expect(page.locator("output")).to_have_css("color", "rgb(7, 8, 9)")


def test_a_page_out_of_reach_is_told_so(shop: Shop, page: Page) -> None:
    """The bundle's own worker cannot serve a page outside of its folder; the page works, and a warning says why."""
    shop.write_page(True)
    with Server(shop.folder) as server:
        page.goto(server.url)
        expect_answer(page)
        page.wait_for_function("() => logs.length")
        (warning,) = warnings(page)
        assert f"langfx-web-sw.js cannot serve {server.url}" in warning
        assert page.evaluate("async () => (await navigator.serviceWorker.getRegistrations()).length") == 0


def register_own_worker(shop: Shop, page: Page, server: Server) -> None:
    """The page has a service worker before it is first opened."""
    shop.write("app-sw.js", APP_WORKER)
    page.goto(f"{server.url}style.css")
    page.evaluate("navigator.serviceWorker.register('/app-sw.js', { type: 'module' })")
    page.evaluate("async () => void (await navigator.serviceWorker.ready)")


def test_platform_17_a_service_worker_of_the_app_stays(shop: Shop, page: Page) -> None:
    """`offline: true` changes nothing for a page that has a service worker, and says so."""
    shop.write_page(True)
    with Server(shop.folder) as server:
        register_own_worker(shop, page, server)
        page.goto(server.url)
        expect_answer(page)
        page.wait_for_function("() => logs.length")
        (warning,) = warnings(page)
        assert f"has a service worker of its own, {server.url}app-sw.js, which stays" in warning
        scripts = "async () => (await navigator.serviceWorker.getRegistrations()).map((one) => one.active.scriptURL)"
        assert page.evaluate(scripts) == [f"{server.url}app-sw.js"]
        assert page.evaluate("async () => (await fetch('hello')).text()") == "from the app"


def test_an_app_answers_with_ours_in_its_own_service_worker(shop: Shop, page: Page) -> None:
    """`respond` in the app's worker answers for the bundle, and for nothing else."""
    shop.write_page(False)
    with Server(shop.folder) as server:
        register_own_worker(shop, page, server)
        before = len(server.exchanges)
        page.goto(server.url)
        expect_answer(page)
        asked = [exchange.path for exchange in server.exchanges[before:] if not exchange.path.endswith("-sw.js")]
        # A browser asks for what the document names in an order of its own.
        assert [asked[0], *sorted(asked[1:])] == ["/", "/dist/langfx-web.js", "/style.css", "/typed.py"]
        assert page.evaluate("async () => (await fetch('hello')).text()") == "from the app"


def test_what_is_no_file_passes_untouched(shop: Shop, page: Page) -> None:
    """Streams of a provider on the page's origin go past the service worker, and a cancelled one is seen to close."""

    def stream(exchange: Any) -> None:
        exchange.stream(200, {"content-type": "text/event-stream"}, [b"data: 1\n\n", 60.0])

    shop.write_page({"worker": "./sw.js"})
    shop.write("sw.js", OWN_WORKER)
    with Server(shop.folder, routes={"GET /v1/models": stream, "POST /v1/messages.json": stream}) as server:
        page.goto(server.url)
        wait_until_prepared(page, "style.css", "typed.py")
        page.goto(server.url)
        expect_answer(page)
        for method, path in (("GET", "/v1/models"), ("POST", "/v1/messages.json")):
            read = """async ([method, path]) => {
              const abort = new AbortController();
              const response = await fetch(path, { method, signal: abort.signal });
              const { value } = await response.body.getReader().read();
              abort.abort();
              return new TextDecoder().decode(value);
            }"""
            assert page.evaluate(read, [method, path]) == "data: 1\n\n"
            exchange = server.wait_for(lambda exchange, path=path: exchange.path == path)
            assert exchange.wait_ended()
            assert exchange.client_closed_at is not None


def test_packs_that_are_asked_for_later_are_kept_too(shop: Shop, page: Page) -> None:
    """What a module has needed beyond the start is there without a network as well."""
    shop.write_page({"worker": "./sw.js"})
    shop.write("sw.js", OWN_WORKER)
    shop.write("typed.py", (shop.folder / "typed.py").read_text() + "\n\nimport sqlite3\n")
    kept = "async (runtime) => Boolean(await caches.match(`/dist/${runtime}/extra.pack`))"
    with Server(shop.folder) as server:
        page.goto(server.url)
        expect_answer(page)
        wait_until_prepared(page, "style.css", "typed.py")
        page.goto(server.url)
        expect_answer(page)
        wait_until(page, kept, shop.runtime)
    page.goto(server.url)
    expect_answer(page)


@pytest.mark.long
def test_an_older_release_goes_when_no_page_of_it_is_open(shop: Shop, page: Page) -> None:
    """Pages of two releases work side by side; what is kept of the older one is dropped after its last page."""
    shop.write_page({"worker": "./sw.js"})
    shop.write("sw.js", OWN_WORKER)
    first = shop.runtime
    with Server(shop.folder) as server:
        page.goto(server.url)
        expect_answer(page)
        wait_until_prepared(page, "style.css", "typed.py")
        page.goto(server.url)
        expect_answer(page)
        second = "runtime-ffffffffffff"
        shop.release(second)
        newer = page.context.new_page()
        newer.goto(server.url)
        expect_answer(newer)
        wait_until(newer, "async () => (await navigator.serviceWorker.getRegistration()).waiting !== null")
        assert newer.evaluate(RELEASES) == sorted([first, second])
        assert page.evaluate('langfx.call(\'typed:check\', [\'{"name": "bench", "legs": 2}\'])')["legs"] == 2
        newer.close()
        page.goto("about:blank")
        page.goto(server.url)
        expect_answer(page)
        wait_until(page, f"async (second) => String(await ({RELEASES})()) === second", second)
    page.goto(server.url)
    expect_answer(page)
