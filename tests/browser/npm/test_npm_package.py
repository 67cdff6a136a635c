"""`dist/` as an npm package: for a plain page, for an app that Vite builds, and for TypeScript."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT
from tests.browser.kept import wait_until_prepared
from tests.browser.tab import Console
from worker.bundle.server import Server

HERE = Path(__file__).parent
README = (ROOT / "README.md").read_text("utf-8")
GREETING = "Welcome to the shop"
USES = """\
import { connect, type Langfx } from "langfx-web";
import { respond } from "langfx-web/sw";
import { langfx } from "langfx-web/vite";
import shop from "./shop.py";

const connected: Promise<Langfx> = connect({ modules: [shop], store: "memory" });
const plugin: { name: string } = langfx();
export { connected, plugin, respond };
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own."""
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def console(page: Page) -> Console:
    """What the page says."""
    console = Console()
    console.listen(page)
    return console


@pytest.fixture
def app(package: Path, node_modules: Path, tmp_path: Path) -> Path:
    """An app with the package and Vite installed."""
    (tmp_path / "node_modules").symlink_to(node_modules)
    folder = shutil.copytree(HERE / "app", tmp_path / "app")
    (folder / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    shutil.copytree(package, folder / "node_modules" / "langfx-web")
    return folder


def vite(*arguments: str) -> list[str]:
    """The command, to be run in the folder of the app."""
    return ["node", "../node_modules/vite/bin/vite.js", *arguments]


@contextmanager
def dev_server(app: Path) -> Iterator[str]:
    """The address of Vite's own server, on a port that the system chose."""
    environment = {**os.environ, "NO_COLOR": "1"}
    command = vite("--host=127.0.0.1", "--port=0")
    with subprocess.Popen(command, cwd=app, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://127\S+", line)))
        finally:
            process.terminate()


def test_a_plain_page_imports_the_package(package: Path, page: Page, console: Console, tmp_path: Path) -> None:
    """What npm installs works as it lies there, without a build."""
    shutil.copytree(package, tmp_path / "node_modules" / "langfx-web")
    (tmp_path / "index.html").write_text((HERE / "app" / "index.html").read_text())
    (tmp_path / "shop.py").write_text((HERE / "app" / "shop.py").read_text())
    script = (HERE / "app" / "main.js").read_text().replace("offline: true", "offline: false")
    script = script.replace('"langfx-web"', '"./node_modules/langfx-web/langfx-web.js"')
    (tmp_path / "main.js").write_text(script.replace('import shop from "./shop.py"', 'const shop = "./shop.py"'))
    with Server(tmp_path) as server:
        page.goto(server.url)
        expect(page.locator("output")).to_have_text(GREETING, timeout=60_000)
    assert console.complaints == []


def test_an_app_that_vite_has_built(app: Path, page: Page, console: Console) -> None:
    """Below a path, with one line of configuration; and then without a network."""
    subprocess.run(vite("build", "--base=/shop/", "--logLevel=warn"), cwd=app, check=True)
    with Server(app / "dist", mount="/shop") as server:
        page.goto(server.url)
        expect(page.locator("output")).to_have_text(GREETING, timeout=60_000)
        wait_until_prepared(page)
        assert console.complaints == []
    page.reload()
    expect(page.locator("output")).to_have_text(GREETING, timeout=60_000)


@pytest.mark.long
def test_an_app_that_vite_serves(app: Path, page: Page, console: Console) -> None:
    """The development server gives the same, and loads the page again when its Python changes."""
    with dev_server(app) as url:
        page.goto(url)
        expect(page.locator("output")).to_have_text(GREETING, timeout=60_000)
        shop = app / "shop.py"
        shop.write_text(shop.read_text().replace("Welcome", "Good evening, and welcome"))
        expect(page.locator("output")).to_have_text("Good evening, and welcome to the shop", timeout=60_000)
        assert console.complaints == []


def test_the_readme_says_what_the_app_does() -> None:
    """Its configuration of Vite is the one that is tested here."""
    assert (HERE / "app" / "vite.config.js").read_text() in README


@pytest.mark.parametrize("resolution", ["bundler", "node16"])
def test_types_come_with_the_package(app: Path, resolution: str) -> None:
    """TypeScript finds them by the package's exports."""
    (app / "uses.ts").write_text(USES)
    compiler = ROOT / ".build" / "work" / "typescript" / "lib" / "tsc.js"
    module = "esnext" if resolution == "bundler" else "node16"
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", module, "--moduleResolution", resolution]
    options += ["--lib", "es2022,dom,dom.iterable", "--types", "langfx-web/python"]
    command = ["node", str(compiler), *options, "uses.ts"]
    done = subprocess.run(command, cwd=app, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)
