"""How many tests passed and failed, as the programs that ran them report it."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

_PYTEST_FOUND_NO_TEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Passed and failed tests; a program that broke down counts as one failed test."""

    passed: int = 0
    failed: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(passed=self.passed + other.passed, failed=self.failed + other.failed)


def junit_counts(report: Path, exit_code: int) -> Counts:
    """What pytest's JUnit report and exit code say; a skipped test is neither passed nor failed."""
    if not report.exists():
        return Counts(failed=1)
    suites = list(ElementTree.parse(report).iter("testsuite"))
    total, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    )
    broke_down = exit_code not in {0, _PYTEST_FOUND_NO_TEST}
    return Counts(passed=total - failures - errors - skipped, failed=max(failures + errors, int(broke_down)))


def tap_counts(report: Path, exit_code: int) -> Counts:
    """What the closing lines of Node's TAP report and its exit code say."""
    text = report.read_text("utf-8") if report.exists() else ""
    found = {name: int(number) for name, number in re.findall(r"^# (pass|fail|cancelled) (\d+)$", text, re.MULTILINE)}
    failed = found.get("fail", 0) + found.get("cancelled", 0)
    return Counts(passed=found.get("pass", 0), failed=max(failed, int(exit_code != 0)))
