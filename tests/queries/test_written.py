"""Values of the application as a model reads them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from langfx_web.errors import LangfxError
from langfx_web.protocols import protocol
from langfx_web.queries.written import written


class Spot(NamedTuple):
    x: int
    y: int


@dataclass
class Stop:
    spot: Spot
    on: date


class Tour(BaseModel):
    name: str
    stops: list[Stop]


TOUR = Tour(name="é", stops=[Stop(Spot(1, 2), date(2026, 5, 1))])


@pytest.mark.parametrize(
    ("value", "python", "json"),
    [
        (1.5, "1.5", "1.5"),
        ({"a": [1, None, "b"]}, "{\n  'a': [1, None, 'b']\n}", '{"a": [1, null, "b"]}'),
        (Spot(1, 2), "Spot(\n  x=1,\n  y=2\n)", "[1, 2]"),
        ([date(2026, 5, 1)], "['2026-05-01']", '["2026-05-01"]'),
        (
            {"tour": TOUR},
            "{\n  'tour': Tour(\n    name='é',\n    stops=[\n      Stop(\n        spot=Spot(\n          x=1,\n"
            "          y=2\n        ),\n        on='2026-05-01'\n      )\n    ]\n  )\n}",
            '{"tour": {"name": "é", "stops": [{"spot": [1, 2], "on": "2026-05-01"}]}}',
        ),
    ],
)
def test_a_value_is_written_as_in_an_example(value: Any, python: str, json: str) -> None:
    """But that it is no output."""
    assert written(value, protocol("python")) == f"```python\n{python}\n```"
    assert written(value, protocol("json")) == json


@pytest.mark.parametrize("value", [object(), Tour, print])
def test_what_has_no_form_is_refused(value: Any) -> None:
    """Nothing about it is guessed."""
    for name in ("python", "json"):
        with pytest.raises(LangfxError):
            written(value, protocol(name))
