"""JSON values that cannot be changed, and are otherwise like any other."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from langfx_web.errors import NotPortableError
from langfx_web.json_text import dumps
from langfx_web.messages.frozen import frozen

VALUE: dict[str, Any] = {"a": [1, {"b": [None, True]}], "c": {"d": 1.5}}


def test_it_equals_and_is_written_like_the_value_it_was_made_of() -> None:
    """Comparing and writing make no difference between the two."""
    assert frozen(VALUE) == VALUE
    assert dumps(frozen(VALUE)) == dumps(VALUE)
    assert json.loads(json.dumps(frozen(VALUE))) == VALUE


def test_it_is_a_copy() -> None:
    """What happens to the original does not happen to it."""
    original: dict[str, Any] = {"a": [1]}
    kept = frozen(original)
    original["a"].append(2)
    assert kept == {"a": [1]}


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(x=1),
        lambda value: value.setdefault("x", 1),
        lambda value: value.pop("a"),
        lambda value: value.popitem(),
        lambda value: value.clear(),
        lambda value: value.__setitem__("a", 1),
        lambda value: value.__delitem__("a"),
        lambda value: value.__ior__({"x": 1}),
        lambda value: value["a"].append(1),
        lambda value: value["a"].extend([1]),
        lambda value: value["a"].insert(0, 1),
        lambda value: value["a"].remove(1),
        lambda value: value["a"].pop(),
        lambda value: value["a"].clear(),
        lambda value: value["a"].sort(),
        lambda value: value["a"].reverse(),
        lambda value: value["a"].__setitem__(0, 1),
        lambda value: value["a"].__delitem__(0),
        lambda value: value["a"].__iadd__([1]),
        lambda value: value["a"].__imul__(2),
        lambda value: value["a"][1].update(b=1),
        lambda value: setattr(value, "x", 1),
    ],
)
def test_nothing_in_it_can_be_changed(change: Any) -> None:
    """At any depth, by any method."""
    value = frozen(VALUE)
    with pytest.raises((TypeError, AttributeError)):
        change(value)
    assert value == VALUE


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_of_it_can_be_changed(copied: Any) -> None:
    """Who needs another value takes a copy."""
    other = copied(frozen(VALUE))
    other["a"][1]["b"].append(3)
    assert other == {"a": [1, {"b": [None, True, 3]}], "c": {"d": 1.5}}


def test_what_is_no_json_is_refused_with_its_path() -> None:
    """A set, a number that is not finite, a key that is no str."""
    for value, path in (({"a": {1}}, ["a"]), ([float("nan")], [0]), ({"a": {1: 2}}, ["a"])):
        with pytest.raises(NotPortableError) as caught:
            frozen(value)
        assert caught.value.details["path"] == path
