"""The checks, run with a stand-in for their programs."""

import json
import sys
from pathlib import Path

from tests.bundle.stand_in import StandIn
from worker.bundle.bench import Bench
from worker.bundle.checks import run_checks
from worker.bundle.counts import Counts
from worker.bundle.place import Place


def bench(tmp_path: Path) -> tuple[Bench, StandIn]:
    """A project with scripts on both sides, and the program that plays ruff, mypy and tsc."""
    program = StandIn(tmp_path / "bin", sys.executable)
    root = tmp_path / "project"
    for name in ("web/a.js", "web/a.d.ts", "web/demo/main.js", "worker/w.js", "worker/w.d.ts", "worker/bundle/x.js"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    place, pythons = Place(root=root), {"env": program.path}
    return Bench(place=place, folder=tmp_path, long=False, node=str(program.path), pythons=pythons), program


def test_every_check_runs_and_counts(tmp_path: Path) -> None:
    """A failed check does not hide the next one."""
    made, program = bench(tmp_path)
    program.plan(report="", codes={"ruff": 1, "--platform": 1})
    assert run_checks(made) == Counts(passed=3, failed=2)
    assert [call[1] if call[0] == "-m" else "tsc" for call in program.calls()] == ["ruff", "mypy", "mypy", "tsc", "tsc"]


def test_scripts_are_checked_beside_their_declarations(tmp_path: Path) -> None:
    """Each side lists its scripts and declarations by name, so that none hides the other."""
    made, _ = bench(tmp_path)
    run_checks(made)
    listed = {}
    for side in ("page", "worker"):
        config = json.loads((made.folder / f"tsconfig.{side}.json").read_text())
        listed[side] = [Path(path).relative_to(made.place.root).as_posix() for path in config["files"]]
    assert listed == {
        "page": ["web/a.d.ts", "web/a.js", "web/demo/main.js"],
        "worker": ["worker/w.d.ts", "worker/w.js"],
    }
