"""The folders of a clone."""

import subprocess
import sys
from pathlib import Path

from worker.bundle.place import Place

HOLDER = """
import sys
from pathlib import Path
from worker.bundle.place import Place
with Place(root=Path(sys.argv[1])).held():
    print("held", flush=True)
    sys.stdin.readline()
"""


def start_holder(folder: Path) -> subprocess.Popen[str]:
    """A build of the clone in `folder` that goes on until it gets a line."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, cwd=root, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_one_build_at_a_time(tmp_path: Path) -> None:
    """A second build waits, says so, and goes on when the first has ended."""
    with start_holder(tmp_path) as first, start_holder(tmp_path) as second:
        lines = {process: process.stdout.readline() for process in (first, second) if process.stdout}
        assert sorted(lines.values()) == ["held\n", "waiting for another build in this folder\n"]
        holder, waiter = sorted(lines, key=lines.__getitem__)
        holder.communicate("\n")
        assert waiter.communicate("\n")[0] == "held\n"


def test_everything_made_is_below_one_folder(tmp_path: Path) -> None:
    """Besides `dist/`, `.build/` is all there is to remove."""
    place = Place(root=tmp_path)
    assert {place.cache.parent, place.work.parent} == {tmp_path / ".build"}
