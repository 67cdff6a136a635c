"""What benches report, and how they are run."""

import gzip
import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.bundle.stand_in import StandIn
from tests.bundle.tiny import Project, TinyToolchain
from worker.bundle.bench import Bench
from worker.bundle.benches import Report, measure
from worker.bundle.dist import write_dist
from worker.bundle.environments import Environment
from worker.bundle.outcome import CannotRun, CheckFailed
from worker.bundle.pins import read_pins
from worker.bundle.place import Place

# Makes an environment whose `python` succeeds at everything.
MAKER = """
import pathlib, sys
python = pathlib.Path(sys.argv[1]) / "bin" / "python"
python.parent.mkdir(parents=True)
python.write_text("#!/bin/sh\\n")
python.chmod(0o755)
"""


def report(found: float) -> Report:
    """One figure with both limits, and one without."""
    return Report(name="x", figures={"a_ratio": found, "a_ms": 3.0}, targets={"a_ratio": {"min": 0.25, "max": 0.5}})


@pytest.mark.parametrize(("found", "met"), [(0.2, False), (0.25, True), (0.5, True), (0.51, False)])
def test_a_target_is_met_from_limit_to_limit(found: float, met: bool) -> None:
    """Both limits are good; the verdict is in the table and in the JSON, which is one line."""
    assert report(found).met is met
    assert report(found).table().splitlines()[2].split()[-1] == ("yes" if met else "NO")
    assert json.loads(report(found).json()) == {
        "name": "x",
        "figures": {"a_ratio": found, "a_ms": 3.0},
        "targets": {"a_ratio": {"min": 0.25, "max": 0.5}},
        "met": met,
    }
    assert "\n" not in report(found).json()


def test_size_weighs_the_bundle(project: Project) -> None:
    """Every budget is a figure in megabytes with its limit."""
    dist = write_dist(project.place, project.pins, project.cache, project.toolchain)
    bench = Bench(place=project.place, folder=dist.parent, long=False, node="node", pythons={})
    found = measure("size", bench, TinyToolchain(), rounds=1)
    files = json.loads((dist / "manifest.json").read_text())["files"]
    runtime = next(dist.glob("runtime-*"))
    scripts = [(runtime / path).read_bytes() for path, entry in files.items() if entry["set"] == "page"]
    assert found.figures["page_scripts_mb"] == sum(len(gzip.compress(text, 9)) for text in scripts) / 1e6
    assert found.met
    assert set(found.targets) == set(found.figures)


def test_a_bench_that_dies_is_no_verdict(tmp_path: Path) -> None:
    """Its exit code is told."""
    program = StandIn(tmp_path / "bin", sys.executable)
    program.plan(report="", codes={"tests.bench.start": 3})
    bench = Bench(
        place=Place(root=tmp_path), folder=tmp_path, long=False, node="node", pythons={"env": Path(program.path)}
    )
    with pytest.raises(CheckFailed, match="start"):
        measure("start", bench, TinyToolchain(), rounds=1)


def test_queries_are_measured_beside_a_python_with_langfun(tmp_path: Path) -> None:
    """One of an environment of its own, which is made from the pins when it is first wanted."""
    made = tmp_path / ".build" / "env-langfun"
    maker = [sys.executable, "-c", MAKER]
    Environment(folder=made, requirements=read_pins().environments["env-langfun"], maker=maker).ensure()
    program = StandIn(tmp_path / "bin", sys.executable)
    bench = Bench(
        place=Place(root=tmp_path), folder=tmp_path, long=False, node="node", pythons={"env": Path(program.path)}
    )
    with pytest.raises(CheckFailed, match="query"):
        measure("query", bench, TinyToolchain(), rounds=2)
    assert program.calls() == [
        [
            "-m",
            "tests.bench.query",
            "--rounds=2",
            f"--out={tmp_path / 'query.json'}",
            f"--peer={made / 'bin' / 'python'}",
        ]
    ]


@pytest.mark.parametrize("name", ["stream", "loop"])
def test_a_bench_without_its_peer_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """No program is run beside a peer that npm does not give."""
    (tmp_path / "tests" / "bench").mkdir(parents=True)
    shutil.copytree(Path(__file__).parents[1] / "bench" / "peers", tmp_path / "tests" / "bench" / "peers")
    monkeypatch.setenv("PATH", "/nonexistent")
    bench = Bench(place=Place(root=tmp_path), folder=tmp_path, long=False, node="node", pythons={})
    with pytest.raises(CannotRun, match="peers"):
        measure(name, bench, TinyToolchain(), rounds=1)
