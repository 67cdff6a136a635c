"""What is told of a type, what is written of its values, and what is read agree, whatever the type."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from langfx_web.errors import SchemaError
from langfx_web.schemas import Schema
from langfx_web.schemas.json_schema import check
from tests.protocols.test_values import pairs_of_type_and_values


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_the_documents_of_a_type_take_what_is_written_of_its_values(data: st.DataObject) -> None:
    """The portable one and the native ones; reading what they take gives the value."""
    type_, values = data.draw(pairs_of_type_and_values())
    value = data.draw(values)
    schema = Schema(type_)
    plain = schema.dump(value)
    assert check(schema.json_schema(), plain) == []
    assert exactly(schema.validate(plain)) == exactly(value)
    assert schema.validate(value) == value
    for strict in (False, True):
        try:
            native = schema.native(strict)
        except SchemaError:
            assume(strict)
            continue
        sent = {"value": plain} if native.wrapped else plain
        assert check(native.document, sent) == []
        assert exactly(schema.build(native.decode(sent), protocol="json")) == exactly(value)


def exactly(value: Any) -> tuple[Any, type]:
    """A value with its type."""
    return value, type(value)
