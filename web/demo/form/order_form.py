"""A customer's note becomes an order: one typed answer, whose fields reach the page while the model writes them.

The page reads `langfx.stream("…:read_note", { note })`: events with the path of a field, then the whole order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

import langfx_web as lf


@dataclass(frozen=True)
class Item:
    """One line of an order."""

    quantity: int
    article: str


@dataclass(frozen=True)
class Order:
    """What a customer wants, in the words of the note. What the note does not say is None."""

    customer: str
    email: str | None
    items: list[Item]
    delivery: Literal["standard", "express", "pickup"]
    wanted_by: date | None
    gift_wrap: bool
    remark: str | None

    def __post_init__(self) -> None:
        """Rules of the shop, which hold for every order there is."""
        if not self.items:
            raise ValueError("nothing is ordered")


PROMPT = """\
A customer of a shop for desk accessories left this note. Fill in the order form.

{{note}}"""


def read_order(note: str, lm: lf.LanguageModel) -> lf.QueryStream:
    """The order in a note, while `lm` writes it.

    The events only show what is being written. Not before the last of them is there an `Order`, checked as a whole.
    """
    return lf.query_stream(PROMPT, Order, lm=lm, vars={"note": note})
