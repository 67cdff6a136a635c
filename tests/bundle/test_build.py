"""`build.py` as a person calls it."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def call(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `build.py` of the clone in `folder`."""
    environment = {**os.environ, **variables}
    command = [sys.executable, str(folder / "build.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What `build` reads of this project, without anything that was made."""
    folder = tmp_path / "clone"
    skip = shutil.ignore_patterns("__pycache__")
    for name in ("langfx_web", "worker", "web"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for name in ("build.py", "pyproject.toml", "LICENSE", "THIRD_PARTY_NOTICES.md"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def test_usage_is_explained() -> None:
    """Every verb is in the help; a wrong verb or tier ends with exit code 2."""
    help_text = call(ROOT, "--help").stdout
    assert all(verb in help_text for verb in ("build", "serve", "check", "test", "bench", "parity", "clean"))
    assert call(ROOT, "bild").returncode == 2
    assert call(ROOT).returncode == 2
    wrong_tier = call(ROOT, "test", "hots")
    assert wrong_tier.returncode == 2
    assert "hots" in wrong_tier.stderr


def test_a_missing_node_ends_at_once(clone: Path, tmp_path: Path) -> None:
    """Without Node nothing is downloaded or written, and the message says what to install."""
    result = call(clone, "build", PATH=str(tmp_path))
    assert result.returncode == 3
    assert result.stderr == "build.py: Node is not on the PATH: install Node 20 or newer (with npm)\n"
    assert not (clone / "dist").exists()


def test_an_old_python_can_read_its_refusal() -> None:
    """An interpreter that is too old gets as far as the sentence that says so."""
    ast.parse((ROOT / "build.py").read_text(), feature_version=(3, 7))


def test_clean_keeps_downloads(clone: Path) -> None:
    """What was made goes; what was downloaded stays unless all is to go."""
    for name in ("dist/x", ".build/work/x", ".build/cache/x"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).touch()
    assert call(clone, "clean").returncode == 0
    assert not (clone / "dist").exists()
    assert [path.name for path in (clone / ".build").iterdir()] == ["cache"]
    assert call(clone, "clean", "--all").returncode == 0
    assert not list((clone / ".build").iterdir())
