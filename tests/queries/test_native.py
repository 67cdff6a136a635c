"""Values that a provider is asked for by their schema."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import langfx_web as lf
from langfx_web.errors import (
    InvalidArgumentError,
    MappingError,
    OutputMismatchError,
    SchemaError,
    UnsupportedCapabilityError,
)
from langfx_web.messages import SystemMessage, UserMessage
from langfx_web.testing import StaticResponse, StaticSequence


class Search(BaseModel):
    query: str
    limit: int = 10
    tag: str | None = None


async def native(schema: Any, *answers: str, **options: Any) -> tuple[Any, list[Any]]:
    """The value, and the requests that it took."""
    lm = StaticSequence(answers)
    value = await lf.query("Which {{a}}?", schema, lm=lm, native_structured_output=True, vars={"a": "one"}, **options)
    return value, lm.requests


async def test_the_model_is_told_the_schema_and_nothing_else() -> None:
    """No labels, no instructions; null stands for a default."""
    value, (request,) = await native(Search, '{"query": "q", "limit": null, "tag": null}', system_message="Be brief.")
    assert value == Search(query="q", limit=10, tag=None)
    assert request.messages == (SystemMessage("Be brief."), UserMessage("Which one?"))
    assert request.schema == lf.Schema(Search).native(strict=True).document
    assert request.schema["required"] == ["query", "limit", "tag"]


@pytest.mark.parametrize(
    ("schema", "answer", "expected"), [(int, '{"value": 3}', 3), (list[int], '{"value": [1]}', [1])]
)
async def test_a_root_that_is_no_object_comes_wrapped(schema: Any, answer: str, expected: Any) -> None:
    """The wrapper is not seen by the caller."""
    value, (request,) = await native(schema, answer)
    assert value == expected
    assert request.schema["properties"].keys() == {"value"}


async def test_a_bad_answer_is_a_mapping_error_here_too() -> None:
    """It may be repaired, for which the schema is told again."""
    bad = '{"query": null, "limit": 1, "tag": null}'
    with pytest.raises(MappingError) as caught:
        await native(Search, bad)
    assert isinstance(caught.value.cause, OutputMismatchError)
    assert caught.value.path == ("query",)
    value, requests = await native(Search, bad, '{"query": "q", "limit": 1, "tag": "t"}', autofix=1)
    assert value == Search(query="q", limit=1, tag="t")
    assert requests[1].schema == requests[0].schema
    assert requests[1].messages[-1].text.startswith("That is not a valid JSON: ")


async def test_langfx_32_the_mode_is_never_changed_in_silence() -> None:
    """A model without the capability, examples, a context, a type without such a form: nothing is sent."""
    lm = StaticResponse("1")
    poor = StaticResponse("1", capabilities={"native_schema": False})
    bad: list[tuple[type[Exception], dict[str, Any]]] = [
        (UnsupportedCapabilityError, {"lm": poor}),
        (InvalidArgumentError, {"examples": [lf.MappingExample("a", 1)]}),
        (InvalidArgumentError, {"context": "a"}),
        (InvalidArgumentError, {"schema": str}),
        (SchemaError, {"schema": dict[str, Any]}),
    ]
    for kind, options in bad:
        with pytest.raises(kind):
            await lf.query(**{"prompt": "hi", "schema": int, "lm": lm, "native_structured_output": True, **options})
    assert (lm.requests, poor.requests) == ([], [])
