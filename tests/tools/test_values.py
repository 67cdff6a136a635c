"""Values by dotted path, in which nobody else's hands are."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import InvalidValueError
from langfx_web.tools import Registry, Tool


def test_context_14_what_an_author_says_of_a_tool_is_read_only() -> None:
    """It is read by dotted path; neither what was given nor what is returned leads back into it."""
    given: dict[str, Any] = {"a": {"b": 1}, "scopes": ["read"]}
    tool = Tool(name="t", description="d", input={"type": "object"}, function=lambda given: given, meta=given)
    given["scopes"].append("write")
    tool.meta.get("scopes").append("admin")
    tool.meta.all()["a"]["b"] = 2
    assert (tool.meta.get("a.b"), tool.meta.get("scopes")) == (1, ["read"])
    with pytest.raises(InvalidValueError) as caught:
        tool.meta.set("a.b", 2)
    assert caught.value.code == "invalid_registry"
    assert tool.meta.all() == {"a": {"b": 1}, "scopes": ["read"]}


def test_a_registry_that_one_may_write_to() -> None:
    """Dicts on the way are made; what is there and no dict is not lost."""
    registry = Registry()
    mine = ["x"]
    registry.set("a.b.c", mine)
    registry.set("a.n", None)
    mine.append("y")
    assert registry.all() == {"a": {"b": {"c": ["x"]}, "n": None}}
    with pytest.raises(InvalidValueError, match=r"'b', which holds a list|through 'c'"):
        registry.set("a.b.c.d", 1)
    for path in ("", 3):
        with pytest.raises(InvalidValueError):
            registry.set(path, 1)  # type: ignore[arg-type]


def test_what_is_there() -> None:
    """None, 0, "" and False are values; a missing one is the default; lists and empty dicts are leaves."""
    registry = Registry({"none": None, "zero": 0, "text": "", "no": False, "deep": {"list": [{"a": 1}], "empty": {}}})
    assert all(registry.has(path) for path in ("none", "zero", "text", "no", "deep.list", "deep", "deep.empty"))
    assert not any(registry.has(path) for path in ("nothing", "deep.nothing", "text.a", "deep.list.a", "", "deep."))
    assert (registry.get("nothing"), registry.get("none", 1), registry.get("deep.x", 1)) == (None, None, 1)
    assert registry.keys() == ["none", "zero", "text", "no", "deep.list", "deep.empty"]


def test_keys_with_dots() -> None:
    """Names that others made, such as those of a protocol, are found as they are."""
    registry = Registry({"io.example": {"a.b": 1, "c": 2}, "io": {"c": 3}})
    assert [registry.get(path) for path in ("io.example.a.b", "io.example.c", "io.c")] == [1, 2, 3]
    assert all(registry.has(path) for path in registry.keys())  # noqa: SIM118  # its keys are paths


@pytest.mark.parametrize("initial", [[("a", 1)], "a", 3, {1: 2}])
def test_what_it_cannot_start_from(initial: Any) -> None:
    """Only an object by names."""
    with pytest.raises(InvalidValueError) as caught:
        Registry(initial)
    assert caught.value.code == "invalid_registry"


def test_what_it_shows_of_itself() -> None:
    """Names, for values may be secrets; equal ones are equal."""
    assert repr(Registry({"key": "sk-secret", "a": {"b": 1}})) == "Registry(key, a.b)"
    assert Registry({"a": 1}) == Registry(Registry({"a": 1}), read_only=True)
    assert Registry({"a": 1}) != Registry({"a": 2})
