"""Which endings are successes."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.delta import Finish
from langfx_web.llms.outcome import finish_reason, outcome
from langfx_web.messages import AIMessage, Text, ToolCall

CALL = ToolCall("x", "f", {})


def ended(finish: Finish | None, *parts: Any, refusal: str = "") -> errors.LMError | None:
    """The error of an answer of these parts, if it is one."""
    reason = finish_reason(finish, parts) if finish else None
    message = AIMessage(*parts, finish_reason=reason, raw_finish_reason=finish.raw if finish else None)
    return outcome(message, finish, refusal=refusal, has_output=bool(parts))


@pytest.mark.parametrize(
    ("word", "parts", "reason"),
    [("stop", [Text("a")], "stop"), ("tool_calls", [Text("a")], "stop"), ("stop", [CALL], "tool_calls")],
)
def test_calls_decide_whether_it_is_for_tools(word: Any, parts: list[Any], reason: str) -> None:
    """The provider's word for tool calls counts for nothing; calls being there does."""
    assert finish_reason(Finish(reason=word), parts) == reason


@pytest.mark.parametrize(
    ("finish", "parts", "kind"),
    [
        (Finish(reason="stop"), [Text("a")], None),
        (Finish(reason="stop"), [], errors.EmptyGenerationError),
        (Finish(reason="pause"), [], None),
        (Finish(reason="other", raw="new"), [Text("a")], None),
        (Finish(reason="other", raw="new"), [CALL], None),
        (Finish(reason="other", raw="new"), [], errors.IncompleteGenerationError),
        (Finish(reason="other", raw="queued", failure="unfinished"), [Text("a")], errors.IncompleteGenerationError),
        (Finish(reason="length"), [Text("a"), CALL], errors.IncompleteGenerationError),
        (Finish(reason="length", failure="context"), [Text("a")], errors.ContextLimitError),
        (Finish(reason="content_filter"), [Text("a")], errors.ContentFilteredError),
        (Finish(reason="malformed"), [], errors.MalformedGenerationError),
        (None, [Text("a")], errors.IncompleteGenerationError),
    ],
)
def test_each_ending_is_a_success_or_one_error(finish: Finish | None, parts: list[Any], kind: Any) -> None:
    """Only answers that came to their own end, with something in them, are successes."""
    error = ended(finish, *parts)
    assert (None if error is None else type(error)) is kind
    if error is not None and finish is not None:
        assert error.finish_reason == finish.reason
        assert error.raw_finish_reason == finish.raw


def test_only_chance_endings_are_worth_another_try() -> None:
    """An empty or malformed answer may go better; an output limit or refusal will not."""
    assert ended(Finish(reason="stop")).retryable  # type: ignore[union-attr]
    assert ended(Finish(reason="malformed")).retryable  # type: ignore[union-attr]
    assert not ended(Finish(reason="length"), Text("a")).retryable  # type: ignore[union-attr]
    assert not ended(Finish(reason="content_filter")).retryable  # type: ignore[union-attr]


def test_the_words_of_a_refusal_are_kept() -> None:
    """A refusal's own words are on the error, also where the ending itself does not say refusal."""
    for finish in (Finish(reason="content_filter"), Finish(reason="stop")):
        error = ended(finish, Text("a"), refusal="I will not")
        assert isinstance(error, errors.ContentFilteredError)
        assert (error.refusal, "I will not" in str(error)) == ("I will not", True)
