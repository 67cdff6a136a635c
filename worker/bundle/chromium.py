"""Finding the Chromium that tests drive, or getting one."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from worker.bundle.outcome import CannotRun

VARIABLE = "LANGFX_CHROMIUM"
COMMANDS = ("chromium", "chromium-browser", "google-chrome")
_PLAYWRIGHT_PATH = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def find_chromium(environment: Mapping[str, str] = os.environ) -> str | None:
    """The path of an installed Chromium: the one that `LANGFX_CHROMIUM` names, else the first one on the PATH.

    Raises `CannotRun` if the variable names none.
    """
    if named := environment.get(VARIABLE):
        if path := shutil.which(named, path=environment.get("PATH")):
            return path
        raise CannotRun(f"{VARIABLE} is {named!r}, which is no program: correct it or unset it")
    found = (shutil.which(command, path=environment.get("PATH")) for command in COMMANDS)
    return next(filter(None, found), None)


def need_chromium(python: Path) -> str:
    """The path of a Chromium, installed now if there is none; `python` has Playwright.

    Raises `CannotRun` with what to do if none can be had.
    """
    return find_chromium() or _install_package() or _install_with_playwright(python) or _give_up()


def _install_package() -> str | None:
    """Debian's package, where we may install one."""
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists() or shutil.which("apt-get") is None:
        return None
    print("installing Debian's package chromium", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        if subprocess.run(["apt-get", "-q", *command], stdout=subprocess.DEVNULL, env=environment).returncode != 0:
            return None
    return find_chromium()


def _install_with_playwright(python: Path) -> str | None:
    print("installing Playwright's Chromium", flush=True)
    if subprocess.run([python, "-m", "playwright", "install", "chromium"]).returncode != 0:
        return None
    asked = subprocess.run([python, "-c", _PLAYWRIGHT_PATH], capture_output=True, text=True)
    path = asked.stdout.strip()
    return path if Path(path).is_file() else None


def _give_up() -> str:
    raise CannotRun(
        "there is no Chromium for the tests that need a browser: install the package chromium or google-chrome, "
        f"or set {VARIABLE} to the path of one"
    )
