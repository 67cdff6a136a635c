"""What the bench of queries asks for: a person with three fields, and orders of many items."""

from __future__ import annotations

import json

from pydantic import BaseModel


class Person(BaseModel):
    name: str
    age: int
    score: float


class Place(BaseModel):
    x: int
    y: int


class Item(BaseModel):
    title: str
    tags: list[str]
    at: Place


class Order(BaseModel):
    items: list[Item]


PROMPT = "Tell me what you know about {{subject}}."

PERSON_TEXTS = {
    "python": "```python\noutput = Person(\n  name='Zoë',\n  age=31,\n  score=0.75\n)\n```",
    "json": '{"name": "Zoë", "age": 31, "score": 0.75}',
}
"""A person as a model writes it, by protocol."""


def order_texts(count: int) -> dict[str, str]:
    """An order of so many items, each some 70 characters long, as a model writes it, by protocol."""
    numbers = range(100, 100 + count)
    python = "".join(
        f"    Item(title='item {number}', tags=['new', 'über'], at=Place(x={number}, y={-number})),\n"
        for number in numbers
    )
    items = [
        {"title": f"item {number}", "tags": ["new", "über"], "at": {"x": number, "y": -number}} for number in numbers
    ]
    return {
        "python": f"```python\noutput = Order(\n  items=[\n{python}  ]\n)\n```",
        "json": json.dumps({"items": items}, ensure_ascii=False),
    }
