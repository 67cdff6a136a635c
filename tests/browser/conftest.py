"""The browser, the server of `dist/` with a scripted provider, and connected tabs."""

import functools
import http.server
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.passes import chosen
from tests.browser.provider import Provider
from tests.browser.tab import Tab
from worker.bundle import demo as bundle
from worker.bundle.browsers import need_chromium
from worker.bundle.exchange import Exchange
from worker.bundle.server import Route, Server
from worker.bundle.static_files import CONTENT_TYPES

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

NewServer = Callable[..., Server]
NewTab = Callable[..., Tab]


@pytest.fixture(scope="session")
def dist() -> Path:
    """The built bundle."""
    folder = Path(os.environ.get("LANGFX_DIST", ROOT / "dist"))
    if not (folder / "langfx-web.js").exists():
        pytest.exit(f"{folder} is not built: run `python3 build.py build` first", returncode=3)
    return folder


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which looks for barriers in a page."""
    path = Path(os.environ.get("LANGFX_AXE", ROOT / ".build" / "work" / "axe-core" / "axe.min.js"))
    if not path.exists():
        pytest.exit(f"{path} is missing: run `python3 build.py test browser`, which fetches it", returncode=3)
    return path.read_text()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; every tab is a context of its own."""
    with sync_playwright() as playwright:
        path = os.environ.get("LANGFX_CHROMIUM") or need_chromium(Path(sys.executable))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        # A busy machine is slow, and only a hang is a failure.
        expect.set_options(timeout=20_000)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def provider() -> Provider:
    """The scripted provider of the shared server."""
    return Provider()


@pytest.fixture(scope="session")
def server(dist: Path, provider: Provider) -> Iterator[Server]:
    """The shared server; a test that needs faults starts one of its own with `new_server`."""
    with Server(dist, routes=routes(provider), headers=chosen().headers) as server:
        yield server


@pytest.fixture
def new_server(dist: Path, provider: Provider) -> Iterator[NewServer]:
    """Starts further servers, each an origin of its own."""
    with ExitStack() as stack:
        usual = {"routes": routes(provider), "headers": chosen().headers}
        yield lambda root=dist, **options: stack.enter_context(Server(root, **{**usual, **options}))


@pytest.fixture(scope="module")
def demo_server(dist: Path) -> Iterator[Server]:
    """`dist/` with the demo's own scripted provider, as `build.py serve` has it."""
    with bundle.demo_server(dist, ROOT / "web" / "demo" / "scripted_provider.py", host="127.0.0.1", port=0) as server:
        yield server


@pytest.fixture
def new_tab(browser: Browser, server: Server) -> Iterator[NewTab]:
    """Opens tabs with the harness, not yet connected."""
    with ExitStack() as stack:

        def open_tab(url: str = server.url) -> Tab:
            context = stack.enter_context(browser.new_context(service_workers="block"))
            return Tab(context.new_page(), url).open()

        yield open_tab


@pytest.fixture(scope="module")
def shared_tab(request: pytest.FixtureRequest, browser: Browser, server: Server) -> Iterator[Tab]:
    """One connected tab for the tests of a module, which may name its `MODULES`; use it through `tab`."""
    with browser.new_context(service_workers="block") as context:
        tab = Tab(context.new_page(), server.url).open()
        tab.connect(*getattr(request.module, "MODULES", ["agents.py"]))
        yield tab


@pytest.fixture
def tab(shared_tab: Tab) -> Iterator[Tab]:
    """A connected tab; when the test is over, nothing may have been complained about and Python must still answer."""
    shared_tab.console.complaints.clear()
    yield shared_tab
    assert shared_tab.call("agents:echo", ["still here"]) == "still here"
    assert shared_tab.console.complaints == []


@pytest.fixture
def plain_host(dist: Path, tmp_path: Path) -> Iterator[str]:
    """A plain static file server with the bundle below the path `/a/b/`; gives that URL."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").symlink_to(dist, target_is_directory=True)
    handler = functools.partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as host:
        thread = threading.Thread(target=host.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{host.server_address[1]}/a/b/"
        host.shutdown()
        thread.join()


def routes(provider: Provider) -> dict[str, Route]:
    """What the test server answers beside the files of `dist/`."""
    return {"POST /v1/messages": provider.route, "GET /tests/*": _test_file}


def _test_file(exchange: Exchange) -> None:
    file = HERE / exchange.path.partition("/tests/")[2]
    if file.is_file():
        exchange.respond(200, {"Content-Type": CONTENT_TYPES[file.suffix]}, file.read_bytes())
    else:
        exchange.respond(404)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""
