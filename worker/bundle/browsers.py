"""Finding the browsers that tests drive, and what drives them; or getting them."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from worker.bundle.outcome import CannotRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the machine: the variable that may name it, its usual commands, and Debian's package of it."""

    variable: str
    commands: Sequence[str]
    package: str


CHROMIUM = Program(
    variable="LANGFX_CHROMIUM", commands=("chromium", "chromium-browser", "google-chrome"), package="chromium"
)
FIREFOX = Program(variable="LANGFX_FIREFOX", commands=("firefox-esr", "firefox"), package="firefox-esr")
WEBKIT = Program(variable="LANGFX_WEBKIT", commands=("WebKitWebDriver",), package="webkit2gtk-driver")
XVFB = Program(variable="LANGFX_XVFB", commands=("Xvfb",), package="xvfb")
OTHER_ENGINES = (FIREFOX, WEBKIT, XVFB)

_PLAYWRIGHT_PATH = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def find(program: Program, environment: Mapping[str, str] = os.environ) -> str | None:
    """The path of an installed program: the one that its variable names, else the first of its commands on the PATH.

    Raises `CannotRun` if the variable names none.
    """
    path = environment.get("PATH")
    if named := environment.get(program.variable):
        if found := shutil.which(named, path=path):
            return found
        raise CannotRun(f"{program.variable} is {named!r}, which is no program: correct it or unset it")
    return next(filter(None, (shutil.which(command, path=path) for command in program.commands)), None)


def need_chromium(python: Path) -> str:
    """The path of a Chromium, installed now if there is none; `python` has Playwright.

    Raises `CannotRun` with what to do if none can be had.
    """
    _install_missing([CHROMIUM])
    return find(CHROMIUM) or _install_with_playwright(python) or _give_up([CHROMIUM])


def need_other_engines() -> dict[str, str]:
    """The paths of Firefox, of WebKit's driver and of a display for it, by variable; what is missing is installed now.

    Raises `CannotRun` with what to do if one cannot be had.
    """
    _install_missing(OTHER_ENGINES)
    if missing := [program for program in OTHER_ENGINES if find(program) is None]:
        _give_up(missing)
    return {program.variable: str(find(program)) for program in OTHER_ENGINES}


def _install_missing(programs: Sequence[Program]) -> None:
    """Install Debian's packages, where we may."""
    packages = [program.package for program in programs if find(program) is None]
    if not packages or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print(f"installing Debian's {', '.join(packages)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        if subprocess.run(["apt-get", "-q", *command], stdout=subprocess.DEVNULL, env=environment).returncode != 0:
            return


def _install_with_playwright(python: Path) -> str | None:
    print("installing Playwright's Chromium", flush=True)
    if subprocess.run([python, "-m", "playwright", "install", "chromium"]).returncode != 0:
        return None
    asked = subprocess.run([python, "-c", _PLAYWRIGHT_PATH], capture_output=True, text=True)
    path = asked.stdout.strip()
    return path if Path(path).is_file() else None


def _give_up(programs: Sequence[Program]) -> str:
    wanted = [f"{program.commands[0]} (or {program.variable} with its path)" for program in programs]
    packages = " ".join(program.package for program in programs)
    raise CannotRun(f"tests need {', '.join(wanted)}; on Debian: apt-get install {packages}")
