"""The tiers, run with a stand-in for Python and Node."""

import sys
from pathlib import Path

import pytest

from tests.bundle.stand_in import StandIn
from worker.bundle.bench import Bench
from worker.bundle.counts import Counts
from worker.bundle.outcome import CannotRun
from worker.bundle.place import Place
from worker.bundle.tiers import TIERS, default_tiers, run_tiers

JUNIT = '<testsuites><testsuite tests="3" failures="1" errors="0" skipped="0"/></testsuites>'


@pytest.fixture
def program(tmp_path: Path) -> StandIn:
    """What the tiers call instead of Python and Node."""
    return StandIn(tmp_path / "bin", sys.executable)


def bench(tmp_path: Path, program: StandIn, *, long: bool = False) -> Bench:
    """A bench on a project that has a folder for each tier."""
    root = tmp_path / "project"
    for name in ("tests/js", "tests/pyodide", "tests/browser", "tests/engines", "run"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "tests/js/a.test.js").touch()
    (root / "tests/js/fakes.js").touch()
    pythons = dict.fromkeys(("env", "env-pyodide"), program.path)
    node = str(program.path)
    return Bench(place=Place(root=root), folder=root / "run", long=long, node=node, pythons=pythons)


def test_tiers_run_in_their_order_and_add_up(
    tmp_path: Path, program: StandIn, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever order they are asked for in, cheap tiers come first, and their counts are summed."""
    program.plan(report=JUNIT, codes={"pytest": 1})
    assert run_tiers(bench(tmp_path, program), ["browser", "host"]) == Counts(passed=4, failed=2)
    assert [call[2] for call in program.calls()] == ["tests", "tests/browser"]
    lines = capfd.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("== ") and "good" not in line] == ["== host", "== browser"]


def test_the_host_tier_leaves_the_browser_to_others(tmp_path: Path, program: StandIn) -> None:
    """Host tests are all tests but those that need a browser or Pyodide."""
    run_tiers(bench(tmp_path, program), ["host"])
    (call,) = program.calls()
    assert {"--ignore=tests/pyodide", "--ignore=tests/browser", "--ignore=tests/engines"} <= set(call)


@pytest.mark.parametrize(("long", "marks"), [(False, "not long"), (True, "")])
def test_long_tests_run_when_they_are_asked_for(tmp_path: Path, program: StandIn, long: bool, marks: str) -> None:
    """Tests that take minutes are left out unless `--long` is given."""
    run_tiers(bench(tmp_path, program, long=long), ["host"])
    (call,) = program.calls()
    assert call[call.index("-m", 2) + 1] == marks


def test_pyodide_tests_run_in_node_or_in_chromium(tmp_path: Path, program: StandIn) -> None:
    """A test runs once: in Chromium if it is marked `chrome`, else in Node."""
    run_tiers(bench(tmp_path, program), ["pyodide"])
    in_node, in_chromium = program.calls()
    assert "--rt=node" in in_node
    assert "not chrome and not long" in in_node
    assert "--rt=chrome" in in_chromium
    assert "chrome and not long" in in_chromium


def test_node_is_given_the_test_files(tmp_path: Path, program: StandIn) -> None:
    """The js tier runs files named `*.test.js` and counts from Node's own report."""
    program.plan(report="# pass 2\n# fail 0\n# cancelled 0\n", codes={})
    assert run_tiers(bench(tmp_path, program), ["js"]) == Counts(passed=2)
    (call,) = program.calls()
    assert [Path(part).name for part in call if part.endswith(".js")] == ["a.test.js"]


def test_a_run_without_report_has_failed(tmp_path: Path, program: StandIn) -> None:
    """A program that dies before it counts its tests is a failure."""
    program.plan(report="", codes={"pytest": 3})
    assert run_tiers(bench(tmp_path, program), ["host"]) == Counts(failed=1)


def test_all_tiers_are_known() -> None:
    """`build.py test` takes these names."""
    assert list(TIERS) == ["check", "host", "js", "pyodide", "browser", "engines"]


def test_engines_run_unasked_where_their_browsers_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name all tiers run."""
    for name in ("FIREFOX", "WEBKIT", "XVFB"):
        monkeypatch.setenv(f"LANGFX_{name}", sys.executable)
    assert default_tiers() == list(TIERS)


def test_engines_are_left_out_where_there_is_no_browser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That is said, with what to do; in CI nothing may be left out."""
    for name in ("FIREFOX", "WEBKIT", "XVFB"):
        monkeypatch.delenv(f"LANGFX_{name}", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CI", raising=False)
    assert default_tiers() == ["check", "host", "js", "pyodide", "browser"]
    assert "apt-get install firefox-esr webkit2gtk-driver xvfb" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    with pytest.raises(CannotRun, match="firefox-esr"):
        default_tiers()
