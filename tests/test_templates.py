"""Templates: paths into plain data, nothing evaluated, errors with their place."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import re
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from langfx_web.errors import InvalidValueError, TemplateError
from langfx_web.messages import (
    AIMessage,
    ComplexMessage,
    Image,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from langfx_web.templates import Template
from tests.messages.pictures import PNG

PICTURE = Image.from_bytes(PNG)


@dataclasses.dataclass
class Order:
    id: int
    items: list[str]

    def secret(self) -> str:
        """Never reachable from a template."""
        return "no"


class Customer(BaseModel):
    name: str


class Account(BaseModel):
    owner: Customer
    key: str = Field(default="k", repr=False)


class Colour(Enum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Line:
    ends: tuple[Point, ...]
    colour: Colour
    note: str = dataclasses.field(default="hidden", repr=False)


class Named:
    def __str__(self) -> str:
        return "a name of its own"


def rendered(text: str, **vars: object) -> str:
    return Template(text).render(vars).text


def test_langfx_05_bug_097_values_go_in_and_single_braces_stay() -> None:
    """Only `{{ }}` means anything; JSON in a prompt is literal."""
    assert rendered('Hi {{name}}, like {"n": [{}]}', name="Ada") == 'Hi Ada, like {"n": [{}]}'
    assert rendered("A = {1; 2} and {{ x }}", x=3) == "A = {1; 2} and 3"
    assert rendered("{{x}}{{x}} }} {", x=1) == "11 }} {"
    assert rendered(r"\{{x}} {{x}}", x=1) == "{{x}} 1"


def test_langfx_06_paths_reach_data_only() -> None:
    """Mapping keys, indices and declared fields, nested."""
    order = Order(7, ["cup", "pot"])
    values = {"a": {"b": "B", "c": [order]}, "who": Customer(name="Ada"), "m": UserMessage("said", result=(order,))}
    assert Template("{{a.b}} {{ a.c[0].items[1] }} {{who.name}} {{m.text}}").render(values).text == "B pot Ada said"
    assert Template("{{m.result[0].id}} {{p.a}}").render(values | {"p": MappingProxyType({"a": 1})}).text == "7 1"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("{{x.__class__}}", 1, 1),
        ("a\nb {{ x | upper }}", 2, 3),
        ("{{f(1)}}", 1, 1),
        ("Use {{x", 1, 5),
        ("{{_x}}", 1, 1),
        ("{{x + 1}}", 1, 1),
        ("ok\n  {% for a in b %}x{% endfor %}", 2, 3),
        ("{# note #}", 1, 1),
        ("{% unclosed {# note #}", 1, 13),
        ("{{}}", 1, 1),
        ("{{a..b}}", 1, 1),
        ("{{a[-1]}}", 1, 1),
        ("{{a['b']}}", 1, 1),
        ("{{a[1234567890]}}", 1, 1),
        ("{{é}}", 1, 1),
        ("{{ a\n.b }}", 1, 1),
    ],
)
def test_langfx_06_08_what_is_no_path_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    """No filter, call, operator or statement; the error says where."""
    with pytest.raises(TemplateError) as caught:
        Template(text, clean=False)
    error = caught.value
    assert (error.code, error.line, error.column, error.names) == ("template_invalid", line, column, ())
    assert error.details == {"line": line, "column": column}
    assert isinstance(error, ValueError)


def test_langfx_08_an_unclosed_statement_is_literal() -> None:
    """LaTeX and the like survive."""
    assert rendered(r"\newcommand{%") == r"\newcommand{%"
    assert rendered("%} {% {# {{x}}", x=1) == "%} {% {# 1"


def test_langfx_07_bug_097_missing_variables_are_all_named() -> None:
    """Both at once, so that one fix is enough."""
    with pytest.raises(TemplateError) as caught:
        rendered("{{a}} {{b.c}} {{d}}", d=1)
    assert caught.value.code == "template_variable_missing"
    assert caught.value.names == ("a", "b.c")
    assert caught.value.details == {"names": ["a", "b.c"]}
    assert str(caught.value) == "no value for a, b.c"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a.b", "a has no .b"),
        ("a[3]", "a has no [3]"),
        ("o.secret", "o has no .secret"),
        ("o.items[9]", "o.items has no [9]"),
        ("o.items.append", "o.items has no .append"),
        ("n.x", "n is None"),
        ("d.inner.x[0]", "d.inner is None"),
        ("m.parts", "m has no .parts"),
        ("k.id", "k has no .id"),
        ("p.x", "p has no .x"),
    ],
)
def test_langfx_07_a_step_that_leads_nowhere_is_named(path: str, why: str) -> None:
    """A method, an absent key, an index past the end, a None in between, a class, another attribute."""
    values = {"a": {}, "o": Order(1, []), "n": None, "d": {"inner": None}, "m": UserMessage("x"), "k": Order}
    with pytest.raises(TemplateError, match=re.escape(f"{path} ({why})")) as caught:
        rendered("{{" + path + "}}", **values, p=Point(1, 2))
    assert (caught.value.code, caught.value.names) == ("template_variable_missing", (path,))


def test_looking_for_a_key_adds_none() -> None:
    """A mapping that makes what it is asked for is not asked for what it lacks."""
    counts: Any = collections.defaultdict(int)
    with pytest.raises(TemplateError):
        rendered("{{counts.x}}", counts=counts)
    assert counts == {}


def test_langfx_07_values_are_written_plainly_and_never_rendered_again() -> None:
    """A value with braces is text; numbers, None and Enums have the text of their value."""
    assert rendered("{{x}}", x="{{y}}") == "{{y}}"
    assert rendered("{{a}} {{b}} {{c}} {{d}} {{e}} {{f}}", a=1.5, b=None, c=True, d=Colour.RED, e=Size.LARGE, f=10) == (
        "1.5 None True red 3 10"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, "x\ny", None, True], r"[1, 'x\ny', None, True]"),
        ({"a": {"b": (1,)}}, "{'a': {'b': (1,)}}"),
        ((), "()"),
        ({3, 1, 2}, "{1, 2, 3}"),
        (frozenset({"a"}), "{'a'}"),
        (set(), "set()"),
        (MappingProxyType({"a": 1}), "{'a': 1}"),
        (collections.OrderedDict(a=1), "{'a': 1}"),
        (Order(1, ["x"]), "Order(id=1, items=['x'])"),
        (Point(1, 2), "Point(x=1, y=2)"),
        ([Colour.RED, Size.LARGE], "[Colour.RED, Size.LARGE]"),
        (Line((Point(0, 0),), Colour.RED), "Line(ends=(Point(x=0, y=0),), colour=Colour.RED)"),
        (Account(owner=Customer(name="Ada")), "Account(owner=Customer(name='Ada'))"),
        ([Customer(name="Ada")], "[Customer(name='Ada')]"),
        ([decimal.Decimal("1.5")], "[Decimal('1.5')]"),
    ],
)
def test_data_is_written_as_python_on_one_line(value: Any, text: str) -> None:
    """To any depth; fields that a class does not show stay out, and a set has an order."""
    assert rendered("{{x}}", x=value) == text


def test_other_objects_have_the_text_they_give_themselves() -> None:
    """A date, a Decimal, a class with a text of its own."""
    assert rendered("{{a}} {{b}} {{c}}", a=datetime.date(2024, 1, 31), b=decimal.Decimal("1.50"), c=Named()) == (
        "2024-01-31 1.50 a name of its own"
    )


@pytest.mark.parametrize("value", [object(), [object()], lambda: 1, Order, [Order], [PICTURE], {"m": UserMessage("x")}])
def test_what_has_no_text_is_refused_with_its_place(value: Any) -> None:
    """An object that says nothing of itself, a function, a class, media inside other data."""
    with pytest.raises(TemplateError) as caught:
        Template("a\n{{ok}} {{x}}").render({"ok": 1, "x": value})
    assert (caught.value.code, caught.value.line, caught.value.column) == ("template_invalid", 2, 8)


def test_what_contains_itself_is_refused() -> None:
    """A list, and a template among its own values."""
    circle: list[Any] = []
    circle.append(circle)
    template = Template("{{x}}")
    for value in (circle, template):
        with pytest.raises(TemplateError, match=r"levels deep|contains itself"):
            template.render({"x": value})


def test_langfx_07_unused_variables_are_ignored_and_bound_ones_can_be_overridden() -> None:
    """Call-time values win over bound ones."""
    template = Template("{{a}}{{b}}", vars={"a": 1, "b": 2})
    assert template.render({"b": 3, "z": 9}).text == "13"
    assert template.variables == ["a", "b"]


def test_templates_and_parts_are_spliced() -> None:
    """A template inside a template sees the same values; parts stay parts."""
    message = Template("A {{inner}} {{part}} Z").render({"inner": Template("<{{x}}>"), "x": 1, "part": Text("P")})
    assert message == UserMessage("A <1> P Z")
    assert Template(" {{a}} and {{a}} ").render({"a": PICTURE}) == UserMessage(PICTURE, " and ", PICTURE)
    assert Template("Look: {{m}}!").render({"m": UserMessage("at ", PICTURE)}) == UserMessage("Look: at ", PICTURE, "!")
    with pytest.raises(InvalidValueError):
        Template("{{call}}").render({"call": ToolCall("1", "f", {})})


def test_langfx_09_messages_of_other_roles_open_sections() -> None:
    """Text around them is the user's, and blank text between them is dropped."""
    template = Template("""
        First.

        {{system}}

        {{answer}}
        Last {{part}}.
    """)
    answer = AIMessage(Thought("hm"), "Yes. ", model="m")
    message = template.render({"system": SystemMessage("{{x}} "), "answer": answer, "part": PICTURE})
    assert message == ComplexMessage(
        UserMessage("First."), SystemMessage("{{x}} "), answer, UserMessage("Last ", PICTURE, ".")
    )
    assert isinstance(message, ComplexMessage)
    assert message.messages[2] is answer


def test_langfx_09_neighbouring_sections_of_one_role_are_one_message() -> None:
    """A transcript is spliced message by message; results of tools stay apart."""
    template = Template("{{a}}\n{{b}}Hello {{c}}{{d}}\n", clean=False)
    results = [ToolMessage("r", call_id="1"), ToolMessage("r", call_id="2")]
    talk = ComplexMessage(UserMessage("you"), AIMessage(ToolCall("1", "f", {}), ToolCall("2", "f", {})), *results)
    message = template.render({"a": SystemMessage("A"), "b": SystemMessage("B"), "c": talk, "d": UserMessage("!")})
    assert message == ComplexMessage(
        SystemMessage("A", "B"), UserMessage("Hello you"), *talk.messages[1:], UserMessage("!\n")
    )
    inner = Template("{{a}} Hi.")
    assert Template("{{inner}} You.").render({"inner": inner, "a": SystemMessage("A")}) == ComplexMessage(
        SystemMessage("A"), UserMessage("Hi. You.")
    )
    assert Template("{{a}}").render({"a": SystemMessage("A")}) == ComplexMessage(SystemMessage("A"))


def test_class_templates_are_inherited() -> None:
    """A subclass brings its text, dedented."""

    class Greeting(Template):
        template_str = """
            Hello {{name}}.
              Indented.
        """

    class Short(Greeting):
        """A docstring is no text of a template: {{x}}."""

    class Other(Short):
        template_str = "Bye {{name}}."

    assert Greeting().render({"name": "Ada"}).text == "Hello Ada.\n  Indented."
    assert Short(vars={"name": "Bob"}).render().text == "Hello Bob.\n  Indented."
    assert (Other().render({"name": "Ada"}).text, Other("{{name}}?").render({"name": "Ada"}).text) == (
        "Bye Ada.",
        "Ada?",
    )
    assert Template().render() == UserMessage()


def test_cleaning_touches_the_text_and_not_the_values() -> None:
    """The text is dedented, a value keeps its lines; without `clean` all of it stays as it is."""
    text = "\n    a\n      {{x}}\n"
    assert Template(text).render({"x": "1\n    2"}).text == "a\n  1\n    2"
    assert Template(text, clean=False).render({"x": 1}).text == "\n    a\n      1\n"


def test_variables_are_found_without_running_anything() -> None:
    """Whole paths, in order, each once, those of values that are templates not among them."""
    assert Template(r"{{b.c}} {{ a }} {{b.c}} \{{d}}").variables == ["b.c", "a"]


@given(st.text(alphabet="ab \\{}%#\n") | st.text())
def test_langfx_07_raw_text_renders_as_itself(text: str) -> None:
    """Whatever is in it; escaped, it may stand in another template."""
    template = Template.from_raw_str(text)
    assert (template.render().text, template.variables) == (text, [])
    assert Template(Template.raw_str(text) + " {{x}}", clean=False).render({"x": 1}).text == f"{text} 1"


def test_what_raw_text_is_escaped_to() -> None:
    """Only what would mean something."""
    assert Template.raw_str("{{x}} {y} {% z %} {# w") == r"\{{x}} {y} \{% z %} {# w"


@given(st.text(alphabet="ab. []0{}\\%#|\n", max_size=40))
def test_any_text_is_a_template_or_an_error_with_its_place(text: str) -> None:
    """Nothing else comes of it, and what is said of the place is true."""
    try:
        template = Template(text, clean=False)
    except TemplateError as error:
        assert error.line is not None
        assert error.column is not None
        line = text.split("\n")[error.line - 1]
        assert line[error.column - 1 :].startswith(("{{", "{%", "{#"))
    else:
        assert template.variables or "{{" not in text.replace("\\{{", "")


def test_a_template_is_made_of_a_text() -> None:
    """Anything else is an error, not a prompt."""
    with pytest.raises(TemplateError):
        Template(3)  # type: ignore[arg-type]
