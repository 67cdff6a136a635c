"""The main paths wherever the bundle may be hosted, and the other tests under the same conditions."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import HERE, ROOT
from tests.browser.kept import wait_until_prepared
from tests.browser.passes import PASSES
from tests.browser.paths import MODULES, PATHS
from tests.browser.provider import Provider
from tests.browser.tab import Tab
from worker.bundle.server import Cors, Server

NewServer = Callable[..., Server]
NewTab = Callable[..., Tab]

SUITES = ("turns", "failures", "wire", "cancel", "worker_end", "packs", "credentials")


def walk(tab: Tab, provider: Provider) -> None:
    """Take every path in one tab."""
    for path in PATHS.values():
        path(tab, provider)


# The engines without JSPI, and their pages under a policy and isolated, are tested each time.
SAMPLE = [name if name == "strict policy" else pytest.param(name, marks=pytest.mark.long) for name in PASSES]


@pytest.mark.parametrize("name", SAMPLE)
def test_platform_35_main_paths(new_server: NewServer, new_tab: NewTab, provider: Provider, name: str) -> None:
    """Without JSPI, isolated from other origins, and under a strict policy, pages work as anywhere else."""
    tab = new_tab(new_server(headers=PASSES[name].headers).url)
    tab.connect(*MODULES, **PASSES[name].options)
    assert tab.attempt("crossOriginIsolated") == (name == "isolated")
    walk(tab, provider)


def test_main_paths_on_a_second_origin_below_a_path(new_server: NewServer, new_tab: NewTab, provider: Provider) -> None:
    """The bundle may lie on another origin, deep below a path."""
    tab = new_tab(new_server().url)
    tab.connect(*MODULES, baseUrl=new_server(cors=Cors(), mount="/a/b").url)
    walk(tab, provider)


@pytest.mark.long
def test_main_paths_without_the_host(new_server: NewServer, provider: Provider, browser: Browser) -> None:
    """With its files kept, a page needs nothing of its host but the provider's answers."""
    server = new_server()
    with browser.new_context() as context:
        tab = Tab(context.new_page(), server.url).open()
        tab.connect(*MODULES, offline=True)
        wait_until_prepared(tab.page)
        for pattern in ("GET /runtime-*", "GET /langfx-web*"):
            server.routes[pattern] = lambda exchange: exchange.drop()
        tab.open()
        tab.connect(*MODULES)
        walk(tab, provider)


@pytest.mark.long
@pytest.mark.parametrize("name", PASSES)
def test_platform_35_whole_suite(dist: Path, name: str) -> None:
    """All that is tested of turns, tools, the wire and failures has the same results."""
    files = [HERE / f"test_{suite}.py" for suite in SUITES]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", *files]
    variables = {**os.environ, "LANGFX_PASS": name, "LANGFX_DIST": str(dist)}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
