"""The tiers of `build.py test`, cheapest first."""

import os
import time
from collections.abc import Callable, Sequence

from worker.bundle.bench import Bench
from worker.bundle.browsers import need_other_engines
from worker.bundle.checks import run_checks
from worker.bundle.counts import Counts, junit_counts, tap_counts
from worker.bundle.outcome import CannotRun

SIDE_BY_SIDE = ("--numprocesses=2", "--dist=loadfile")
"""The tests of one file stay together, in order."""

ENGINE_BY_ENGINE = ("--numprocesses=2", "--dist=loadgroup")
"""Each engine has a process of its own."""


def default_tiers() -> list[str]:
    """All tiers; without `engines`, and saying so, where its browsers cannot be had.

    Raises `CannotRun` if that is so where `CI` is `true`: there nothing may be left out unseen.
    """
    try:
        need_other_engines()
    except CannotRun as error:
        if os.environ.get("CI") == "true":
            raise
        print(f"the tier engines is left out: {error}", flush=True)
        return [name for name in TIERS if name != "engines"]
    return list(TIERS)


def run_tiers(bench: Bench, names: Sequence[str]) -> Counts:
    """Run those tiers that `names` has, one after the other, and print how long each took."""
    total = Counts()
    for name, tier in TIERS.items():
        if name not in names:
            continue
        print(f"== {name}", flush=True)
        started = time.monotonic()
        counts = tier(bench)
        print(f"== {name}: {counts.passed} good, {counts.failed} bad, {time.monotonic() - started:.1f} s", flush=True)
        total += counts
    return total


def _host(bench: Bench) -> Counts:
    elsewhere = [f"--ignore=tests/{name}" for name in ("pyodide", "browser", "engines")]
    return _pytest(bench, "env", "host", ["tests", *elsewhere, *SIDE_BY_SIDE])


def _js(bench: Bench) -> Counts:
    files = sorted((bench.place.root / "tests" / "js").rglob("*.test.js"))
    if not files:
        return Counts()
    report = bench.folder / "js.tap"
    reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"]
    reporters += ["--test-reporter=tap", f"--test-reporter-destination={report}"]
    return tap_counts(report, bench.run([bench.node, "--test", "--test-timeout=60000", *reporters, *files]))


def _pyodide(bench: Bench) -> Counts:
    """Most tests run in Node's Pyodide, those marked `chrome` in Chromium's."""
    common = ["tests/pyodide", "-c", "tests/pyodide/pytest.ini", "--rootdir=."]
    common.append(f"--dist-dir={bench.folder / 'pyodide'}")
    node, chrome = [*common, "--rt=node"], [*common, "--rt=chrome", "--runner=playwright"]
    in_node = _pytest(bench, "env-pyodide", "pyodide-node", node, marks="not chrome")
    return in_node + _pytest(bench, "env-pyodide", "pyodide-chrome", chrome, marks="chrome")


def _browser(bench: Bench) -> Counts:
    return _pytest(bench, "env", "browser", ["tests/browser", *SIDE_BY_SIDE])


def _engines(bench: Bench) -> Counts:
    return _pytest(bench, "env", "engines", ["tests/engines", *ENGINE_BY_ENGINE, "--durations=10"])


def _pytest(bench: Bench, environment: str, name: str, arguments: list[str], *, marks: str = "") -> Counts:
    if not (bench.place.root / arguments[0]).exists():
        return Counts()
    report = bench.folder / f"{name}.xml"
    wanted = " and ".join(filter(None, [marks, "" if bench.long else "not long"]))
    options = ["-q", "-m", wanted, "-o", f"cache_dir={bench.place.work / 'pytest'}", f"--junit-xml={report}"]
    return junit_counts(report, bench.run([bench.pythons[environment], "-m", "pytest", *arguments, *options]))


TIERS: dict[str, Callable[[Bench], Counts]] = {
    "check": run_checks,
    "host": _host,
    "js": _js,
    "pyodide": _pyodide,
    "browser": _browser,
    "engines": _engines,
}
