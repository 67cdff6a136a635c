"""Two paths, one meaning: what the language's own parser reads, the tolerant reader reads the same, in any pieces."""

from __future__ import annotations

import builtins
import contextlib
import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langfx_web.errors import OutputValidationError
from langfx_web.events import FieldEnd, StringFieldDelta
from langfx_web.protocols import protocol
from langfx_web.protocols.json_reader import JSONReader
from langfx_web.protocols.json_tree import strict_tree
from langfx_web.protocols.limits import DEFAULT_LIMITS
from langfx_web.protocols.python_extent import extent
from langfx_web.protocols.python_reader import PythonReader
from langfx_web.protocols.python_tree import Walk, parsed
from langfx_web.protocols.shape import Shape
from langfx_web.protocols.tolerant import TolerantReader
from tests.protocols.wanted import ANYTHING, NOTES, events, pieces

SHAPE = Shape(classes=NOTES.classes, enums=frozenset(NOTES.enums), root_kinds=ANYTHING)

BLANKS = st.sampled_from(["", "", "", " ", "\n", "\t", " # it's, (so\n", "\\\n"])
"""What may stand between tokens inside brackets."""

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["it's", '"', "\\", "\\d", "\ud83d\ude00", "```", "#", "a, b", "\r\n", "'''"]
)


@st.composite
def literals(draw: st.DrawFn) -> str:
    """One string as Python may write it: either quote, once or three times, raw, in parts."""
    text = draw(TEXTS)
    way = draw(st.sampled_from(["repr", "ascii", "double", "triple", "raw", "parts", "plus", "bytes", "u"]))
    match way:
        case "ascii":
            return ascii(text)
        case "double":
            return json.dumps(text)
        case "triple":
            return "'''" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\0", "") + "'''"
        case "raw" if text.isalnum():
            return f"r'\\{text}'"
        case "parts":
            return f"({text!r}{draw(BLANKS)} {draw(TEXTS)!r})"
        case "plus":
            return f"({text!r}{draw(BLANKS)}+{draw(BLANKS)}{draw(TEXTS)!r})"
        case "bytes":
            return repr(text.encode("utf-8", "replace"))
        case "u":
            return "u" + repr(text)
    return repr(text)


NUMBERS = st.one_of(
    st.integers().map(str),
    st.integers(min_value=0).map(hex),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1_000", "0b1_0", "0o17", "00", "1.", ".5", "1e5", "1E+5", "- 1", "+1.5e-3"]),
)
SCALARS = st.one_of(NUMBERS, literals(), st.sampled_from(["True", "none", "None", "null", "UNKNOWN", "Color.RED"]))


@st.composite
def python_texts(draw: st.DrawFn, depth: int = 3) -> str:
    """A value in the grammar of the python protocol, or nearly so."""
    kind = draw(st.sampled_from(["scalar", "list", "tuple", "set", "dict", "call", "group"] if depth else ["scalar"]))
    if kind == "scalar":
        return draw(SCALARS)
    members = [draw(python_texts(depth=depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    comma = draw(st.sampled_from([",", "", " ,\n"])) if members else ""
    between = [draw(BLANKS) + member + draw(BLANKS) for member in members]
    match kind:
        case "list":
            return f"[{','.join(between)}{comma}]"
        case "tuple":
            return f"({','.join(between)}{',' if len(members) == 1 else comma})"
        case "set":
            return f"{{{','.join(between)}{comma}}}"
        case "dict":
            keys = [draw(SCALARS) for _ in members]
            pairs = [f"{key}{draw(BLANKS)}:{value}" for key, value in zip(keys, between, strict=True)]
            return f"{{{','.join(pairs)}{comma}}}"
        case "call":
            named = [f"f{index}{draw(BLANKS)}={value}" for index, value in enumerate(between)]
            return f"Note({','.join(between[:1] + named[1:])}{comma})"
    return f"({between[0]})" if between else "()"


def tolerant(reader: TolerantReader, parts: Any) -> Any:
    for part in parts:
        reader.feed(part)
    reader.finish()
    if reader.error is not None:
        raise reader.error
    return reader.value


def python_reader() -> PythonReader:
    return PythonReader(SHAPE, fence="", limits=DEFAULT_LIMITS, loud=False)


@settings(max_examples=300, deadline=None)
@given(python_texts())
def test_langfx_20_what_python_parses_is_read_the_same_by_the_tolerant_reader(text: str) -> None:
    """Every text that the fast path accepts has the same value in the tolerant reader, whole and by character."""
    end = extent(text, fence="", limits=DEFAULT_LIMITS)
    module = parsed(text) if end == len(text) else None
    if module is None:
        return
    try:
        value = Walk(text, SHAPE).answer(module, is_fenced=False)
    except OutputValidationError:
        return
    assert repr(tolerant(python_reader(), [text])) == repr(value)
    assert repr(tolerant(python_reader(), text)) == repr(value)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(JSON_VALUES, st.sampled_from([None, 1]), st.booleans())
def test_json_of_any_value_is_read_the_same_by_both_readers(value: Any, indent: int | None, is_ascii: bool) -> None:
    """Written by the standard library, compact or not, escaped or not, a value comes back from either path."""
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    found = tolerant(JSONReader(fence="", limits=DEFAULT_LIMITS, loud=False), text)
    strict = strict_tree(text, limits=DEFAULT_LIMITS)
    assert strict is None or repr(strict[0]) == repr(found)
    assert strict is not None or "\\ud" in text
    assert found == value


PIECES_OF_TEXT = st.sampled_from(
    [
        *[
            "Note(",
            "text=",
            "'",
            '"',
            "'''",
            ",",
            ")",
            "[",
            "]",
            "{",
            "}",
            ":",
            "(",
            "=",
            "\n",
            "\n\n",
            " ",
            "#",
            "```",
            "~~~",
        ],
        *[
            "python\n",
            "\\",
            "\\u12",
            "\\ud83d",
            "\\N{",
            "1",
            ".",
            "e",
            "-",
            "+",
            "f'",
            "b'",
            "r",
            "Color.",
            "RED",
            "true",
        ],
        *[
            "output = ",
            "\r",
            "\0",
            "é",
            "\ud83d",
            "```python 1```",
            "lambda: ",
            "not ",
            "x",
            "\ufeff",
            "__class__",
            "0x",
            ";",
        ],
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES_OF_TEXT, max_size=14).map("".join), st.sampled_from(["python", "json"]), st.integers(1, 4))
def test_langfx_21_any_text_is_a_value_or_an_output_error(text: str, name: str, size: int) -> None:
    """No text, and no prefix of one, makes another exception; cut anywhere, a reader says the same of it."""
    with contextlib.suppress(OutputValidationError):
        protocol(name).tree(text, NOTES)
    whole = events([text], name=name)
    assert events(pieces(text, size), name=name) == whole
    for event in whole:
        if isinstance(event, (StringFieldDelta, FieldEnd)):
            repr(event).encode()


@settings(max_examples=100, deadline=None)
@given(st.text(), st.sampled_from(["python", "json"]))
def test_random_text_is_a_value_or_an_output_error(text: str, name: str) -> None:
    """Whatever a model writes, reading it ends in a value or an error of the tree."""
    try:
        protocol(name).tree(text, NOTES)
    except OutputValidationError as error:
        assert error.code.startswith("output_")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch canary')",
        "open('canary', 'w')",
        "exec('import os')",
        "print('x')",
        "Note(text=open('canary', 'w'))",
        "Note(text='a', **print('x'))",
        "[print(i) for i in range(3)]",
        "Note.__class__.__base__.__subclasses__()",
        "f'{print(1)}'",
        "Note(text=f'it's {print(1)}')",
        "@print\nclass Note: pass",
        "Note(text='it's', tags=print('x'))",
        "'%s' % print(1)",
    ],
)
def test_langfx_21_nothing_of_an_answer_is_run(text: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Files, imports, prints and builtins stay untouched by answers that are code, whole or streamed."""

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("an answer was run")

    for owner, name in ((builtins, "eval"), (builtins, "exec"), (builtins, "open"), (os, "system")):
        monkeypatch.setattr(owner, name, refuse)
    for name in ("python", "json"):
        with pytest.raises(OutputValidationError):
            protocol(name).tree(text, NOTES)
        events(pieces(text, 1), name=name)
    assert capsys.readouterr() == ("", "")


AROUND = [
    "{}",
    "```python\n{}\n```",
    "~~~json\n{}\n~~~~\nBye",
    "output = {}",
    "Hi:\n\n{}\n\nBye",
    "{}\n```\n",
    "```{}```",
    "{};",
]
"""What may stand around a value."""


@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["python", "json"]), st.sampled_from(AROUND))
def test_langfx_18_values_cut_anywhere_show_the_same(data: st.DataObject, name: str, around: str) -> None:
    """Random values, in fences and prose: by character, in pieces of any sizes, and whole."""
    if name == "python":
        value = data.draw(python_texts())
    else:
        value = json.dumps(data.draw(JSON_VALUES), indent=data.draw(st.sampled_from([None, 1])))
    answer = around.replace("{}", value)
    whole = events([answer], name=name)
    assert events(answer, name=name) == whole
    places = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=5)))
    cuts = [answer[start:end] for start, end in zip([0, *places], [*places, len(answer)], strict=True)]
    assert events(cuts, name=name) == whole
