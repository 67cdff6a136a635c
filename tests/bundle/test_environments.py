"""Virtual environments, as far as they need no registry."""

import os
import sys
from pathlib import Path

import pytest

from worker.bundle.environments import Environment, need_node
from worker.bundle.outcome import CannotRun

# Makes a folder whose `python` writes its arguments down and succeeds unless it is to install `missing`.
MAKER = """
import pathlib, sys
python = pathlib.Path(sys.argv[1]) / "bin" / "python"
python.parent.mkdir(parents=True)
log = pathlib.Path(sys.argv[1]).with_suffix(".log")
python.write_text(f'#!/bin/sh\\necho "$@" >> {log}\\ncase "$*" in *missing*) echo no network >&2; exit 1;; esac\\n')
python.chmod(0o755)
"""


def environment(tmp_path: Path, *requirements: str) -> Environment:
    """An environment that a stand-in for `python -m venv` makes."""
    maker = [sys.executable, "-c", MAKER]
    return Environment(folder=tmp_path / "env", requirements=requirements, maker=maker)


def installations(tmp_path: Path) -> list[str]:
    """What pip was asked to install, call by call."""
    calls = (tmp_path / "env.log").read_text().splitlines()
    return [call.partition("--disable-pip-version-check ")[2] for call in calls]


def test_an_environment_is_made_once(tmp_path: Path) -> None:
    """The same pins ask nobody a second time; other pins make a new environment."""
    assert environment(tmp_path, "a==1", "b==2").ensure().python.exists()
    (tmp_path / "env" / "mark").touch()
    environment(tmp_path, "a==1", "b==2").ensure()
    assert installations(tmp_path) == ["a==1 b==2"]
    assert (tmp_path / "env" / "mark").exists()
    environment(tmp_path, "a==1", "b==3").ensure()
    assert installations(tmp_path) == ["a==1 b==2", "a==1 b==3"]
    assert not (tmp_path / "env" / "mark").exists()


def test_an_environment_that_cannot_be_filled_is_no_environment(tmp_path: Path) -> None:
    """A failed installation is tried again next time, and says why and what to do."""
    for _ in range(2):
        with pytest.raises(CannotRun, match=r"no network\n.*run the same command again"):
            environment(tmp_path, "missing==1").ensure()
    assert len(installations(tmp_path)) == 2


def test_a_python_that_makes_no_environments_is_an_error(tmp_path: Path) -> None:
    """Debian's Python without its package for environments is told from a missing network."""
    maker = [sys.executable, "-c", "raise SystemExit('ensurepip is not available')"]
    with pytest.raises(CannotRun, match=r"ensurepip is not available\n.*python3-venv"):
        Environment(folder=tmp_path / "env", requirements=[], maker=maker).ensure()


@pytest.mark.parametrize(("printed", "message"), [("v18.2.0", "v18.2.0"), ("", "broken")])
def test_an_old_node_is_refused(tmp_path: Path, printed: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Node before 20 is named with its version."""
    (tmp_path / "node").write_text(f"#!/bin/sh\necho {printed}\n")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    with pytest.raises(CannotRun, match=f"is {message}: install Node 20"):
        need_node()


def test_a_missing_node_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no Node reads what to install."""
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    with pytest.raises(CannotRun, match="install Node 20"):
        need_node()
