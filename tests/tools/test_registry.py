"""Tools by name: order, names that are taken, merging."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.errors import InvalidValueError, ToolNameTakenError
from langfx_web.tools import Tool, ToolRegistry


def named(name: str, on_collision: Literal["error", "replace", "keep"] = "error", *, ephemeral: bool = False) -> Tool:
    return Tool(
        name=name,
        description="d",
        input={"type": "object"},
        function=lambda given: given,
        on_collision=on_collision,
        ephemeral=ephemeral,
    )


def test_context_21_names_are_taken_once() -> None:
    """A second tool of a name is refused, or put in its place; nobody else's list leads into the registry."""
    first, other, second = named("a"), named("b"), named("a", "replace")
    registry = ToolRegistry([first, other])
    with pytest.raises(ToolNameTakenError) as caught:
        registry.register(second)
    assert (caught.value.code, caught.value.tool) == ("tool_name_taken", "a")
    registry.register(second, overwrite=True)
    assert registry.all() == [second, other]
    registry.all().clear()
    registry.unregister("nothing")
    assert (registry.names(), registry.get("a"), registry.get("A"), registry.has("b")) == (
        ["a", "b"],
        second,
        None,
        True,
    )
    registry.unregister("a")
    assert (registry.names(), len(registry), "a" in registry) == (["b"], 1, False)


def test_context_22_merging() -> None:
    """The incoming tool decides, then the option; the existing one is not asked."""
    one, two = named("a"), named("a")
    assert ToolRegistry.merge([ToolRegistry([one]), ToolRegistry([named("b")])]).names() == ["a", "b"]
    inputs = [ToolRegistry([one, named("z")]), ToolRegistry([two])]
    with pytest.raises(ToolNameTakenError):
        ToolRegistry.merge(inputs)
    assert ToolRegistry.merge(inputs, on_collision="replace").get("a") is two
    assert ToolRegistry.merge(inputs, on_collision="keep").get("a") is one
    replacing, keeping = named("a", "replace"), named("a", "keep")
    merged = ToolRegistry.merge([inputs[0], ToolRegistry([replacing])])
    assert (merged.get("a"), merged.names()) == (replacing, ["a", "z"])
    assert ToolRegistry.merge([ToolRegistry([replacing]), ToolRegistry([keeping])]).get("a") is replacing
    assert ToolRegistry.merge([ToolRegistry([keeping]), ToolRegistry([one])], on_collision="replace").get("a") is one
    assert [registry.names() for registry in inputs] == [["a", "z"], ["a"]]
    with pytest.raises(InvalidValueError):
        ToolRegistry.merge(inputs, on_collision="sometimes")  # type: ignore[arg-type]


CHOICES = st.sampled_from(["error", "replace", "keep"])


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), CHOICES), max_size=4), CHOICES)
def test_merging_follows_its_rule(rooms: list[dict[str, str]], option: str) -> None:
    """The same as a plain dict that is filled tool by tool."""
    inputs = [ToolRegistry([named(name, choice) for name, choice in room.items()]) for room in rooms]  # type: ignore[arg-type]
    wanted: dict[str, Tool] = {}
    failed = False
    for tool in [tool for registry in inputs for tool in registry]:
        choice = tool.on_collision if tool.on_collision != "error" else option
        failed = failed or (tool.name in wanted and choice == "error")
        if tool.name not in wanted or choice == "replace":
            wanted[tool.name] = tool
    if failed:
        with pytest.raises(ToolNameTakenError):
            ToolRegistry.merge(inputs, on_collision=option)  # type: ignore[arg-type]
    else:
        assert ToolRegistry.merge(inputs, on_collision=option).all() == list(wanted.values())  # type: ignore[arg-type]


def test_ephemeral_tools_go_when_they_are_told() -> None:
    """The others stay in their order."""
    registry = ToolRegistry([named("a"), named("b", ephemeral=True), named("c")])
    registry.prune_ephemeral()
    assert registry.names() == ["a", "c"]


@pytest.mark.parametrize("bad", [[lambda: 1], {"other": named("a")}, ["a"]])
def test_only_tools_under_their_own_names(bad: object) -> None:
    """A function without the decorator, a key that is not the tool's name."""
    with pytest.raises(InvalidValueError) as caught:
        ToolRegistry(bad)  # type: ignore[arg-type]
    assert caught.value.code == "invalid_tool"


def test_what_is_told_of_them() -> None:
    """Declarations for a provider, plain JSON for everybody else, in order."""
    registry = ToolRegistry({"b": named("b"), "a": named("a")})
    assert [declared.name for declared in registry.declarations()] == ["b", "a"]
    assert registry.describe() == [
        {"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in ("b", "a")
    ]
    assert repr(registry) == "ToolRegistry(['b', 'a'])"


def test_only_names_are_found_and_only_registries_merged() -> None:
    """Anything else is not there, and is no trouble; what is no registry is named."""
    registry = ToolRegistry([named("a")])
    for key in ([], {}, None, 7):
        registry.unregister(key)  # type: ignore[arg-type]
        assert (registry.get(key), registry.has(key), key in registry) == (None, False, False)  # type: ignore[arg-type]
    assert registry.names() == ["a"]
    for given_ in (7, ["a"], [[named("a")]]):
        with pytest.raises(InvalidValueError, match="only registries"):
            ToolRegistry.merge(given_)  # type: ignore[arg-type]
