"""What all request bodies have in common."""

from __future__ import annotations

import pytest

from langfx_web import errors
from langfx_web.llms.sampling import SamplingOptions
from langfx_web.llms.wire_body import body_of, parameters, refuse_options
from langfx_web.messages import ToolDeclaration


def test_own_fields_come_last() -> None:
    """Objects merge, `tools` and `include` are appended to, the rest is replaced; what is None is not sent."""
    fields = {"a": {"x": 1}, "tools": [1], "b": 1, "c": None}
    extras = {"a": {"y": 2}, "tools": [2], "include": ["i"], "b": 2}
    assert body_of(fields, extras, ("model",)) == {"a": {"x": 1, "y": 2}, "tools": [1, 2], "b": 2, "include": ["i"]}
    assert body_of(fields, None, ()) == {"a": {"x": 1}, "tools": [1], "b": 1}
    with pytest.raises(errors.InvalidArgumentError, match="model"):
        body_of(fields, {"model": "m"}, ("model",))
    with pytest.raises(errors.InvalidArgumentError, match=r"extras\.tools must be several"):
        body_of(fields, {"tools": 7}, ())


def test_an_option_that_a_wire_lacks_is_named() -> None:
    """With the wire; one that is not set is not missed."""
    refuse_options(SamplingOptions(temperature=1), ("top_k", "stop"), "Plain")
    with pytest.raises(errors.UnsupportedCapabilityError, match=r"stop .* Plain"):
        refuse_options(SamplingOptions(stop=("x",)), ("top_k", "stop"), "Plain")


def test_a_tool_without_parameters_has_an_empty_object_of_them() -> None:
    """Other schemas go as they are declared, but for the name of their dialect."""
    tool = ToolDeclaration(name="f", description="", input_schema={"$schema": "s"})
    assert parameters(tool) == {"type": "object", "properties": {}}
    strict = ToolDeclaration(
        name="f", description="", input_schema={"$schema": "s", "type": "object", "minProperties": 1}
    )
    assert parameters(strict) == {"type": "object", "minProperties": 1}
