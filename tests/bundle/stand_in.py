"""A program that stands in for the tools of the tiers: it notes how it was called and reports what it is told."""

import json
from pathlib import Path

# Beside the program lie `calls` (written) and `plan` (read): what to write as report, and the exit code.
_PROGRAM = """\
#!{python}
import json, pathlib, sys
here = pathlib.Path(__file__).parent
with (here / "calls").open("a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
plan = json.loads((here / "plan").read_text())
for option in sys.argv[1:]:
    name, _, path = option.partition("=")
    if name in ("--junit-xml", "--test-reporter-destination") and path != "stdout" and plan["report"]:
        pathlib.Path(path).write_text(plan["report"])
sys.exit(plan["codes"].get(next((word for word in plan["codes"] if word in sys.argv), ""), 0))
"""


class StandIn:
    """The program in `folder`; `report` is what it writes, `codes` are exit codes by a word of the command."""

    def __init__(self, folder: Path, python: str) -> None:
        folder.mkdir()
        self.path = folder / "program"
        self.path.write_text(_PROGRAM.format(python=python))
        self.path.chmod(0o755)
        self.plan(report="", codes={})

    def plan(self, *, report: str, codes: dict[str, int]) -> None:
        """Say what the next calls do."""
        self.path.with_name("plan").write_text(json.dumps({"report": report, "codes": codes}))

    def calls(self) -> list[list[str]]:
        """The arguments of all calls."""
        calls = self.path.with_name("calls")
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []
