"""What a conversation remembers of a message id."""

from __future__ import annotations

import pytest

from langfx_web.durable.registration import Outcome, Registration
from langfx_web.errors import JournalInvalidError
from langfx_web.events import ErrorInfo, TurnEnd
from langfx_web.usage import Usage

FAILED = Outcome(
    stop_reason="error",
    usage=Usage(input_tokens=3),
    error=ErrorInfo(name="E", message="half \ud83d", code="c", retryable=True),
    epoch=4,
    lines=7,
)


@pytest.mark.parametrize(
    "registration",
    [
        Registration(type="prompt", nonce="w:1"),
        Registration(type="prompt", nonce="w:1", cursor=12, outcome=Outcome(stop_reason="end_turn", epoch=1, lines=2)),
    ],
)
def test_it_is_read_as_it_was_written(registration: Registration) -> None:
    """Nothing is lost in the text that a store keeps."""
    assert Registration.from_text(registration.to_text()) == registration


def test_an_error_is_kept() -> None:
    """Usage and error of a failed turn come back; half a surrogate pair becomes U+FFFD, as everywhere."""
    read = Registration.from_text(Registration(type="prompt", nonce="n", outcome=FAILED).to_text()).outcome
    assert read is not None
    assert (read.usage, read.lines, read.epoch) == (FAILED.usage, 7, 4)
    assert read.error == ErrorInfo(name="E", message="half �", code="c", retryable=True)


def test_an_outcome_as_an_event() -> None:
    """A repeat of an ended turn shows the same end, marked."""
    event = FAILED.as_event(repeated=True)
    assert event == TurnEnd(stop_reason="error", usage=FAILED.usage, error=FAILED.error, repeated=True)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"type":"prompt"}', '{"type":"p","nonce":"n","cursor":0,"outcome":1}']
)
def test_damage_is_noticed(text: str) -> None:
    """A text that is none of ours is `journal_invalid`."""
    with pytest.raises(JournalInvalidError):
        Registration.from_text(text)
