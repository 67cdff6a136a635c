"""The corpus is read as a whole, and where it has to be there it is."""

from __future__ import annotations

import csv

import pytest

from tests.llms.corpus import CORPUS, require
from tests.llms.test_corpus import ITEMS as MESSAGES
from tests.llms.test_corpus_chat import ITEMS as CHAT
from tests.llms.test_corpus_chat import QUIRKS as CHAT_QUIRKS
from tests.llms.test_corpus_gemini import ITEMS as GEMINI
from tests.llms.test_corpus_gemini import QUIRKS as GEMINI_QUIRKS
from tests.llms.test_corpus_responses import ITEMS as RESPONSES
from tests.llms.test_corpus_responses import QUIRKS as RESPONSES_QUIRKS

ALL = [*MESSAGES, *RESPONSES, *CHAT, *GEMINI]


def test_providers_01_no_recorded_answer_is_left_out() -> None:
    """What the corpus lists is what the four suites read, each item once."""
    require(ALL)
    with (CORPUS / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row["file"] for row in csv.DictReader(file, delimiter="\t")]
    assert sorted(item.name for item in ALL) == sorted(listed)
    assert len(listed) == 294


def test_no_self_written_answer_is_left_out() -> None:
    """Nor one of the shapes that few servers send."""
    require(ALL)
    read = {item.name for item in (*CHAT_QUIRKS, *GEMINI_QUIRKS, *RESPONSES_QUIRKS)}
    read |= {f"_quirks/{name}.sse" for name in ("a1-anthropic-error-event", "a2-anthropic-truncated")}
    bodies = [path for path in (CORPUS / "_quirks").iterdir() if path.suffix in (".sse", ".json")]
    assert read == {f"_quirks/{path.name}" for path in bodies if not path.name.endswith(".expected.json")}


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_in_ci_a_missing_corpus_is_a_failure(monkeypatch, ci: str, outcome: type[BaseException]) -> None:
    """A clone without it skips what needs it; where everything has to be proved nothing may be skipped."""
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="corpus is not at"):
        require([])
    require(["an item"])
