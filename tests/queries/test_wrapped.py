"""A value that stands in an object which was put around it is shown as if it stood alone."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.events import FieldEnd, FieldStart, ObjectEnd, ObjectStart, StringFieldDelta, ValueEvent
from langfx_web.protocols import ParseLimits, protocol
from langfx_web.queries.wrapped import Unwrapping
from tests.protocols.wanted import Names, events, joined, pieces


def shown(text: str, size: int) -> list[ValueEvent]:
    reader = Unwrapping(protocol("json").reader(Names(root_kinds=["dict"])))
    found: list[ValueEvent] = []
    for piece in pieces(text, size):
        found += reader.feed(piece)
    return joined(found + reader.finish())


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("value", ['[{"a": "x", "value": [1, {}]}, "value", null]', "{}", '{"value": {"value": 1}}'])
def test_a_container_is_shown_without_its_wrapper(value: str, size: int) -> None:
    """The events of the value alone, wherever it is cut; fields of the wrapper's name inside it stay."""
    assert shown(f'{{"value": {value}}}', size) == events([value], name="json")


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize(("text", "value"), [('"h\\u00e9"', "hé"), ("300", 300), ("null", None), ('""', "")])
def test_a_scalar_has_a_field_of_its_own(text: str, value: Any, size: int) -> None:
    """As an answer that is no container."""
    deltas = [StringFieldDelta((), value)] if isinstance(value, str) and value else []
    assert shown(f'{{"value": {text}}}', size) == [FieldStart(()), *deltas, FieldEnd((), value)]


def test_what_else_a_wrapper_holds_is_not_shown() -> None:
    """Only the value is the answer; reading the whole decides what the rest is."""
    assert shown('{"note": {"value": 1}, "value": [], "other": 2}', 1) == [ObjectStart((), "list"), ObjectEnd(())]


def test_limits_are_those_of_the_reader() -> None:
    """They end it as any other."""
    reader = Unwrapping(protocol("json").reader(Names(root_kinds=["dict"]), limits=ParseLimits(max_depth=2)))
    reader.feed('{"value": [')
    assert reader.limit_error is None
    reader.feed("[")
    assert reader.limit_error is not None
