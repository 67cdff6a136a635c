"""Every answer of the parity table has the outcome that is stated for us: value and types, or the error's code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from langfx_web.errors import LangfxError
from langfx_web.protocols import read_answer
from langfx_web.schemas import Schema
from tests.protocols.parity_types import type_of
from tests.protocols.wanted import events, pieces
from tests.protocols.written import written

CASES = json.loads(Path(__file__).with_name("parity.json").read_text("utf-8"))
SCHEMAS: dict[str, Schema] = {}


def schema_of(expression: str) -> Schema:
    """One schema per type: building it is not what is tested."""
    return SCHEMAS.setdefault(expression, Schema(type_of(expression)))


@pytest.mark.parametrize(("id_", "name", "expression", "response", "outcome"), CASES, ids=[case[0] for case in CASES])
def test_langfx_17_the_outcome_is_ours(id_: str, name: Any, expression: str, response: str, outcome: Any) -> None:
    """The value, with its types, or the code of the error."""
    if isinstance(outcome, str):
        with pytest.raises(LangfxError) as caught:
            read_answer(
                response, type_of(expression) if expression.startswith("[") else schema_of(expression), protocol=name
            )
        assert caught.value.code == outcome
        return
    value = read_answer(response, schema_of(expression), protocol=name)
    assert json.dumps(written(value)) == json.dumps(outcome["value"])


STREAMED = [case for case in CASES if not case[2].startswith("[") and case[2] != "str"]


@pytest.mark.parametrize(
    ("id_", "name", "expression", "response", "outcome"), STREAMED, ids=[case[0] for case in STREAMED]
)
def test_langfx_18_an_answer_in_pieces_is_the_same_answer(
    id_: str, name: Any, expression: str, response: str, outcome: Any
) -> None:
    """One character at a time and in two parts at every place, an answer has the events of the whole."""
    schema = schema_of(expression)
    whole = events([response], schema, name=name)
    assert events(pieces(response, 1), schema, name=name) == whole
    for place in range(1, len(response), 1 + len(response) // 40):
        assert events([response[:place], response[place:]], schema, name=name) == whole
