"""Every answer of the parity table has the outcome that is stated for us: value and types, or the error's code."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from langfx_web.errors import LangfxError
from langfx_web.protocols import read_answer
from langfx_web.schemas import Schema
from langfx_web.schemas.unknown import UNKNOWN
from tests.protocols.parity_types import type_of
from tests.protocols.wanted import events, pieces

CASES = json.loads(Path(__file__).with_name("parity.json").read_text("utf-8"))
SCHEMAS: dict[str, Schema] = {}


def schema_of(expression: str) -> Schema:
    """One schema per type: building it is not what is tested."""
    return SCHEMAS.setdefault(expression, Schema(type_of(expression)))


def written(value: Any) -> Any:
    """A value as the table writes it, so that 1, 1.0 and True differ."""
    if isinstance(value, BaseModel):
        members = {name: getattr(value, name) for name in type(value).model_fields}
        return {"$class": type(value).__name__, **{name: written(item) for name, item in members.items()}}
    if dataclasses.is_dataclass(value):
        members = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return {"$class": type(value).__name__, **{name: written(item) for name, item in members.items()}}
    if value is UNKNOWN:
        return {"$unknown": True}
    if isinstance(value, Enum):
        return {"$enum": f"{type(value).__name__}.{value.name}"}
    if isinstance(value, date):
        return {"$date": value.isoformat()}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, set):
        return {"$set": sorted(map(written, value))}
    if isinstance(value, tuple):
        return {"$tuple": list(map(written, value))}
    if isinstance(value, list):
        return list(map(written, value))
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: written(item) for key, item in value.items()}
        return {"$dict": [[written(key), written(item)] for key, item in value.items()]}
    if isinstance(value, float):
        return {"$float": repr(value)} if value.is_integer() else value
    if isinstance(value, int) and abs(value) > 2**53:
        return {"$int": str(value)}
    return value


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
