"""Limits: checked when they are made, filled in where they are used."""

from __future__ import annotations

import pytest

from langfx_web import Limits
from langfx_web.agentic import of_a_turn, of_one_run
from langfx_web.errors import InvalidValueError


@pytest.mark.parametrize(
    "given",
    [
        {"max_steps": 0},
        {"max_steps": True},
        {"max_tool_calls": -1},
        {"max_parallel_tools": 0},
        {"max_steps": 1.5},
        {"timeout": float("nan")},
        {"timeout": "60"},
        {"timeout": True},
        {"timeout": 10**400},
        {"max_parallel_tools": None},
    ],
)
def test_bad_limits_are_refused(given) -> None:
    """With the name of the limit."""
    with pytest.raises(InvalidValueError) as caught:
        Limits(**given)
    assert caught.value.code == "invalid_agent"
    assert next(iter(given)) in str(caught.value)


def test_defaults_depend_on_the_place() -> None:
    """A one-shot run is shorter than a turn; what the author set stays."""
    assert of_one_run(Limits()) == Limits(max_steps=8, max_tool_calls=12, timeout=60.0)
    assert of_a_turn(Limits(max_steps=3)) == Limits(max_steps=3, max_tool_calls=200)
    assert of_one_run(Limits(timeout=0)).timeout == 0
