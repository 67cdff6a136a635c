"""Reasoning within the text of an answer."""

from __future__ import annotations

import pytest

from langfx_web.llms.openai_chat.think_tags import ThinkTags


def taken(*pieces: str) -> tuple[str, str]:
    """The thought and the text of an answer in pieces."""
    tags = ThinkTags()
    shown = [tags.feed(piece) for piece in pieces] + [tags.close()]
    return "".join(thought for thought, _ in shown), "".join(text for _, text in shown)


@pytest.mark.parametrize(
    ("answer", "thought", "text"),
    [
        ("<think>a<b</think>\n\n42", "a<b", "\n\n42"),
        (" \n<think></think>x</think>", "", "x</think>"),
        ("<think>never closed </thin", "never closed </thin", ""),
        ("<thing>x", "", "<thing>x"),
        ("<thi", "", "<thi"),
        ("x <think>y</think>", "", "x <think>y</think>"),
        ("", "", ""),
        ("  ", "", "  "),
    ],
)
def test_a_leading_tag_is_taken_apart_however_it_is_cut(answer: str, thought: str, text: str) -> None:
    """In one piece, in single characters, and cut at any two places; nothing is lost."""
    assert taken(answer) == taken(*answer) == (thought, text)
    for first in range(len(answer)):
        for second in range(first, len(answer)):
            assert taken(answer[:first], answer[first:second], answer[second:]) == (thought, text)
