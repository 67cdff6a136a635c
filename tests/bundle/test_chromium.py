"""Finding Chromium."""

from pathlib import Path

import pytest

from worker.bundle.chromium import find_chromium
from worker.bundle.outcome import CannotRun


def program(folder: Path, name: str) -> str:
    """An executable file."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_named_chromium_comes_first(tmp_path: Path) -> None:
    """`LANGFX_CHROMIUM` wins over the PATH."""
    named, other = program(tmp_path, "mine"), program(tmp_path / "bin", "chromium")
    assert find_chromium({"LANGFX_CHROMIUM": named, "PATH": str(tmp_path / "bin")}) == named
    assert find_chromium({"PATH": str(tmp_path / "bin")}) == other


def test_commands_are_tried_in_order(tmp_path: Path) -> None:
    """Any of the usual names will do."""
    chrome = program(tmp_path, "google-chrome")
    assert find_chromium({"PATH": str(tmp_path)}) == chrome
    browser = program(tmp_path, "chromium-browser")
    assert find_chromium({"PATH": str(tmp_path)}) == browser


def test_no_chromium_is_no_error_yet(tmp_path: Path) -> None:
    """One may still be installed."""
    assert find_chromium({"PATH": str(tmp_path)}) is None


def test_a_wrong_name_is_an_error(tmp_path: Path) -> None:
    """A variable that names nothing is not silently passed over."""
    program(tmp_path, "chromium")
    with pytest.raises(CannotRun, match="LANGFX_CHROMIUM"):
        find_chromium({"LANGFX_CHROMIUM": str(tmp_path / "gone"), "PATH": str(tmp_path)})
