"""Counting tests from reports."""

from pathlib import Path

from worker.bundle.counts import Counts, junit_counts, tap_counts

JUNIT = '<testsuites><testsuite name="pytest" tests="9" failures="1" errors="2" skipped="3"/></testsuites>'
GOOD = '<testsuites><testsuite name="pytest" tests="4" failures="0" errors="0" skipped="1"/></testsuites>'


def written(tmp_path: Path, text: str) -> Path:
    """A report with the given text."""
    path = tmp_path / "report"
    path.write_text(text)
    return path


def test_junit_report(tmp_path: Path) -> None:
    """Errors count as failures; skipped tests count as neither."""
    assert junit_counts(written(tmp_path, JUNIT), 1) == Counts(passed=3, failed=3)
    assert junit_counts(written(tmp_path, GOOD), 0) == Counts(passed=3, failed=0)


def test_a_run_that_broke_down_has_failed(tmp_path: Path) -> None:
    """No report, or an exit code that no test explains, is a failure; finding no test is none."""
    assert junit_counts(tmp_path / "none", 3) == Counts(failed=1)
    assert junit_counts(tmp_path / "none", 0) == Counts(failed=1)
    assert junit_counts(written(tmp_path, GOOD), 2) == Counts(passed=3, failed=1)
    assert junit_counts(written(tmp_path, "<testsuites><testsuite tests='0'/></testsuites>"), 5) == Counts()
    assert tap_counts(tmp_path / "none", 1) == Counts(failed=1)


def test_tap_report(tmp_path: Path) -> None:
    """A cancelled test has failed."""
    text = "not ok 1 - # pass 77\n# tests 8\n# suites 1\n# pass 5\n# fail 2\n# cancelled 1\n# skipped 0\n# todo 0\n"
    assert tap_counts(written(tmp_path, text), 1) == Counts(passed=5, failed=3)


def test_counts_add_up() -> None:
    """Tiers are summed."""
    assert Counts(passed=1, failed=2) + Counts(passed=3) == Counts(passed=4, failed=2)
