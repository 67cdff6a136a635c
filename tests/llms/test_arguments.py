"""Arguments of tool calls as models write them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.llms.arguments import read_arguments


@pytest.mark.parametrize("written", ["", "  \n", "null", None, "{}", {}])
def test_bug_024_nothing_is_an_empty_object(written: object) -> None:
    """A tool without parameters may be called with no text at all."""
    assert read_arguments(written) == {}


@pytest.mark.parametrize(
    ("written", "args"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        (' \n{"a": [1, {"b": null}]} ', {"a": [1, {"b": None}]}),
        ('"{\\"questions\\": [], \\"code\\": \\"x\\"}"', {"questions": [], "code": "x"}),
        ('{"title": "Kid\\\'s \\\'best\\\' book"}', {"title": "Kid's 'best' book"}),
        ('{"s": "tab\\tquote\\"end\\u00e9"}', {"s": 'tab\tquote"end\u00e9'}),
        ('{"s": "\\\\\\\'"}', {"s": "\\'"}),
    ],
)
def test_an_object_is_read_in_every_form_that_loses_nothing(written: object, args: dict[str, Any]) -> None:
    """Text, object, JSON inside a JSON string, and escaped apostrophes all give the object that was meant."""
    assert read_arguments(written) == args


@pytest.mark.parametrize(
    "written",
    [
        '{"a":',
        '{"path":"a.txt","content":"li',
        "[1]",
        "5",
        '"text"',
        '"\\"{}\\""',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"pattern": "\\d+\\.txt", "dir": "C:\\data"}',
        "[" * 5000 + "]" * 5000,
        [1],
        7,
    ],
)
def test_bug_027_bug_030_anything_else_is_never_repaired(written: object) -> None:
    """Cut text, bad escapes, other values and numbers that JSON lacks give no arguments, and never `{}`."""
    assert read_arguments(written) is None


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())))
def test_what_is_valid_is_never_changed(args: dict[str, Any]) -> None:
    """Valid JSON comes back as it is, with backslashes and quotes of all kinds inside."""
    assert read_arguments(json.dumps(args)) == args
    assert read_arguments(json.dumps(json.dumps(args))) == args
