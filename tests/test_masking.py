"""Keys are hidden wherever they turn up in a text."""

from __future__ import annotations

import pytest

from langfx_web.masking import masked, said_by


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("key sk-ant-api03-AbC_d.9 refused", "key *** refused"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("?key=AIzaSyA-123456", "?key=***"),
        ("the task-force asked", "the task-force asked"),
        ("", ""),
    ],
)
def test_what_is_shaped_like_a_key(text: str, hidden: str) -> None:
    """Known prefixes, and whatever follows `Bearer`."""
    assert masked(text) == hidden


def test_known_secrets_are_hidden_wherever_they_stand() -> None:
    """Unless they are so short that they would hide ordinary words."""
    assert masked("x=hunter22;hunter22", ["hunter22", "x"]) == "x=***;***"


def test_what_an_exception_says_of_itself() -> None:
    """Masked; one that cannot say anything is no trouble."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert said_by(ValueError("key sk-ant-api03-AbC")) == "key ***"
    assert said_by(Mute()) == ""
