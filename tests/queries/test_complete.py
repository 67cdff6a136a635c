"""The rest of an object of which some fields are known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, Field, model_validator

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError, MappingError
from langfx_web.testing import StaticResponse, StaticSequence


class Day(BaseModel):
    number: int
    title: str


@dataclass
class Place:
    name: str
    country: str


class Trip(BaseModel):
    city: str
    start: date = Field(alias="startDate")
    place: Place
    days: list[Day]
    note: str = "none"

    model_config = {"populate_by_name": True}

    @model_validator(mode="after")
    def _not_in_the_past(self) -> Trip:
        if self.start.year < 2000:
            raise ValueError("too early")
        return self


OSLO: dict[str, Any] = {"city": "Oslo", "start": date(2026, 5, 1)}


def partial() -> lf.Partial:
    """A trip with gaps at several depths."""
    days = [lf.Partial(Day, number=1), Day(number=2, title="Sea")]
    return lf.Partial(Trip, **OSLO, place=lf.Partial(Place, name="Fjord"), days=days)


WHOLE = Trip(
    **OSLO, place=Place("Fjord", "Norway"), days=[Day(number=1, title="Arrival"), Day(number=2, title="Sea")], note="!"
)


def test_what_is_missing_is_listed() -> None:
    """By its path; a field with a default is not missing unless it is said to be."""
    assert partial().missing == [("place", "country"), ("days", 0, "title")]
    assert lf.Partial(Trip, **OSLO, note=lf.MISSING).missing == [("place",), ("days",), ("note",)]
    assert lf.Partial(Place, name="a", country="b").missing == []
    assert repr(lf.Partial(Place, name="a")) == "Partial(Place, name='a', country=MISSING)"


def test_a_field_that_the_class_does_not_have_is_refused() -> None:
    """By name."""
    with pytest.raises(InvalidArgumentError, match="no field town; it has city"):
        lf.Partial(Trip, town="Oslo")


@pytest.mark.parametrize(("name", "value"), [("city", 5), ("days", 1), ("days", [lf.Partial(Day, number="one")])])
async def test_a_value_that_the_class_does_not_take_is_refused(name: str, value: Any) -> None:
    """Before a model is asked, at any depth."""
    lm = StaticSequence([])
    with pytest.raises(InvalidArgumentError, match=r"(city|days|number) does not fit"):
        await lf.complete(lf.Partial(Trip, **{name: value}), lm=lm)
    assert lm.requests == []


PYTHON = """
```python
output = Trip(
  'Bergen', '1999-01-01', note='!',
  place=Place('Lake', 'Norway'),
  days=[Day(number=7, title='Arrival'), Day(number=8, title='Lake'), Day(number=9, title='More')]
)
```"""
JSON = (
    '{"city": 5, "startDate": "1999-01-01", "note": "!", "place": {"name": "Lake", "country": "Norway"}, '
    '"days": [{"number": 7, "title": "Arrival"}]}'
)


@pytest.mark.parametrize(("protocol", "answer"), [("python", PYTHON), ("json", JSON)])
async def test_langfx_37_given_fields_win(protocol: Any, answer: str) -> None:
    """At every depth, whatever the model makes of them; the rest is what it wrote."""
    assert await lf.complete(partial(), lm=StaticResponse(answer), protocol=protocol) == WHOLE


async def test_langfx_37_the_model_sees_what_is_given_and_what_is_missing() -> None:
    """Objects by their names, and a mark in each gap."""
    lm = StaticSequence([PYTHON, JSON])
    await lf.complete(partial(), lm=lm)
    await lf.complete(partial(), lm=lm, protocol="json")
    python, json = (request.messages[-1].text for request in lm.requests)
    assert python == (
        "REQUEST:\n  ```python\n  Trip(\n    city='Oslo',\n    start='2026-05-01',\n"
        "    place=Place(\n      name='Fjord',\n      country=MISSING\n    ),\n"
        "    days=[\n      Day(\n        number=1,\n        title=MISSING\n      ),\n"
        "      Day(\n        number=2,\n        title='Sea'\n      )\n    ]\n  )\n  ```\n\nOUTPUT PYTHON OBJECT:"
    )
    assert '"startDate": "2026-05-01", "place": {"name": "Fjord", "country": "MISSING"}' in json


async def test_langfx_37_nothing_missing_is_no_request() -> None:
    """The object is made here."""
    lm = StaticSequence([])
    made = await lf.complete(lf.Partial(Trip, **OSLO, place=Place("a", "b"), days=[]), lm=lm)
    assert made == Trip(**OSLO, place=Place("a", "b"), days=[])
    with pytest.raises(InvalidArgumentError, match="too early"):
        await lf.complete(lf.Partial(Trip, **OSLO | {"start": date(1990, 1, 1)}, place=Place("a", "b"), days=[]), lm=lm)
    assert lm.requests == []


async def test_a_bad_answer_is_like_that_of_a_query() -> None:
    """It may be repaired, have a default, or raise."""
    lm = StaticSequence(["Place(name='a')", "Place(country='Norway')", "?", "?"])
    place = lf.Partial(Place, name="Fjord")
    assert await lf.complete(place, lm=lm, autofix=1) == Place("Fjord", "Norway")
    assert await lf.complete(place, lm=lm, default=None) is None
    with pytest.raises(MappingError):
        await lf.complete(place, lm=lm)
    with pytest.raises(TypeError):
        await lf.complete(place, lm=lm, warmth=3)


async def test_what_is_no_partial_object_is_refused() -> None:
    """A whole object has nothing missing, and a type without fields can have none."""
    lm = StaticResponse("oops")
    with pytest.raises(InvalidArgumentError, match="not a dict"):
        await lf.complete({"city": "Oslo"}, lm=lm)
    with pytest.raises(InvalidArgumentError, match="one of a class with fields"):
        lf.Partial(int)
    assert lm.requests == []
