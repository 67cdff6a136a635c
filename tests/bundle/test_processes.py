"""Running programs that must not outlive their tier."""

import os
import sys
import time
from pathlib import Path

from worker.bundle.processes import TIMED_OUT, run

# Starts a child that would live on, writes its id down and does what it is told.
PARENT = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
pathlib.Path("child").write_text(str(child.pid))
time.sleep(float(sys.argv[1]))
sys.exit(7)
"""


def ends_soon(folder: Path) -> bool:
    """Whether the child that the program in `folder` started is gone, or about to go: it has been told."""
    process = int((folder / "child").read_text())
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if "State:\tZ" in Path(f"/proc/{process}/status").read_text():
            return True
        time.sleep(0.01)
    return False


def test_exit_code_folder_and_environment_are_handed_on(tmp_path: Path) -> None:
    """A program runs where and as it is told."""
    code = "import os, pathlib; pathlib.Path('out').write_text(os.environ['WORD']); raise SystemExit(3)"
    assert run([sys.executable, "-c", code], folder=tmp_path, environment={"WORD": "w"}, seconds=30) == 3
    assert (tmp_path / "out").read_text() == "w"
    assert "WORD" not in os.environ


def test_a_slow_program_is_ended_with_all_it_started(tmp_path: Path) -> None:
    """A browser that a timed-out test left behind does not run on."""
    assert run([sys.executable, "-c", PARENT, "60"], folder=tmp_path, seconds=1) == TIMED_OUT
    assert ends_soon(tmp_path)


def test_a_finished_program_leaves_nothing_behind(tmp_path: Path) -> None:
    """Children of a program that ended by itself end too."""
    assert run([sys.executable, "-c", PARENT, "0"], folder=tmp_path, seconds=30) == 7
    assert ends_soon(tmp_path)
