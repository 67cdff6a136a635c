"""A function as a tool: what a model is told, what is refused, what comes back."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_serializer, field_validator

from langfx_web.errors import InvalidValueError, SchemaMismatchError, ToolArgumentError, ToolOutputError
from langfx_web.messages import ToolCall
from langfx_web.schemas.arguments import ArgumentsSchema
from langfx_web.tools import Tool, ToolContext, ToolResult, call_checksum, canonical_json, tool


class Order(BaseModel):
    id: str
    total: float


@dataclasses.dataclass
class Plain:
    n: int


@tool(idempotent=True)
def get_order(id: str) -> Order:
    """Look up an order.

    Nothing of this second paragraph is shown.
    """
    return Order(id=id, total=9.5)


def call(name: str = "get_order", **args: Any) -> ToolCall:
    return ToolCall("c1", name, args)


async def run(some: Tool, **args: Any) -> ToolResult:
    prepared = some.prepare(call(some.name, **args))
    context = ToolContext(call=prepared.call, checksum=prepared.checksum, execution_id="exe_1", turn_id="msg_1")
    return await prepared.told(context)


def test_what_a_model_is_told() -> None:
    """Name, first paragraph, the arguments' schema; the output's schema beside it."""
    described = get_order.describe()
    assert described["name"] == "get_order"
    assert described["description"] == "Look up an order."
    assert described["inputSchema"]["required"] == ["id"]
    assert described["outputSchema"]["properties"]["total"] == {"type": "number"}
    assert get_order.declaration().input_schema == described["inputSchema"]


async def test_values_are_written_as_json_and_text_as_it_is() -> None:
    """Models, dataclasses and plain data; None is null."""
    assert await run(get_order, id="7") == ToolResult('{"id":"7","total":9.5}')

    @tool
    def anything(kind: str) -> Any:
        """Anything."""
        return {"text": "as is", "data": Plain(1), "none": None, "list": [1, (2,)]}[kind]

    assert [(await run(anything, kind=kind)).content for kind in ("text", "data", "none", "list")] == [
        "as is",
        '{"n":1}',
        "null",
        "[1,[2]]",
    ]


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), b"x"])
async def test_a_result_without_json_form_says_that_the_tool_ran(value) -> None:
    """So that the model does not call again blindly."""

    @tool
    def bad() -> Any:
        """Bad."""
        return value

    with pytest.raises(ToolOutputError, match="the tool ran"):
        await run(bad)


async def test_a_result_of_another_type_is_refused() -> None:
    """The return annotation is a promise."""

    @tool
    def typed() -> int:
        """Typed."""
        return "x"  # type: ignore[return-value]

    with pytest.raises(ToolOutputError):
        await run(typed)


async def test_async_functions_and_contexts() -> None:
    """A parameter annotated ToolContext is filled in and not asked for."""

    @tool(name="other_name", description="Own words.")
    async def with_context(context: ToolContext, n: int = 2) -> str:
        """Hidden."""
        return f"{context.execution_id} {n}"

    assert (with_context.name, with_context.description) == ("other_name", "Own words.")
    assert list(with_context.describe()["inputSchema"]["properties"]) == ["n"]
    assert (await run(with_context)).content == "exe_1 2"


def test_bad_arguments_are_all_named() -> None:
    """No value of an argument is in the text."""
    with pytest.raises(ToolArgumentError) as caught:
        get_order.prepare(call(id=5, secret="hunter2"))
    assert [item["type"] for item in caught.value.details["problems"]] == ["string_type", "extra_forbidden"]
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ToolArgumentError) as unreadable:
        get_order.prepare(ToolCall("1", "get_order", None, raw_args="{"))
    assert unreadable.value.details["problems"][0]["type"] == "json_invalid"


def test_arguments_are_read_as_wires_send_them() -> None:
    """An integral number is an integer, and a text is decoded once where an array or object is wanted, nothing else."""

    @tool
    def place(at: Plain, counts: list[int], most: int | None = None, label: str = "") -> None:
        """Place it."""

    prepared = place.prepare(call("place", at='{"n": 1e0}', counts="[1, 2.0]", most=5.0, label="[1]"))
    assert prepared.arguments == {"at": Plain(1), "counts": [1, 2], "most": 5, "label": "[1]"}
    assert {name: type(value) for name, value in prepared.arguments.items()}["most"] is int
    assert prepared.input == {"at": {"n": 1}, "counts": [1, 2], "most": 5, "label": "[1]"}
    for bad in ({"counts": [1.5]}, {"counts": "1, 2"}, {"counts": [], "most": "5"}, {"counts": [], "label": 1}):
        with pytest.raises(ToolArgumentError):
            place.prepare(call("place", at={"n": 1}, **bad))


async def test_a_result_keeps_the_fields_of_its_subclass() -> None:
    """What the function returned is what the model reads."""

    class Paid(Order):
        by: str

    @tool
    def find() -> list[Order]:
        """Find."""
        return [Paid(id="7", total=1, by="card"), Order(id="8", total=2)]

    described = find.describe()["outputSchema"]
    assert described["items"] == {"anyOf": [{"$ref": "#/$defs/Order"}, {"$ref": "#/$defs/Paid"}]}
    assert (await run(find)).content == '[{"id":"7","total":1.0,"by":"card"},{"id":"8","total":2.0}]'


def test_promises() -> None:
    """`writes` follows `idempotent` unless it is said."""

    def nothing() -> None:
        """Nothing."""

    assert (tool(nothing).idempotent, tool(nothing).writes) == (None, True)
    assert tool(idempotent=True)(nothing).writes is False
    assert tool(idempotent=True, writes=True)(nothing).writes is True


def generator():
    """Yield."""
    yield 1


def untyped(a):
    """Untyped."""


def silent(a: int) -> None: ...


@pytest.mark.parametrize("function", [generator, untyped, silent])
def test_functions_that_are_no_tools(function) -> None:
    """A generator, a parameter without a type, no description."""
    with pytest.raises(InvalidValueError) as caught:
        tool(function)
    assert caught.value.code == "invalid_tool"


@pytest.mark.parametrize("name", ["", "1a", "a b", "a" * 65, "artifact_x", "ä"])
def test_names_that_providers_refuse(name: str) -> None:
    """Letters, digits, _ and -, up to 64, not the reserved prefix."""
    with pytest.raises(InvalidValueError):
        Tool(name=name, description="d", input={"type": "object"}, function=lambda arguments, context: None)


def test_a_tool_from_a_json_schema() -> None:
    """As a page declares it."""
    document = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    page = Tool(name="show", description="Show.", input=document, function=lambda arguments, context: arguments)
    assert page.describe()["inputSchema"] == document
    assert page.prepare(call("show", n=1)).arguments == {"n": 1}
    with pytest.raises(ToolArgumentError):
        page.prepare(call("show", n="1"))


QUESTIONS = {
    "type": "object",
    "required": ["questions", "code"],
    "additionalProperties": False,
    "properties": {
        "questions": {
            "type": "array",
            "items": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        },
        "filter": {"type": "object"},
        "limit": {"type": "integer"},
        "code": {"type": "string"},
    },
}


class Question(BaseModel):
    q: str


@tool
def typed_quiz(
    questions: list[Question], code: str, filter: dict[str, str] | None = None, limit: int | None = None
) -> str:
    """Ask."""
    return code


QUIZ = [typed_quiz, Tool(name="quiz", description="Ask.", input=QUESTIONS, function=lambda given: given)]


@pytest.mark.parametrize("quiz", QUIZ)
def test_bug_025_context_16_a_list_that_was_sent_as_text(quiz: Tool) -> None:
    """It is read, one level deep; a text that is wanted stays one; what cannot be read is wrong, not empty."""
    given = {"questions": '[{"q": "a"}]', "filter": '{"lang": "de"}', "limit": 5, "code": "[1, 2]"}
    wanted = {"questions": [{"q": "a"}], "filter": {"lang": "de"}, "limit": 5, "code": "[1, 2]"}
    assert quiz.prepare(given).input == wanted
    for bad in ('"[1]"', "[{oops", '"[]"', ""):
        with pytest.raises(ToolArgumentError) as caught:
            quiz.prepare({"questions": bad, "code": "x"})
        (problem,) = caught.value.details["problems"]
        assert (problem["type"], problem["path"]) == ("list_type", ["questions"])
        assert "list" in problem["message"] or "array" in problem["message"]
    with pytest.raises(ToolArgumentError) as caught:
        quiz.prepare(ToolCall("c", quiz.name, None, raw_args='{"q"'))
    assert caught.value.details["problems"][0]["type"] == "json_invalid"


def test_bug_024_a_call_without_arguments() -> None:
    """It is fine where there are none to give; a missing one is named."""

    @tool
    def now() -> str:
        """Say the time."""
        return "noon"

    assert now.prepare().arguments == now.prepare({}).arguments == {}
    with pytest.raises(ToolArgumentError, match=r"^id: "):
        get_order.prepare({})


def test_bug_030_a_bad_escape_is_pointed_at() -> None:
    """The model is told the place, and nothing is mended."""
    with pytest.raises(ToolArgumentError, match=r"^The arguments are not JSON: Invalid .escape: line 1 column 14"):
        get_order.prepare(ToolCall("c", "get_order", None, raw_args='{"pattern": "\\d+", "dir": "C:\\data"}'))


def test_what_a_model_is_told_of_bad_arguments_is_short() -> None:
    """Ten lines at most, two thousand characters, and no value of an argument; the error itself has every problem."""

    @tool
    def many(values: list[int]) -> None:
        """Many."""

    with pytest.raises(ToolArgumentError) as caught:
        many.prepare({"values": ["hunter2"] * 30})
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1], len(caught.value.details["problems"])) == (10, "and 21 more", 30)
    assert lines[0].startswith("values.0: ")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ToolArgumentError) as caught:
        many.prepare({"x" * 9000: 1})
    assert len(str(caught.value)) <= 2000


@pytest.mark.parametrize("kind", ["typed", "whole", "document"])
async def test_a_function_that_changes_its_arguments_changes_nothing_else(kind: str) -> None:
    """Neither the call in the conversation nor what is recorded of it."""

    def spoil(value: dict[str, Any]) -> str:
        """Spoil it."""
        value["list"].append(2)
        value["more"] = 1
        return "done"

    given: Any = {"list": [1]}
    made = {
        "typed": tool(spoil),
        "whole": tool(input=dict[str, Any])(spoil),
        "document": tool(input={"type": "object"})(spoil),
    }[kind]
    call_ = ToolCall("c", "spoil", {"value": given} if kind == "typed" else given)
    prepared = made.prepare(call_)
    before = canonical_json(prepared.input)
    assert await prepared.run() == "done"
    assert canonical_json(prepared.input) == before
    assert call_checksum(call_) == prepared.checksum
    assert given == {"list": [1]}


class Moody(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def checked(cls, n: int) -> int:
        """Fail as no validator should."""
        raise KeyError(f"sk-secret-{n}")

    @field_serializer("n")
    def written(self, n: int) -> int:
        """Fail as no serializer should."""
        raise KeyError(f"sk-secret-{n}")


async def test_an_author_whose_checks_fail_ends_no_run() -> None:
    """What validators and serializers raise is the call's failure, told without its words."""

    @tool
    def take(moody: Moody) -> None:
        """Take it."""

    @tool
    def give() -> Any:
        """Give it."""
        return Moody.model_construct(n=1)

    with pytest.raises(ToolArgumentError, match="KeyError") as caught:
        take.prepare({"moody": {"n": 1}})
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(ToolOutputError, match="the tool ran") as failed:
        await give.run()
    assert "secret" not in f"{caught.value}{failed.value}"


SCALARS: list[Any] = [int, str, bool, float, int | None, str | int, float | None, bool | str]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3)
)


@given(
    st.dictionaries(
        st.sampled_from("abcd"), st.tuples(st.sampled_from(SCALARS), st.one_of(st.just(...), VALUES)), max_size=4
    ),
    st.dictionaries(st.sampled_from("abcde"), VALUES, max_size=5),
)
def test_simple_arguments_take_no_other_way_than_all(members: dict[str, Any], given: dict[str, Any]) -> None:
    """Scalars are taken without the detour that other arguments need, to the same end."""
    schema = ArgumentsSchema("t", members)
    fast, slow = outcome(schema.read_arguments, given), outcome(schema._read_any, given)
    assert fast == slow
    assert repr(fast) == repr(slow)


def outcome(read: Any, given: dict[str, Any]) -> Any:
    try:
        return read(given)
    except SchemaMismatchError as error:
        return error.problems
