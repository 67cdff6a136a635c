"""Finding the browsers that tests drive."""

from pathlib import Path

import pytest

from worker.bundle.browsers import CHROMIUM, FIREFOX, OTHER_ENGINES, find, need_other_engines
from worker.bundle.outcome import CannotRun


def program(folder: Path, name: str) -> str:
    """An executable file."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def forget_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine that names none: where all tiers run, the run itself does."""
    for program in OTHER_ENGINES:
        monkeypatch.delenv(program.variable, raising=False)


def test_the_named_program_comes_first(tmp_path: Path) -> None:
    """`LANGFX_CHROMIUM` wins over the PATH."""
    named, other = program(tmp_path, "mine"), program(tmp_path / "bin", "chromium")
    assert find(CHROMIUM, {"LANGFX_CHROMIUM": named, "PATH": str(tmp_path / "bin")}) == named
    assert find(CHROMIUM, {"PATH": str(tmp_path / "bin")}) == other


def test_commands_are_tried_in_order(tmp_path: Path) -> None:
    """Any of the usual names will do."""
    chrome = program(tmp_path, "google-chrome")
    assert find(CHROMIUM, {"PATH": str(tmp_path)}) == chrome
    browser = program(tmp_path, "chromium-browser")
    assert find(CHROMIUM, {"PATH": str(tmp_path)}) == browser
    firefox = program(tmp_path, "firefox")
    assert find(FIREFOX, {"PATH": str(tmp_path)}) == firefox


def test_no_program_is_no_error_yet(tmp_path: Path) -> None:
    """One may still be installed."""
    assert find(CHROMIUM, {"PATH": str(tmp_path)}) is None


def test_a_wrong_name_is_an_error(tmp_path: Path) -> None:
    """A variable that names nothing is not silently passed over."""
    program(tmp_path, "chromium")
    with pytest.raises(CannotRun, match="LANGFX_CHROMIUM"):
        find(CHROMIUM, {"LANGFX_CHROMIUM": str(tmp_path / "gone"), "PATH": str(tmp_path)})


def test_what_is_there_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of all programs, with their paths."""
    paths = {name: program(tmp_path, name) for name in ("firefox-esr", "WebKitWebDriver", "Xvfb")}
    forget_engines(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    variables = need_other_engines()
    assert variables == dict(zip(("LANGFX_FIREFOX", "LANGFX_WEBKIT", "LANGFX_XVFB"), paths.values(), strict=True))


def test_what_can_be_had_nowhere_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not install packages reads which ones are wanted, and of those that are there nothing."""
    program(tmp_path, "Xvfb")
    forget_engines(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRun, match=r"LANGFX_WEBKIT.*: apt-get install firefox-esr webkit2gtk-driver$"):
        need_other_engines()
