"""Templates: paths into plain data, nothing evaluated, errors with their place."""

from __future__ import annotations

import dataclasses
from enum import Enum

import pytest
from pydantic import BaseModel

from langfx_web.errors import TemplateError
from langfx_web.messages import Text, UserMessage
from langfx_web.templates import Template


@dataclasses.dataclass
class Order:
    id: int
    items: list[str]

    def secret(self) -> str:
        """Never reachable from a template."""
        return "no"


class Customer(BaseModel):
    name: str


class Colour(Enum):
    RED = "red"


def rendered(text: str, **vars: object) -> str:
    return Template(text).render(vars).text


def test_values_go_in_and_single_braces_stay() -> None:
    """Only `{{ }}` means anything; JSON in a prompt is literal."""
    assert rendered('Hi {{name}}, like {"n": [{}]}', name="Ada") == 'Hi Ada, like {"n": [{}]}'
    assert rendered("A = {1; 2} and {{ x }}", x=3) == "A = {1; 2} and 3"
    assert rendered("{{x}}{{x}} }} {", x=1) == "11 }} {"
    assert rendered(r"\{{x}} {{x}}", x=1) == "{{x}} 1"


def test_paths_reach_data_only() -> None:
    """Mapping keys, indices and declared fields, nested."""
    order = Order(7, ["cup", "pot"])
    values = {"a": {"b": "B", "c": [order]}, "who": Customer(name="Ada"), "m": UserMessage("said")}
    assert Template("{{a.b}} {{ a.c[0].items[1] }} {{who.name}} {{m.text}}").render(values).text == "B pot Ada said"


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
    ],
)
def test_what_is_no_path_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    """No filter, call, operator or statement; the error says where."""
    with pytest.raises(TemplateError) as caught:
        Template(text, clean=False)
    assert (caught.value.code, caught.value.details) == ("template_invalid", {"line": line, "column": column})


def test_an_unclosed_statement_is_literal() -> None:
    """LaTeX and the like survive."""
    assert rendered(r"\newcommand{%") == r"\newcommand{%"


def test_missing_variables_are_all_named() -> None:
    """Both at once, so that one fix is enough."""
    with pytest.raises(TemplateError) as caught:
        rendered("{{a}} {{b.c}} {{d}}", d=1)
    assert caught.value.code == "template_variable_missing"
    assert caught.value.details["names"] == ["a", "b.c"]


@pytest.mark.parametrize("path", ["a.b", "a[3]", "o.secret", "o.items[9]", "n.x"])
def test_a_step_that_leads_nowhere_is_an_error(path: str) -> None:
    """A method, an absent key, an index past the end, a None in between."""
    with pytest.raises(TemplateError) as caught:
        rendered("{{" + path + "}}", a={}, o=Order(1, []), n=None)
    assert caught.value.code == "template_variable_missing"


def test_values_are_written_plainly_and_never_rendered_again() -> None:
    """A value with braces is text; numbers, None, enums and data have their Python form."""
    assert rendered("{{x}}", x="{{y}}") == "{{y}}"
    assert rendered("{{a}} {{b}} {{c}} {{d}} {{e}}", a=1.5, b=None, c=True, d=Colour.RED, e=[1, "x"]) == (
        "1.5 None True red [1, 'x']"
    )
    assert rendered("{{o}}", o=Order(1, ["x"])) == "Order(id=1, items=['x'])"
    with pytest.raises(TemplateError):
        rendered("{{x}}", x=object())


def test_unused_variables_are_ignored_and_bound_ones_can_be_overridden() -> None:
    """Call-time values win over bound ones."""
    template = Template("{{a}}{{b}}", vars={"a": 1, "b": 2})
    assert template.render({"b": 3, "z": 9}).text == "13"
    assert template.variables == ["a", "b"]


def test_templates_and_parts_are_spliced() -> None:
    """A template inside a template sees the same values; parts stay parts."""
    message = Template("A {{inner}} {{part}} Z").render({"inner": Template("<{{x}}>"), "x": 1, "part": Text("P")})
    assert message == UserMessage("A <1> P Z")


def test_class_templates_are_inherited() -> None:
    """A subclass brings its text, dedented."""

    class Greeting(Template):
        template_str = """
            Hello {{name}}.
              Indented.
        """

    assert Greeting().render({"name": "Ada"}).text == "Hello Ada.\n  Indented."


def test_raw_text_renders_as_itself() -> None:
    """Whatever is in it."""
    text = "  {{x}} \\{{ {% a %} \n"
    assert Template.from_raw_str("  {{x}} \n").render().text == "  {{x}} \n"
    assert Template.raw_str("{{x}}") == r"\{{x}}"
    assert text
