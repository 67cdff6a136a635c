"""A function with type hints is a tool: what it is called, what is told of it, what is refused at once."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

import langfx_web as lf
from langfx_web.errors import InvalidValueError, ToolArgumentError


@dataclasses.dataclass
class At:
    x: int
    y: int = 0


class Item(BaseModel):
    """Something to buy."""

    name: str = Field(min_length=1)
    at: At | None = None


class Node(BaseModel):
    value: int
    inner: Node | None = None


class Named(TypedDict):
    name: str


class Shop:
    """A shop."""

    def __init__(self, stock: int) -> None:
        self.stock = stock

    def find(self, name: str, *, most: int = 3) -> str:
        """Find something.

        Args:
            name: what it is called
            most (int): how many
        """
        return f"{self.stock} {name} {most}"

    def __call__(self, name: str) -> str:
        """Not said where the class says something."""
        return f"called {name}"


def pay(account: str, amount: int, context: lf.ToolContext | None = None) -> str:
    """Pay from an account.

    :param amount: how much
    """
    assert context is not None
    return f"{account} {amount} {context.execution_id[:4]}"


def properties(tool: lf.Tool) -> dict[str, Any]:
    found: dict[str, Any] = tool.describe()["inputSchema"]["properties"]
    return found


async def test_a_method_of_an_object() -> None:
    """It keeps its object; its parameters are described by its docstring."""
    tool = lf.tool(Shop(7).find)
    assert (tool.name, tool.description) == ("find", "Find something.")
    assert properties(tool) == {
        "name": {"type": "string", "description": "what it is called"},
        "most": {"type": "integer", "description": "how many", "default": 3},
    }
    assert await tool.run({"name": "pen"}) == "7 pen 3"


async def test_what_a_partial_binds_is_no_argument() -> None:
    """Neither by name nor by position: a model can neither see nor change it."""
    for bound in (functools.partial(pay, account="mine"), functools.partial(pay, "mine")):
        tool = lf.tool(bound)
        assert (tool.name, tool.description) == ("pay", "Pay from an account.")
        assert properties(tool) == {"amount": {"type": "integer", "description": "how much"}}
        assert await tool.run({"amount": 3}) == "mine 3 exe_"
        with pytest.raises(ToolArgumentError):
            tool.prepare({"amount": 3, "account": "yours"})


async def test_an_object_that_can_be_called() -> None:
    """It needs a name of its own; the class says what it is for."""
    tool = lf.Tool(name="shop", function=Shop(7))
    assert (tool.description, list(properties(tool))) == ("A shop.", ["name"])
    assert await tool.run({"name": "pen"}) == "called pen"


async def test_a_wrapped_function() -> None:
    """`functools.wraps` and a cache leave its signature as it was."""

    def twice(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def wrapper(*args: Any, **named: Any) -> str:
            return function(*args, **named) * 2

        return wrapper

    @twice
    def say(text: str) -> str:
        """Say it."""
        return text

    tools = [lf.tool(say), lf.tool(functools.cache(say))]
    assert [list(properties(tool)) for tool in tools] == [["text"], ["text"]]
    assert [await tool.run({"text": "ab"}) for tool in tools] == ["abab", "abab"]


async def test_defaults_of_any_kind() -> None:
    """The model is told of those that JSON has; the function gets each as it is, and lists of its own."""
    nothing = object()

    @lf.tool
    def odd(
        a: str = nothing,  # type: ignore[assignment]
        day: date = date(2020, 1, 1),
        n: int = None,  # type: ignore[assignment]  # noqa: RUF013
        tags: list[str] = [],  # noqa: B006
        at: At = At(1),  # noqa: B008
        far: float = float("inf"),
    ) -> bool:
        """Odd."""
        tags.append("mine")
        return a is nothing and n is None and day == date(2020, 1, 1) and tags == ["mine"] and far > 1e300

    assert {name: member.get("default") for name, member in properties(odd).items()} == {
        "a": None,
        "day": "2020-01-01",
        "n": None,
        "tags": [],
        "at": {"x": 1, "y": 0},
        "far": None,
    }
    assert odd.describe()["inputSchema"]["required"] == []
    prepared = odd.prepare({})
    assert prepared.input == {"day": "2020-01-01", "n": None, "tags": [], "at": {"x": 1, "y": 0}}
    assert (await prepared.run(), await odd.run({})) == (True, True)


def test_a_default_may_be_a_field() -> None:
    """`Field(…)` in its place, or beside the type, says the same."""

    @lf.tool
    def search(
        query: str = Field(min_length=2, description="what"),
        limit: int = Field(3, ge=1),
        page: Annotated[int, Field(default=1, description="own")] = 1,
    ) -> None:
        """Search.

        Args:
            query: not this
            limit: how many
            page: not this
        """

    assert properties(search) == {
        "query": {"type": "string", "description": "what", "minLength": 2},
        "limit": {"type": "integer", "description": "how many", "default": 3, "minimum": 1},
        "page": {"type": "integer", "description": "own", "default": 1},
    }
    assert search.prepare({"query": "ab"}).arguments == {"query": "ab", "limit": 3, "page": 1}


async def test_models_and_dataclasses_as_parameters() -> None:
    """The function gets instances of them."""

    @lf.tool
    def buy(item: Item, ways: list[At], named: Named) -> list[Any]:
        """Buy."""
        return [item, ways, named]

    value = await buy.run({"item": {"name": "pen", "at": {"x": 1}}, "ways": [{"x": 2, "y": 3}], "named": {"name": "n"}})
    assert value == [Item(name="pen", at=At(1)), [At(2, 3)], {"name": "n"}]


@pytest.mark.parametrize("input", [Item, lf.Schema(Item), At, Named, dict[str, int]])
async def test_one_value_as_the_whole_input(input: Any) -> None:
    """A model, a dataclass, a TypedDict, an open dict or a schema of one."""
    given = {"name": "pen"} if input in (Item, Named) or isinstance(input, lf.Schema) else {"x": 3}

    @lf.tool(input=input)
    def take(value: Any) -> Any:
        """Take it."""
        return value

    prepared = take.prepare(given)
    assert take.describe()["inputSchema"]["type"] == "object"
    assert await prepared.run() == lf.Schema.of(input).validate(given)
    with pytest.raises(ToolArgumentError):
        take.prepare({"name": 1, "x": "y"})


async def test_an_input_that_contains_itself() -> None:
    """Providers want an object at the root, not a reference."""

    @lf.tool(input=Node)
    def depth(node: Node) -> int:
        """Measure it."""
        return 1 + (0 if node.inner is None else 1)

    described = depth.describe()["inputSchema"]
    assert (described["type"], list(described["properties"])) == ("object", ["value", "inner"])
    assert list(described["$defs"]) == ["Node"]
    assert await depth.run({"value": 1, "inner": {"value": 2}}) == 2


async def test_a_json_schema_as_input_and_output() -> None:
    """Used as they are written; values stay plain, and the context comes second where it is wanted."""
    input = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "x-mine": 1}
    tool = lf.Tool(
        name="double",
        description="Double it.",
        input=input,
        output={"type": "integer", "maximum": 10},
        function=lambda given, context: given["n"] * (2 if context.call.name == "double" else 0),
    )
    assert tool.describe() == {
        "name": "double",
        "description": "Double it.",
        "inputSchema": input,
        "outputSchema": {"type": "integer", "maximum": 10},
    }
    assert await tool.run({"n": 4.0}) == 8
    with pytest.raises(lf.errors.ToolOutputError):
        await tool.run({"n": 6})


async def test_async_functions() -> None:
    """Coroutines, and functions that return one."""

    @lf.tool
    async def wait(n: int) -> int:
        """Wait."""
        await asyncio.sleep(0)
        return n

    assert await wait.run({"n": 1}) == 1
    assert await lf.Tool(name="w", description="d", input=dict[str, int], function=wait.run).run({"n": 2}) == 2


@pytest.mark.parametrize("hint", [lf.ToolResult, lf.Image, list[str | lf.Image], lf.Image | None, Any])
def test_what_is_shown_as_it_is_has_no_output_schema(hint: Any) -> None:
    """Results, media, and whatever an author says nothing of."""

    def look() -> Any:
        """Look."""

    look.__annotations__["return"] = hint
    assert "outputSchema" not in lf.tool(look).describe()


def test_a_result_beside_a_type_leaves_the_type() -> None:
    """A tool may report a failure instead of its value."""

    @lf.tool
    def count() -> int | lf.ToolResult:
        """Count."""
        return lf.ToolResult("none", is_error=True)

    assert count.describe()["outputSchema"] == {"type": "integer"}


def search(
    query: Annotated[str, Field(description="what to search", examples=["cats"], min_length=1)],
    limit: Annotated[int, Field(description="max", ge=1)] = 10,
) -> list[str]:
    """Search.

    Args:
        query: not this text
        limit: nor this
    """
    return [query] * limit


def test_context_15_what_is_told_and_what_is_taken() -> None:
    """The schema, the arguments that fit and those that do not, and checksums that join equal calls."""
    tool = lf.tool(search)
    assert json.dumps(tool.describe()["inputSchema"]) == (
        '{"type": "object", "properties": {"query": {"type": "string", "description": "what to search", '
        '"examples": ["cats"], "minLength": 1}, "limit": {"type": "integer", "description": "max", "default": 10, '
        '"minimum": 1}}, "required": ["query"], "additionalProperties": false}'
    )
    assert tool.prepare({"query": "a"}).arguments == {"query": "a", "limit": 10}
    taken = tool.prepare({"query": "a", "limit": 5.0})
    assert (taken.arguments, type(taken.arguments["limit"]), taken.input) == (
        {"query": "a", "limit": 5},
        int,
        taken.arguments,
    )
    for given, problem in REFUSED:
        with pytest.raises(ToolArgumentError) as caught:
            tool.prepare(given)
        assert caught.value.code == "tool_arguments_invalid"
        assert [(item["type"], item["path"]) for item in caught.value.details["problems"]] == [problem]
    checksums = [
        tool.prepare(args).checksum
        for args in ({"query": "a", "limit": 10}, {"limit": 10, "query": "a"}, {"query": "a"}, {"query": "b"})
    ]
    assert checksums[0] == checksums[1]
    assert len(set(checksums)) == 3


REFUSED: list[tuple[Any, tuple[str, list[str]]]] = [
    ({}, ("missing", ["query"])),
    (None, ("missing", ["query"])),
    ({"query": ""}, ("string_too_short", ["query"])),
    ({"query": "a", "limit": "5"}, ("int_type", ["limit"])),
    ({"query": "a", "limit": True}, ("int_type", ["limit"])),
    ({"query": "a", "limit": None}, ("int_type", ["limit"])),
    ({"query": "a", "limit": 1.5}, ("int_type", ["limit"])),
    ({"query": "a", "limit": 0}, ("greater_than_equal", ["limit"])),
    ({"query": "a", "extra": 1}, ("extra_forbidden", ["extra"])),
    ([], ("dict_type", [])),
    ("x", ("dict_type", [])),
    (lf.ToolCall("c", "search", None, raw_args="[]"), ("dict_type", [])),
    (lf.ToolCall("c", "search", None, raw_args='{"q"'), ("json_invalid", [])),
]


def generator(a: int) -> Any:
    """Yield."""
    yield a


async def async_generator(a: int) -> Any:
    """Yield."""
    yield a


def untyped(a) -> None:  # type: ignore[no-untyped-def]
    """Untyped."""


def silent(a: int) -> None: ...


def many(*rest: int) -> None:
    """Many."""


def named(**rest: int) -> None:
    """Named."""


def positional(a: int, /) -> None:
    """By position."""


def fine(a: int) -> None:
    """Fine."""


def option(**options: Any) -> Callable[[], lf.Tool]:
    return lambda: lf.tool(**options)(fine)


BAD_DECLARATIONS: list[tuple[Callable[[], Any], str]] = [
    (lambda: lf.tool(generator), "tool 'generator': a generator"),
    (lambda: lf.tool(async_generator), "tool 'async_generator': a generator"),
    (lambda: lf.tool(untyped), "tool 'untyped': the parameter 'a' has no type"),
    (lambda: lf.tool(silent), "tool 'silent': it needs a description"),
    (lambda: lf.tool(many), "tool 'many': the parameter 'rest'"),
    (lambda: lf.tool(named), "tool 'named': the parameter 'rest'"),
    (lambda: lf.tool(positional), "tool 'positional': the parameter 'a'"),
    (lambda: lf.tool(Shop.find), "the parameter 'self' has no type: take the method"),
    (lambda: lf.tool(Item), "is no function"),
    (lambda: lf.Tool(function=3), "is no function"),  # type: ignore[arg-type]
    (lambda: lf.tool(lambda: 1), "a name has letters"),
    *[(option(name=name), f"tool {name!r}") for name in ("", "1a", "a b", "a" * 65, "artifact_x", "ä", 3)],
    (option(description=" "), "description"),
    (option(description="x" * 65537), "64 KiB"),
    (option(input={"type": "object", "title": "x" * 65536}), "64 KiB"),
    *[(option(input=bad), "no object") for bad in ({"type": "array"}, {}, int, list[int], lf.Schema(int), Item | At)],
    *[(option(timeout=bad), "timeout") for bad in (float("nan"), float("inf"), 0, -1, True, "3")],
    (option(on_collision="sometimes"), "on_collision"),
    (option(idempotent=1), "idempotent"),
    (option(writes="no"), "writes"),
    (option(trusted=None), "trusted"),
    (option(ephemeral=0), "ephemeral"),
    (option(approval="yes"), "approval"),
    (option(meta=[1]), "meta"),
]


@pytest.mark.parametrize(("declare", "said"), BAD_DECLARATIONS)
def test_context_13_what_is_no_tool_is_refused_where_it_is_declared(declare: Callable[[], Any], said: str) -> None:
    """With the tool and what is wrong of it."""
    with pytest.raises(InvalidValueError) as caught:
        declare()
    assert caught.value.code == "invalid_tool"
    assert said in str(caught.value)


class Opaque:
    pass


def opaque(way: Opaque) -> None:
    """Opaque."""


def gives_opaque() -> Opaque:
    """Opaque."""
    return Opaque()


def unknown(way: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Unknown."""


def large(way: Annotated[str, Field(description="x" * 65536)]) -> None:
    """Large."""


@pytest.mark.parametrize(
    ("function", "said"),
    [(opaque, "way"), (gives_opaque, "output"), (unknown, "Nowhere"), (large, "64 KiB")],
)
def test_types_that_no_model_can_be_told_of(function: Callable[..., Any], said: str) -> None:
    """They are named when the tool is first described, before anything is sent or run."""
    tool = lf.tool(function)
    for use in (tool.declaration, tool.describe, lambda: tool.prepare({})):
        with pytest.raises(InvalidValueError) as caught:
            use()
        assert caught.value.code == "invalid_tool"
        assert function.__name__ in str(caught.value)
        assert said in str(caught.value)


def test_nobody_can_change_a_tool_from_outside() -> None:
    """Its description is the caller's own copy, and it has no attribute to set."""
    tool = lf.tool(search)
    tool.describe()["inputSchema"]["properties"].clear()
    assert list(properties(tool)) == ["query", "limit"]
    for name in ("name", "idempotent", "approval", "meta"):
        with pytest.raises(AttributeError):
            setattr(tool, name, None)


def test_approval_is_kept_as_it_was_said() -> None:
    """Never, always, or as a function of the arguments says."""

    def asks(args: dict[str, Any]) -> bool:
        return bool(args["a"] > 3)

    assert [lf.tool(approval=given)(fine).approval for given in (False, True, asks)] == [False, True, asks]
    assert (lf.tool(fine).approval, lf.tool(fine).ephemeral, lf.tool(fine).on_collision) == (False, False, "error")
