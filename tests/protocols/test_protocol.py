"""Reading answers: where the value is, the grammar of both protocols, the error that tells what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import InvalidArgumentError, OutputLimitError, OutputValidationError
from langfx_web.events import StringFieldDelta
from langfx_web.protocols import ParseLimits, protocol
from langfx_web.schemas.tree import EnumNode, ObjectNode, SetNode
from langfx_web.schemas.unknown import UNKNOWN
from tests.protocols.wanted import NOTES, Names, events

SCALARS = Names(root_kinds={"scalar"})
NOTE = Names({"Note": ("text", "tags")}, root_kinds={"object"})


def note(*positional: Any, **fields: Any) -> ObjectNode:
    return ObjectNode("Note", positional, fields)


def read(text: str, wanted: Any = NOTES, name: str = "python") -> Any:
    return protocol(name).tree(text, wanted)


def code_of(text: str, wanted: Any = NOTES, name: str = "python") -> str:
    with pytest.raises(OutputValidationError) as caught:
        read(text, wanted, name)
    return caught.value.code


@pytest.mark.parametrize(
    "text",
    [
        "Note(text='x')",
        "\ufeff  Note(text='x')",
        "Here you go:\nNote(text='x')",
        "Here you go:\n  output = Note(text='x')",
        "Here you go:\nresult: Note = Note(text='x')",
        "```python\nNote(text='x')\n```",
        "Sure: ```python\nNote(text='x')\n```\nDone.",
        "``` python\nNote(text='x')\n```",
        "~~~tool-code\nNote(text='x')\n~~~\nmore",
        "`````\nNote(text='x')\n`````",
        "```python Note(text='x')```",
        "```Note(text='x')```",
        "```python\nNote(text='x')",
        "Note(text='x')\n```",
        "```\nNote(text='x')\n```\n```\nNote(text='y')\n```",
        "It is `Note`:\n```\nNote(text='x')  # ```\n```",
        "Note(text='x')\n\nHope it helps!",
        "Note(text='x')  # why\n\nThanks",
        "Note(text='x');",
        "Note(text='x') ; # done",
        "(Note(text='x'))",
    ],
)
def test_the_value_is_found_in_what_surrounds_it(text: str) -> None:
    """A fence of any kind, prose before it, a name it is assigned to, and what may follow it do not matter."""
    assert read(text, NOTE) == note(text="x")


def test_bug_036_backticks_inside_a_value_end_nothing() -> None:
    """A block ends outside of strings, at a fence as long as its own; backticks in prose and values open none."""
    fence = "`" * 3
    cases = {
        fence + 'json\n{"code": "use ' + fence + "js\\nx\\n" + fence + ' here", "n": 1}\n' + fence: {
            "code": "use ```js\nx\n``` here",
            "n": 1,
        },
        "`" + fence + 'json\n{"a": "' + fence + '"}\n' + fence + "`": {"a": "```"},
        "Here is `the` result:\n" + fence + '\n{"a": 1}\n' + fence + "\nDone.": {"a": 1},
        fence + 'json\n{"a": 1}': {"a": 1},
        '{"code": "use `print` now"}': {"code": "use `print` now"},
        '~~~json\n{"a": 1}\n~~~': {"a": 1},
    }
    for text, value in cases.items():
        assert read(text, name="json") == value
        for parts in (text, *([text[:place], text[place:]] for place in range(len(text)))):
            shown = [event for event in events(parts, name="json") if isinstance(event, StringFieldDelta)]
            assert {event.path[0]: event.delta for event in shown} == {
                key: member for key, member in value.items() if isinstance(member, str)
            }
    assert read(fence + "python\nPoint(x=1, y=2)\n" + fence) == ObjectNode("Point", (), {"x": 1, "y": 2})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The answer is 1", SCALARS),
        ("1; 2", SCALARS),
        ("1\n2", SCALARS),
        ("1\n\nHope it helps", SCALARS),
        ("", SCALARS),
        ("   ", SCALARS),
        ("``````", SCALARS),
        ("```python\n\n```", SCALARS),
        ("# only a comment", SCALARS),
        (">>> 1", SCALARS),
        ("`1`", SCALARS),
        ("Note(text='x')\nHope it helps!", NOTE),
        ("Note(text='x')\n\nNote(text='y')", NOTE),
        ("Note(text='x')\n\nAnd:\n  b = Note(text='y')", NOTE),
        ("```\nNote(text='x')\n\nHope it helps!\n```", NOTE),
        ("a = Note(text='x')\nb = Note(text='y')", NOTE),
        ("Note(text='x'", NOTE),
        ("Note(text='x", NOTE),
    ],
)
def test_an_answer_holds_exactly_one_value(text: str, wanted: Names) -> None:
    """No value, an open one, or a second one is `output_syntax`; a later statement never changes the first."""
    assert code_of(text, wanted) == "output_syntax"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("+ 1", 1),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0o17", 15),
        ("0b11", 3),
        ("00", 0),
        ("1.", 1.0),
        (".5e1", 5.0),
        ("-1e-3", -0.001),
        ("true", True),
        ("False", False),
        ("null", None),
        ("UNKNOWN", UNKNOWN),
        ("'a' \"b\" r'\\n' u'c'", "ab\\nc"),
        ("'a' + 'b' + 'c'", "abc"),
        ("('a'\n  'b')", "ab"),
        ("'''a\n'b' '''", "a\n'b' "),
        ("'\\x41\\101\\u00e9\\N{EM DASH}\\\n\\d'", "AAé—\\d"),
        ("'\\ud83d\\ude00 \\ud83d'", "😀 \ufffd"),
        ("b'a\\xff'", b"a\xff"),
        ("[1, 2,]", [1, 2]),
        ("(1,)", (1,)),
        ("()", ()),
        ("(1)", 1),
        ("1, 'a'", (1, "a")),
        ("1,", (1,)),
        ("1,;", (1,)),
        ("1, 2; # done", (1, 2)),
        ("\uff2eote(t\uff45xt=\uff34rue)", note(text=True)),
        ("Color.\uff32ED", EnumNode("Color", "RED")),
        ("{1, 1}", SetNode((1, 1))),
        ("{(1, 2)}", SetNode(((1, 2),))),
        ("set()", SetNode(())),
        ("{}", {}),
        ("{'a': 1, 2: [3], (4, 5): 6}", {"a": 1, 2: [3], (4, 5): 6}),
        ("dict(a=1, b=[None])", {"a": 1, "b": [None]}),
        ("Color.RED", EnumNode("Color", "RED")),
        ("Color.BLUE", EnumNode("Color", "BLUE")),
        ("Note('a', tags=['b'],)", note("a", tags=["b"])),
        ("Note(\n  text='a',  # why )\n)", note(text="a")),
    ],
)
def test_python_values_are_read(text: str, value: object) -> None:
    """Literals, constructor calls and members as Python has them, in both spellings of the constants."""
    found = read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Note(text='John's home')", note(text="John's home")),
        ("Note(text='Girls' home', tags=['it's', 'b'])", note(text="Girls' home", tags=["it's", "b"])),
        ("Note(text='These are the girls'.')", note(text="These are the girls'.")),
        ("Note(text='two\nlines')", note(text="two\nlines")),
        ("Note(text='two\r\nlines')", note(text="two\nlines")),
        ("```\nNote(text='it's')\n```", note(text="it's")),
        ("{'a': 'it's', 'b': 'x' 'y's'}", {"a": "it's", "b": "xy's"}),
        ("Note(text='it's' + ('a' 'b'))", note(text="it'sab")),
        ("Note(text='it's \\N{EM DASH} \\x4')", note(text="it's — \\x4")),
        (
            "Note(text='it's', tags=(1, {2}, {}, -3, set(), dict(a=1), Color.RED))",
            note(text="it's", tags=(1, SetNode((2,)), {}, -3, SetNode(()), {"a": 1}, EnumNode("Color", "RED"))),
        ),
    ],
)
def test_quotes_and_line_breaks_inside_strings_are_content(text: str, value: object) -> None:
    """A quote ends a string only where what follows can follow a string, with and without a fence."""
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("abc", "output_name"),
        ("print(1)", "output_name"),
        ("int('7')", "output_name"),
        ("Other(text='x')", "output_name"),
        ("Note", "output_name"),
        ("RED", "output_name"),
        ("[foo]", "output_name"),
        ("Color('red')", "output_name"),
        ("sum(i for i in range(4))", "output_name"),
        ("Other(text='it's')", "output_name"),
        ("1 + 1", "output_forbidden"),
        ("'a' + 1", "output_forbidden"),
        ("--1", "output_forbidden"),
        ("-(1)", "output_forbidden"),
        ("not True", "output_forbidden"),
        ("1 < 2", "output_forbidden"),
        ("1 if True else 2", "output_forbidden"),
        ("(y := 5)", "output_forbidden"),
        ("lambda: 1", "output_forbidden"),
        ("[i for i in range(3)]", "output_forbidden"),
        ("'a'.upper()", "output_forbidden"),
        ("Note(text='a').text", "output_forbidden"),
        ("__import__('os').system('x')", "output_forbidden"),
        ("Other.RED", "output_forbidden"),
        ("[1][0]", "output_forbidden"),
        ("f'a'", "output_forbidden"),
        ("1j", "output_forbidden"),
        ("...", "output_forbidden"),
        ("[*[1]]", "output_forbidden"),
        ("Note(*['a'])", "output_forbidden"),
        ("Note(**{'text': 'a'})", "output_forbidden"),
        ("{**{}}", "output_forbidden"),
        ("set([1])", "output_forbidden"),
        ("a, b = 1, 2", "output_forbidden"),
        ("a = b = 1", "output_forbidden"),
        ("a: int", "output_forbidden"),
        ("pass", "output_forbidden"),
        ("import os", "output_forbidden"),
        ("class Foo:\n  pass", "output_forbidden"),
        ("return 1", "output_forbidden"),
        ("{'a': 1, 'a': 2}", "output_syntax"),
        ("Note(text='a', text='b')", "output_syntax"),
        ("dict(a=1, a=2)", "output_syntax"),
        ("[1 2]", "output_syntax"),
        ("[,]", "output_syntax"),
        ("{1: }", "output_syntax"),
        ("{'a', 'b': 1}", "output_syntax"),
        ("Note(text=)", "output_syntax"),
        ("Note(text='a', 'b')", "output_syntax"),
        ("01", "output_syntax"),
        ("b'é'", "output_syntax"),
        ("'a' b'b'", "output_syntax"),
        ("set(1, it's)", "output_syntax"),
        ("dict('it's')", "output_syntax"),
        ("{[1]: 2}", "output_mismatch"),
    ],
)
def test_everything_else_is_refused_by_its_name(text: str, code: str) -> None:
    """Valid Python is refused by its first offending node, the rest as a syntax error; nothing of it is run."""
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-12.5e3", -12500.0),
        ("true ; # yes", True),
        ('"a"', "a"),
        ('  {"a": [1, 2,], "b": {},}', {"a": [1, 2], "b": {}}),
        ('The answer is {"a": 1}.', {"a": 1}),
        ('I think {so}: {"a": 1} or {"a": 2}', {"a": 1}),
        ("Result:\n[\n  1\n] as asked", [1]),
        ('{"a": 1}}', {"a": 1}),
        ("```json\n[1]\n```\n", [1]),
        ("1\n```", 1),
        ('{"t": "tab\there\nline"}', {"t": "tab\there\nline"}),
        ('{"t": "it\\\'s C:\\dir \\d+ \\u12"}', {"t": "it's C:\\dir \\d+ \\u12"}),
        ('{"t": "\\ud83d\\ude00 \\ud83d \\u00e9"}', {"t": "😀 \ufffd é"}),
    ],
)
def test_json_values_are_read(text: str, value: object) -> None:
    """RFC 8259 behind prose or in a fence, with what models get wrong in strings and with one trailing comma."""
    assert read(text, name="json") == value


@pytest.mark.parametrize(
    "text",
    [
        *["", "The answer is 3.", "{'a': 1}", '{"a": 1 /* c */}', '{"a": }', '{"a": 1, "a": 2}', "{a: 1}", "01", "1."],
        *["[1,,]", "[,]", '{"a": 1,,}', "[1", '{"a', '"a', "1 2", "tru", '"{" {"a": 1}', "+1", "1_0", ".5", "-"],
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    """Comments, single quotes, bare keys, doubled keys, bad numbers and open brackets are `output_syntax`."""
    assert code_of(text, name="json") == "output_syntax"


def test_bug_038_numbers_that_are_not_finite_are_left_to_the_schema() -> None:
    """They are read, since the text is well-formed, and no type accepts them; calls are refused before that."""
    assert repr(read("[NaN, -Infinity, 1e999]", name="json")) == "[nan, -inf, inf]"
    assert repr(read("[1e999]")) == "[inf]"
    assert code_of("Note(text=float('nan'))") == "output_name"


@pytest.mark.parametrize("name", ["python", "json"])
def test_langfx_22_limits_are_checked_before_anything_deep(name: str) -> None:
    """65 brackets, 2,000,001 characters and 200,001 values are `output_limit`; huge numbers and NUL `output_syntax`."""
    assert read("[" * 64 + "]" * 64, name=name)
    texts = {"max_depth": "[" * 65 + "]" * 65, "max_chars": "[" * 2_000_001, "max_nodes": f"[{'1,' * 199_999}1]"}
    for limit, text in texts.items():
        with pytest.raises(OutputLimitError) as caught:
            read(text, name=name)
        assert caught.value.limit == limit
    assert len(read(f"[{'1,' * 199_998}1]", name=name)) == 199_999
    for digits in ("1" * 5000, "-" + "1" * 5000, "0." + "1" * 5000, "1e" + "0" * 5000 + "1"):
        assert code_of(digits, name=name) == "output_syntax"
        assert code_of(f"[{digits}]", name=name) == "output_syntax"
    assert code_of("[1,\0 2]", name=name) == "output_syntax"


def test_limits_are_the_callers_to_set() -> None:
    """Each bound counts on its own; one that is no positive int is refused."""
    assert protocol("python").tree("[[1]]", NOTES, limits=ParseLimits(max_depth=2, max_nodes=3, max_chars=5)) == [[1]]
    for limits in (ParseLimits(max_depth=1), ParseLimits(max_nodes=2), ParseLimits(max_chars=4)):
        with pytest.raises(OutputLimitError):
            protocol("python").tree("[[1]]", NOTES, limits=limits)
    for value in (0, True, 2.5, 201):
        with pytest.raises(InvalidArgumentError):
            ParseLimits(max_depth=value)  # type: ignore[arg-type]  # a wrong value is the point


def test_an_error_says_where_in_the_answer_it_is() -> None:
    """The offset counts characters of the whole answer, and the excerpt is what stands there."""
    answer = "Voilà:\n```python\nNote(text='é', tags=[foo])\n```"
    with pytest.raises(OutputValidationError) as caught:
        read(answer)
    assert caught.value.offset == answer.index("foo")
    assert caught.value.excerpt == "foo])\n```"
    assert "known: Color, Note, Point" in str(caught.value)


def test_there_are_two_protocols() -> None:
    """Another name is `invalid_argument` and lists both."""
    with pytest.raises(InvalidArgumentError, match="'python' and 'json'"):
        protocol("yaml")


def test_a_text_schema_takes_the_answer_as_it_is() -> None:
    """No protocol is involved: quotes and fences stay."""
    wanted = Names()
    wanted.is_text = True
    assert protocol("python").read('```python\n"x"\n```', wanted) == '```python\n"x"\n```'
