"""A function as a tool: what a model is told, what is refused, what comes back."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel

from langfx_web.errors import InvalidValueError, ToolArgumentError, ToolOutputError
from langfx_web.messages import ToolCall
from langfx_web.tools import Tool, ToolContext, ToolResult, tool


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
