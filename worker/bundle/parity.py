"""The other column of the parity table: what langfun makes of the same answers, and why ours makes something else.

langfun executes what a model wrote. Only the fixed answers of the table are given to it, in a process and an empty
folder of their own, and only when somebody asks for it: no test does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from worker.bundle.outcome import CheckFailed
from worker.bundle.processes import run

Outcome: TypeAlias = str | dict[str, Any]
"""The code of an error, for langfun the names of its classes, or `{"value": …}`."""

_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer, what we make of it, and what langfun does; `reason` is the letter of why these differ.

    `type` and `answer` are those that langfun is given; None is the same as ours.
    """

    id: str
    protocol: str
    our_type: str
    our_answer: str
    ours: Outcome
    type: str | None
    answer: str | None
    langfun: Outcome
    reason: str | None

    @property
    def question(self) -> list[str]:
        """What langfun is asked."""
        return [self.protocol, self.type or self.our_type, self.our_answer if self.answer is None else self.answer]

    @property
    def differs(self) -> bool:
        """Whether the outcomes are not the same: one value and its types on both sides, or an error on both."""
        if isinstance(self.ours, str) or isinstance(self.langfun, str):
            return type(self.ours) is not type(self.langfun)
        return json.dumps(self.ours) != json.dumps(self.langfun)

    def line(self) -> str:
        """The difference for a person."""
        _, type, answer = self.question
        shown = answer if len(answer) <= 60 else f"{answer[:59]}…"
        return f"  {self.id:10} {type:18} {shown!r:64} {_shown(self.ours)}, langfun {_shown(self.langfun)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """The table: what is recorded of which langfun, and the reasons by their letters."""

    langfun: str
    reasons: Mapping[str, str]
    cases: tuple[Case, ...]

    def unexplained(self) -> list[str]:
        """The ids of cases that differ without a reason, or have one without a difference."""
        return [case.id for case in self.cases if case.differs is not (case.reason in self.reasons)]

    def report(self, before: "Parity") -> str:
        """Every difference below its reason, and what has changed since it was recorded before."""
        lines = []
        for letter, reason in self.reasons.items():
            lines += [f"{letter}: {reason}", *(case.line() for case in self.cases if case.reason == letter), ""]
        changed = [new.id for new, old in zip(self.cases, before.cases, strict=True) if new.langfun != old.langfun]
        same = sum(not case.differs for case in self.cases)
        return "\n".join(
            [
                *lines,
                f"langfun {self.langfun}: {len(self.cases)} answers, {same} with the same outcome, "
                f"{len(self.cases) - same} with another",
                f"changed since langfun {before.langfun}: {', '.join(changed) or 'nothing'}",
            ]
        )


def read_parity(folder: Path) -> Parity:
    """Read `parity.json` and `parity_langfun.json`; answers that only we were given are left out."""
    ours = {row[0]: row for row in json.loads((folder / "parity.json").read_text("utf-8"))}
    other = json.loads((folder / "parity_langfun.json").read_text("utf-8"))
    cases = []
    for id, type, answer, langfun, reason in other["answers"]:
        _, protocol, our_type, our_answer, outcome = ours[id]
        cases.append(
            Case(
                id=id,
                protocol=protocol,
                our_type=our_type,
                our_answer=our_answer,
                ours=outcome,
                type=type,
                answer=answer,
                langfun=langfun,
                reason=reason,
            )
        )
    return Parity(langfun=other["langfun"], reasons=other["reasons"], cases=tuple(cases))


def write_parity(parity: Parity, folder: Path) -> None:
    """Write `parity_langfun.json`, an answer per line."""
    rows = [[case.id, case.type, case.answer, case.langfun, case.reason] for case in parity.cases]
    answers = ",\n".join(map(json.dumps, rows))
    reasons = json.dumps(parity.reasons, indent=0, ensure_ascii=False)
    text = f'{{\n"langfun": {json.dumps(parity.langfun)},\n"reasons": {reasons},\n"answers": [\n{answers}\n]\n}}\n'
    (folder / "parity_langfun.json").write_text(text, "utf-8")


def asked_again(parity: Parity, python: Path, *, root: Path, folder: Path) -> Parity:
    """The table with what the langfun of `python` makes of its answers, run in `folder`, which is to be empty."""
    questions, out = folder / "questions.json", folder / "outcomes.json"
    questions.write_text(json.dumps([case.question for case in parity.cases]), "utf-8")
    command: list[str | Path] = [python, "-m", "tests.protocols.langfun_answers", questions, out]
    code = run(command, folder=folder, environment={"PYTHONPATH": str(root)}, seconds=_SECONDS)
    if code != 0 or not out.exists():
        raise CheckFailed(f"langfun came to no end with the answers of the parity table: exit code {code}")
    found = json.loads(out.read_text("utf-8"))
    cases = [replace(case, langfun=outcome) for case, outcome in zip(parity.cases, found["outcomes"], strict=True)]
    return replace(parity, langfun=found["langfun"], cases=tuple(cases))


def _shown(outcome: Outcome) -> str:
    return outcome if isinstance(outcome, str) else json.dumps(outcome["value"], ensure_ascii=False)
