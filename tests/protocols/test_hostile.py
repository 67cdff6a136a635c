"""Texts made to hurt: work stays in proportion to their length, and the stack is never at stake."""

from __future__ import annotations

import contextlib
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from langfx_web.errors import OutputValidationError
from langfx_web.protocols import ParseLimits, protocol
from langfx_web.protocols.limits import DEFAULT_LIMITS
from langfx_web.protocols.python_extent import extent
from tests.protocols.wanted import NOTES, Names, pieces

ROWS = Names({"Doc": ("rows",), "Row": ("i", "t")}, root_kinds={"object"})


def steps(work: Callable[[], object]) -> int:
    """Lines of Python that the work runs, and functions that it calls."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return count


def stream(name: str, wanted: Any, parts: Iterable[str]) -> None:
    reader = protocol(name).reader(wanted)
    for part in parts:
        reader.feed(part)
    reader.finish()


def stream_in_pieces(name: str, wanted: Any, text: str) -> None:
    stream(name, wanted, pieces(text, 8))


def read(name: str, wanted: Any, text: str) -> None:
    with contextlib.suppress(OutputValidationError):
        protocol(name).tree(text, wanted)


WORKLOADS: dict[str, tuple[str, Any, Callable[[int], str]]] = {
    "one long string": ("json", NOTES, lambda n: json.dumps({"path": "a", "content": "line \u00e9\n" * n})),
    "many objects": ("json", NOTES, lambda n: json.dumps({"edits": [{"i": i, "t": "x" * 8} for i in range(n // 8)]})),
    "deep": ("json", NOTES, lambda n: json.dumps({"a": {"b": {"c": {"d": ["y" * n]}}}})),
    "calls": (
        "python",
        ROWS,
        lambda n: f"Doc(rows=[{', '.join(f'Row(i={i}, t={chr(39)}zz{chr(39)})' for i in range(n // 8))}])",
    ),
    "quotes": ("python", NOTES, lambda n: f"Note(text='{f'it{chr(39)}s ' * n}')"),
    "blanks after quotes": ("python", NOTES, lambda n: "Note(text='a'" + " " * n + "b')"),
    "escapes": ("python", NOTES, lambda n: "Note(text='" + "\\u00e9\\N{DASH}" * n + "', 'it's')"),
    "parts": ("python", NOTES, lambda n: "Note(text=" + "'a' + " * n + "'b', it's)"),
    "groups": ("python", NOTES, lambda n: "[" + "(('a'), 'b')," * n + "it's]"),
    "prose": ("python", ROWS, lambda n: "Some words, and name: so\n" * n),
    "one line of prose": ("python", ROWS, lambda n: "words " * n),
    "brackets in prose": ("json", NOTES, lambda n: "{ [ " * n),
    "backticks": ("python", NOTES, lambda n: "`` " * n),
    "a long fence": ("python", NOTES, lambda n: "`" * n),
    "a long info string": ("python", NOTES, lambda n: "```" + "x" * n),
    "a long number": ("python", NOTES, lambda n: "[" + "1" * n),
    "exponents": ("json", NOTES, lambda n: "[" + "1e+" * n),
    "a long name": ("python", NOTES, lambda n: "[" + "x" * n),
    "a long member": ("python", NOTES, lambda n: "[Color." + "x" * n),
    "an annotation": ("python", NOTES, lambda n: "x: " + "y" * n),
    "comments": ("python", NOTES, lambda n: "[" + "# x\n" * n + "1]"),
    "open triple quotes": ("python", NOTES, lambda n: "['''" + "''\\" * n),
    "operators": ("python", NOTES, lambda n: "[" + "- " * n),
    "signs": ("python", NOTES, lambda n: "[" + "- 1, " * n + "]"),
    "blank lines": ("python", NOTES, lambda n: "Note()\n" + "\n" * n + "x" * n),
}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_bug_087_work_grows_with_the_text_alone(workload: str) -> None:
    """Twice the text is at most two and a half times the steps, read whole and in 8-character pieces."""
    name, wanted, make = WORKLOADS[workload]
    texts = [make(1000), make(2000)]
    assert len(texts[1]) < 2.2 * len(texts[0])
    for work in (read, stream_in_pieces):
        small, large = [steps(partial(work, name, wanted, text)) for text in texts]
        assert large <= 2.5 * small + 50


@pytest.mark.parametrize("workload", ["one long string", "many objects", "calls", "quotes", "prose", "a long number"])
def test_bug_087_memory_is_a_small_multiple_of_the_text(workload: str) -> None:
    """While an answer arrives and its events are dropped, a reader keeps at most four times the text, and its tree."""
    name, wanted, make = WORKLOADS[workload]
    text = make(20_000)
    parts = list(pieces(text, 8))
    stream(name, wanted, parts)
    tracemalloc.start()
    try:
        stream(name, wanted, parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Small objects cost their headers: some 500 bytes for an object of two fields.
    assert peak <= 4 * len(text) + 60 * text.count(",") * 10 + 20_000


HOSTILE = {
    "not": "not " * 5000 + "1",
    "minus": "-" * 100_000 + "1",
    "tilde": "~" * 100_000 + "1",
    "lambda": "lambda a,b: " * 5000 + "1",
    "conditional": "1 if 1 else " * 5000 + "1",
    "power": "1" + "**1" * 5000,
    "shifts": "1" + " << 1" * 50_000,
    "shifts in brackets": "[1" + " >> 1" * 50_000 + "]",
    "attributes": "a" + ".a" * 100_000,
    "attributes with commas": "f" + ".a(1,2)" * 5000,
    "calls": "f" + "()" * 5000,
    "subscripts": "f" + "[0]" * 5000,
    "elif": "if 1: pass\n" + "elif 1: pass\n" * 5000,
    "indents": "".join(" " * level + "if 1:\n" for level in range(99)) + " " * 99 + "x",
    "brackets": "[" * 1_000_000,
    "pairs": "[" * 5000 + "]" * 5000,
    "parentheses": "(" * 5000 + "1" + ")" * 5000,
    "dicts": "{1:" * 5000 + "1" + "}" * 5000,
    "named calls": "Note(text=" * 5000 + "1" + ")" * 5000,
    "template": "f'{" + "not " * 5000 + "1}'",
    "templates": "f'{" * 5000 + "1" + "}'" * 5000,
    "triple template": 'f"""{' + "-" * 5000 + '1}"""',
    "signs in brackets": ("[" + "-" * 60) * 60 + "1" + "]" * 60,
    "keywords": "Note(" + ", ".join(f"text={n}" for n in range(20_000)) + ")",
    "huge int": "9" * 1_000_000,
    "huge hex": "0x" + "f" * 1_000_000,
    "quotes": "'" * 100_001,
    "escaped triple quotes": "['''" + "\\'''" * 400_000,
    "triple quotes in turn": "[" + "'''\\\"\"\"\\" * 200_000,
    "open strings": "['a\n" * 200_000,
    "chains with commas": "f" + "(1, 2)" * 5000,
    "chains of members": "Note(text=1).text.text[0].text" * 100,
    "a prefix": "['', f'{" + "not " * 5000 + "1}']",
    "a prefix of two": "[''rF'{" + "not " * 5000 + "1}']",
    "decorators": "@Note\n" * 5000 + "class Note: pass",
    "nots": "[" + "not " * 5000 + "1]",
    "unpacking": "[" + "*" * 5000 + "a]",
    "comparison": "[" + "1 <- " * 5000 + "1]",
    "joints": "[" + "\\\n" * 100_000,
    "a tuple of calls": "[" + "a(1), b(2)(" * 5000,
    "class": "().__class__.__bases__[0].__subclasses__()",
    "comprehension": "[x for x in ().__class__.__base__.__subclasses__()]",
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_answers_are_refused(hostile: str) -> None:
    """Each ends in an output error, quickly, whole and streamed, in both protocols."""
    text = HOSTILE[hostile]
    for name in ("python", "json"):
        if name == "python" or "[0]" not in text:
            with pytest.raises(OutputValidationError):
                protocol(name).tree(text, NOTES)
        stream(name, NOTES, pieces(text, 4096))


FLAT = {"indents", "huge int", "huge hex", "keywords", "class", "comprehension", "quotes", "decorators", "joints"}
"""What its parser takes or refuses without nesting."""


@pytest.mark.parametrize("hostile", sorted(HOSTILE.keys() - FLAT))
def test_pythons_parser_never_sees_what_it_would_nest_by(hostile: str) -> None:
    """What nests deeper than a worker's stack allows is kept from it; an answer of every day is not."""
    assert extent(HOSTILE[hostile], fence="", limits=DEFAULT_LIMITS) is None


def test_pythons_parser_sees_ordinary_answers() -> None:
    """Long lists, many negative numbers and dots, nested objects and short programs are within its bounds."""
    for text in (
        f"[{', '.join(['-1.5e-3'] * 5000)}]",
        "Note(text='a' + 'b', tags=[" * 20 + "])" * 20,
        "x = 1\n" * 500,
        "def foo(x, y):\n  return x + y\nfoo(1, 2)",
        "Note(text='not lambda if else ((((((' * 3)",
    ):
        assert extent(text, fence="", limits=DEFAULT_LIMITS) == len(text)


@pytest.mark.parametrize("name", ["python", "json"])
@pytest.mark.parametrize("unit", ["[", '{"a":', "{1:", "(", "[{", "[]", "[]["])
def test_ten_megabytes_of_brackets_are_over_a_limit(name: str, unit: str) -> None:
    """Whoever allows so long an answer has its depth and its values bounded all the same, whole and streamed."""
    limits = ParseLimits(max_chars=20_000_000)
    text = f"[{unit * (10_000_000 // len(unit))}"
    with pytest.raises(OutputValidationError):
        protocol(name).tree(text, NOTES, limits=limits)
    reader = protocol(name).reader(NOTES, limits=limits)
    events = [event for piece in pieces(text, 1_000_000) for event in reader.feed(piece)]
    assert len(events) < 200


REFUSED = [
    "dict(**{})",
    "Note(**{'text': 'a'})",
    "Note(*['a'])",
    "Note(text='a').__class__",
    "Note.__init__.__globals__",
    "Note.mro()",
    "Color.RED.value",
    "Color['RED']",
    "Color('red')",
    "[*Color]",
    "getattr(Note, 'text')",
    "__builtins__",
    "[n for n in (1, 2)]",
    "{n: n for n in ()}",
    "(n for n in ())",
    "f'{1}'",
    "f''",
    "rf'a'",
    "'a' f'{1}'",
    "(n := 1)",
    "lambda: Note()",
    "1 if 2 else 3",
    "'a' % ()",
    "'a' * 1_000_000_000",
    "9 ** 9 ** 9",
    "1 << 1_000_000_000",
    "Note(text=Note)",
    "await Note()",
    "yield",
    "del Note",
    "global Note",
    "\0",
    "Note(text='a\0')",
    "Note(te\0xt='a')",
    "\ud83d",
    "Note(\ud83d='a')",
    "```",
    "``` ```",
    "\ufeff",
    "\ufeff\ufeff1",
    "Note(" + ", ".join(f"text={n}" for n in range(3)) + ")",
    "[1e5j]",
    "[...]",
    "print",
    "Note(text='a'), print('x')",
    "Note(text='a'); print('x')",
    "Note(text='a')\nprint('x')",
    "Note(text='a') or print('x')",
    "Note(text='a')(1)",
    "if Note(text='a'): pass",
]


@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("around", ["{}", "```python\n{}\n```", "output = {}"])
def test_what_is_no_value_is_refused(text: str, around: str) -> None:
    """Everything of the language beyond the grammar, bare, in a fence and assigned; no part of it is ever looked up."""
    answer = around.replace("{}", text)
    with pytest.raises(OutputValidationError):
        protocol("python").tree(answer, NOTES)
    stream("python", NOTES, answer)


@pytest.mark.parametrize("name", ["python", "json"])
def test_halves_of_characters_become_replacements(name: str) -> None:
    """In strings, raw or escaped, alone or in the wrong order, they are U+FFFD; what is read can always be encoded."""
    for written in ("\ud83d", "\\ud83d", "\ude00\ud83d", "\\ude00\\ud83d", "a\\ud83db", "\\ud83d\\n"):
        (value,) = protocol(name).tree(f'["{written}"]', NOTES)
        assert "\ufffd" in value
        assert value.encode()
        stream(name, NOTES, f'["{written}"]')
