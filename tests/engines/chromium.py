"""Chromium, driven by Playwright."""

from pathlib import Path

from playwright.sync_api import Error, sync_playwright
from playwright.sync_api import Page as PlaywrightPage

from tests.browser.tab import Console
from tests.engines.engine import Engine, EngineError, Page


class Chromium(Engine):
    """`path` is that of the browser."""

    def __init__(self, path: str) -> None:
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        self._context = self._browser.new_context()

    def open(self) -> Page:
        return _Tab(self._context.new_page())

    def close(self) -> None:
        self._browser.close()
        self._playwright.stop()


class _Tab(Page):
    def __init__(self, page: PlaywrightPage) -> None:
        self._page = page
        self._console = Console()
        self._console.listen(page)

    @property
    def complaints(self) -> list[str]:
        return self._console.complaints

    def goto(self, url: str) -> None:
        self._page.goto(url)

    def run(self, expression: str) -> str:
        try:
            return str(self._page.evaluate(expression))
        except Error as error:
            raise EngineError(str(error)) from error

    def screenshot(self, path: Path, *, width: int, height: int) -> None:
        self._page.set_viewport_size({"width": width, "height": height})
        self._page.screenshot(path=path)

    def close(self) -> None:
        self._page.close()
