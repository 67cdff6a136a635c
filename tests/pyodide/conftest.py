"""Tests inside Pyodide: in Node, and those marked `chrome` in the Chromium that `build.py` found."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="module")
def playwright_browsers(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """The browsers of `pytest-pyodide`, which has no option for the path of one."""
    if "chrome" not in request.config.option.runtime:
        yield {}
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["LANGFX_CHROMIUM"], args=["--no-sandbox"])
        yield {"chrome": browser}
        browser.close()
