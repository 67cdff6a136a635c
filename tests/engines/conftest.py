"""The three engines, one after the other, and connected tabs in them; page and server are as in the browser tests."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, dist, new_server, plain_host, provider, server
from tests.browser.tab import Tab
from tests.engines.chromium import Chromium
from tests.engines.engine import Engine, Page
from tests.engines.firefox import Firefox
from tests.engines.webkit import WebKit
from worker.bundle.browsers import need_chromium, need_other_engines
from worker.bundle.node_packages import installed
from worker.bundle.server import Server

__all__ = ["dist", "new_server", "plain_host", "provider", "server"]

HERE = Path(__file__).parent

NewPage = Callable[[], Page]
NewTab = Callable[..., Tab]


def chromium() -> Engine:
    return Chromium(os.environ.get("LANGFX_CHROMIUM") or need_chromium(Path(sys.executable)))


def firefox() -> Engine:
    puppeteer = os.environ.get("LANGFX_PUPPETEER") or installed(HERE, ROOT / ".build" / "env-puppeteer")
    return Firefox(need_other_engines()["LANGFX_FIREFOX"], puppeteer=str(puppeteer))


def webkit() -> Engine:
    programs = need_other_engines()
    return WebKit(programs["LANGFX_WEBKIT"], xvfb=programs["LANGFX_XVFB"])


# In Chromium `tests/browser` takes the same paths, and more.
ENGINES = [
    pytest.param(chromium, marks=[pytest.mark.long, pytest.mark.xdist_group("chromium")]),
    pytest.param(firefox, marks=pytest.mark.xdist_group("firefox")),
    pytest.param(webkit, marks=pytest.mark.xdist_group("webkit")),
]


@pytest.fixture(scope="session", params=ENGINES, ids=["chromium", "firefox", "webkit"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine once, for all tests."""
    start: Callable[[], Engine] = request.param
    with start() as engine:
        yield engine


@pytest.fixture
def new_page(engine: Engine) -> Iterator[NewPage]:
    """Opens empty tabs."""
    with ExitStack() as stack:

        def open_page() -> Page:
            page = engine.open()
            stack.callback(page.close)
            return page

        yield open_page


@pytest.fixture
def new_tab(new_page: NewPage, server: Server) -> NewTab:
    """Opens tabs with the harness, not yet connected. Another server is another origin, with nothing stored."""
    return lambda url=server.url: Tab(new_page(), url, listen=False).open()


@pytest.fixture(scope="module")
def shared_tab(request: pytest.FixtureRequest, engine: Engine, server: Server) -> Iterator[Tab]:
    """One connected tab for the tests of a module, which may name its `MODULES`; use it through `tab`."""
    page = engine.open()
    tab = Tab(page, server.url, listen=False).open()
    tab.connect(*getattr(request.module, "MODULES", ["agents.py"]))
    yield tab
    page.close()


@pytest.fixture
def tab(shared_tab: Tab) -> Iterator[Tab]:
    """A connected tab; when the test is over, nothing was complained about and Python still answers."""
    yield shared_tab
    assert shared_tab.call("agents:echo", ["still here"]) == "still here"
    assert shared_tab.page.complaints == []
