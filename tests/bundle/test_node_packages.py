"""Packages that tests work with, by an npm that the test plays."""

import sys
from pathlib import Path

import pytest

from worker.bundle.node_packages import installed
from worker.bundle.outcome import CannotRun

NPM = "import pathlib; pathlib.Path('node_modules').mkdir(); open('calls', 'a').write('x')"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with a lock file."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        (folder / name).write_text("{}")
    return folder


def test_packages_are_installed_once_per_lock_file(sources: Path, tmp_path: Path) -> None:
    """A second run asks for nothing; another lock file starts from an empty folder."""
    made, npm = tmp_path / "made", [sys.executable, "-c", NPM]
    for _ in range(2):
        assert installed(sources, made, npm=npm) == made / "node_modules"
        assert (made / "calls").read_text() == "x"
    (sources / "package-lock.json").write_text("[]")
    installed(sources, made, npm=npm)
    assert (made / "calls").read_text() == "x"
    assert (made / "package-lock.json").read_text() == "[]"


@pytest.mark.parametrize("npm", [["no-such-npm"], [sys.executable, "-c", "import sys; sys.exit('no network')"]])
def test_without_packages_nothing_runs(sources: Path, tmp_path: Path, npm: list[str]) -> None:
    """The message names the lock file, and the next run tries again."""
    with pytest.raises(CannotRun, match=r"package-lock\.json: .*no"):
        installed(sources, tmp_path / "made", npm=npm)
    assert not (tmp_path / "made" / "stamp").exists()
