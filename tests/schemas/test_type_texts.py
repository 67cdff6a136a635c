"""What models are told of every type of the parity table, kept as texts that people have read.

Set `WRITE_GOLDENS=1` to write them anew, and read what has changed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from langfx_web.errors import SchemaError
from langfx_web.protocols import protocol
from langfx_web.schemas import Schema
from tests.protocols.parity_types import type_of

HOME = Path(__file__).parent / "goldens"
CASES = json.loads((Path(__file__).parents[1] / "protocols" / "parity.json").read_text("utf-8"))
EXPRESSIONS = sorted({expression for _, _, expression, *_ in CASES})


def told(expression: str, name: str) -> str:
    """The text of a type under its annotation."""
    try:
        text = protocol(name).describe(Schema(type_of(expression)))
    except SchemaError as error:
        text = error.code
    return f"## {expression}\n{text}\n"


@pytest.mark.parametrize("name", ["python", "json"])
def test_langfx_16_the_text_of_a_type_is_the_same_every_time(name: str) -> None:
    """Annotations, classes, legends and constraints in python; one line of JSON Schema in JSON."""
    texts = "\n".join(told(expression, name) for expression in EXPRESSIONS)
    path = HOME / f"types.{name}.txt"
    if os.environ.get("WRITE_GOLDENS"):
        path.write_text(texts, "utf-8")
    assert texts == path.read_text("utf-8")
