"""Recording what langfun makes of the answers of the parity table, with a stand-in for langfun."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from worker.bundle.outcome import CheckFailed
from worker.bundle.parity import Case, Parity, asked_again, read_parity, write_parity

TABLE = Path(__file__).parents[1] / "protocols"
ONE = {"value": 1}

# Calls every answer it is asked about a value of 7, if it finds itself in an empty folder.
LANGFUN = """
import json, os, pathlib, sys
questions, out = map(pathlib.Path, sys.argv[1:])
assert os.listdir() == ["questions.json"]
asked = json.loads(questions.read_text())
out.write_text(json.dumps({"langfun": "2", "outcomes": [{"value": [7, *question]} for question in asked]}))
"""


def case(**changes: object) -> Case:
    """An answer that both read as 1."""
    same = Case(
        id="x-1",
        protocol="json",
        our_type="int",
        our_answer="1",
        ours=ONE,
        type=None,
        answer=None,
        langfun=ONE,
        reason=None,
    )
    return replace(same, **changes)  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize(
    ("ours", "langfun", "differs"),
    [
        (ONE, ONE, False),
        ("output_syntax", "MappingError>CodeError", False),
        ("output_syntax", ONE, True),
        (ONE, "MappingError", True),
        (ONE, {"value": True}, True),
    ],
)
def test_outcomes_are_values_with_types_or_errors(ours: object, langfun: object, differs: bool) -> None:
    """Which error it is does not matter; what a value is does."""
    assert case(ours=ours, langfun=langfun).differs is differs


def test_a_difference_needs_a_reason_and_a_reason_a_difference() -> None:
    """Both are found by the ids."""
    cases = [case(id="a", reason="E"), case(id="b", langfun="TypeError"), case(id="c", langfun="TypeError", reason="E")]
    parity = Parity(
        langfun="1", reasons={"E": "ours is data"}, cases=(*cases, case(id="d", langfun="Error", reason="?"))
    )
    assert parity.unexplained() == ["a", "b", "d"]


def test_the_table_is_written_as_it_was_read(tmp_path: Path) -> None:
    """Recording the same again changes no byte."""
    (tmp_path / "parity.json").write_bytes((TABLE / "parity.json").read_bytes())
    write_parity(read_parity(TABLE), tmp_path)
    assert (tmp_path / "parity_langfun.json").read_bytes() == (TABLE / "parity_langfun.json").read_bytes()


def test_langfun_is_asked_in_its_own_words(tmp_path: Path) -> None:
    """With its own type and answer where the table has some, elsewhere than where the sources are."""
    root, folder = _langfun(tmp_path, LANGFUN)
    before = Parity(
        langfun="1", reasons={"D": "alone"}, cases=(case(), case(id="x-2", type="num", answer="[1]", reason="D"))
    )
    found = asked_again(before, Path(sys.executable), root=root, folder=folder)
    assert found.langfun == "2"
    outcomes = [case.langfun for case in found.cases]
    assert outcomes == [{"value": [7, "json", "int", "1"]}, {"value": [7, "json", "num", "[1]"]}]
    report = found.report(before).splitlines()
    assert report[0] == "D: alone"
    assert "x-2" in report[1]
    assert report[-1] == "changed since langfun 1: x-1, x-2"


def test_a_langfun_that_dies_leaves_the_table(tmp_path: Path) -> None:
    """Its exit code is told."""
    root, folder = _langfun(tmp_path, "raise SystemExit(3)")
    with pytest.raises(CheckFailed, match="exit code 3"):
        asked_again(Parity(langfun="1", reasons={}, cases=(case(),)), Path(sys.executable), root=root, folder=folder)


def _langfun(tmp_path: Path, program: str) -> tuple[Path, Path]:
    """A root with a stand-in for the program that asks langfun, and an empty folder."""
    (tmp_path / "root" / "tests" / "protocols").mkdir(parents=True)
    (tmp_path / "root" / "tests" / "protocols" / "langfun_answers.py").write_text(program)
    (tmp_path / "empty").mkdir()
    return tmp_path / "root", tmp_path / "empty"


def test_answers_of_ours_alone_are_not_given_to_langfun() -> None:
    """The table has answers that were never meant for it, hostile ones among them."""
    asked = {case.id for case in read_parity(TABLE).cases}
    ours = {row[0] for row in json.loads((TABLE / "parity.json").read_text("utf-8"))}
    assert ours - asked == {id for id in ours if id.startswith("own-")}
