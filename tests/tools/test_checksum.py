"""Equal calls have equal checksums, in every language."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfx_web.messages import ToolCall
from langfx_web.tools import call_checksum, canonical_json, checksum

GOLDEN = [
    ({"query": "hello"}, "search", "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e"),
    ({}, "search", "43c45f159e6bc444fb3a7f726001d821ef9ffac6fc431d67127709db92b65219"),
    ({"a": "1", "b": "2"}, "t", "1128b560b78e25e2fd2da1dbecd02b97519dd3ff3c96c84e62f43bded6b42119"),
    (
        {"callId": "tc-1", "flags": "i", "pattern": "^a"},
        "artifact_grep",
        "abacca9e3e0b75847c25df041ac2a15eb854860c79e702941554452f5ed1e800",
    ),
    (
        {"10": 5, "9": 6, "B": 4, "a": 3, "😀": 1, "～": 2},  # noqa: RUF001
        "t",
        "fe8ac649e21942725d1897a0c916fdb8a67adb489343ced3c702eccaccff3d92",
    ),
    (
        {"u": 123456789.125, "v": 1e16, "w": 0.1, "x": 1e21, "y": 1e-7, "z": -0.0},
        "t",
        "b49c0b09e13d9fb689dedb7a82ce33e82c4b14721627ea21ccb92bf102090f1d",
    ),
    (
        {"l": [True, False, 'ü\n"\u2028\u007f'], "n": None, "s": "\ud83d"},
        "t",
        "bae359efa823c5baca97f40ea0eeb9e27d5183c2eaad54ca1a0e58ff43622e93",
    ),
]


@pytest.mark.parametrize(("args", "tool", "digest"), GOLDEN)
def test_golden(args, tool, digest) -> None:
    """The published sums."""
    assert checksum(tool, args) == digest


def test_unreadable_arguments_count_as_their_text() -> None:
    """Two unreadable calls differ if their texts do."""
    assert call_checksum(ToolCall("1", "t", None, raw_args='{"a"')) == checksum("t", '{"a"')
    assert call_checksum(ToolCall("1", "t", {"a": 1})) == checksum("t", {"a": 1})


def test_special_numbers() -> None:
    """What JSON has no number for is null; big integers keep their digits."""
    assert canonical_json([float("nan"), float("inf"), -1.5e-9, 2**70, 1e300]) == (
        "[null,null,-1.5e-9,1180591620717411303424,1e+300]"
    )


REFERENCE = """
let text = "";
const canonical = (value) =>
  Array.isArray(value) ? `[${value.map(canonical).join(",")}]`
  : typeof value !== "object" || value === null ? JSON.stringify(value)
  : `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
process.stdin.on("data", (data) => (text += data));
process.stdin.on("end", () => process.stdout.write(JSON.stringify(JSON.parse(text).map(canonical))));
"""

LETTERS = st.one_of(st.characters(), st.sampled_from('"\\\n\x1f\x7f\u2028\ud83d\ude00\uffee😀a'))
TEXTS = st.lists(LETTERS, max_size=6).map("".join)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=8
)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@settings(max_examples=8, deadline=None)
@given(st.lists(st.one_of(VALUES, st.floats(allow_nan=False, allow_infinity=False)), min_size=100, max_size=200))
def test_values_are_written_as_javascript_writes_them(values: list[Any]) -> None:
    """Every number, text and order of keys is the same on both sides, lone halves of characters included."""
    result = subprocess.run(
        ["node", "-e", REFERENCE], input=json.dumps(values), capture_output=True, text=True, check=True, timeout=60
    )
    assert [canonical_json(value) for value in json.loads(json.dumps(values))] == json.loads(result.stdout)


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_the_order_of_keys_is_of_no_matter(args: dict[str, Any]) -> None:
    """And another tool's call, or another argument, is another call."""
    again = dict(reversed(args.items()))
    assert checksum("t", args) == checksum("t", again)
    assert checksum("u", args) != checksum("t", args)
    assert checksum("t", {**args, "one more": 1}) != checksum("t", args) or args.get("one more") == 1
