"""A support desk in one page of Python: a table of orders, two tools, and the agent that uses them.

It runs in a Web Worker of the visitor's tab. The page adds tools of its own, which change what the visitor sees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import langfx_web as lf


@dataclass(frozen=True)
class Order:
    """One order of the shop."""

    id: str
    item: str
    price: float
    status: Literal["packing", "shipped", "delivered", "refunded"]
    detail: str


ORDERS = {
    order.id: order
    for order in (
        Order("7", "Walnut desk lamp", 89.0, "shipped", "Arrives Thursday with Northwind Express"),
        Order("12", "Linen desk mat", 34.5, "delivered", "Left with reception on Monday"),
        Order("19", "Brass pen tray", 42.0, "packing", "Leaves the warehouse tomorrow"),
        Order("23", "Cork pinboard", 27.0, "refunded", "27.00 € returned last week"),
    )
}

INSTRUCTIONS = """\
You answer customers of a small shop for desk accessories, briefly and warmly.
Look an order up before you say anything about it, then show it on the page.
Refund an order only when the customer asks for it, and leave a note on the page."""


def find_order(id: str) -> Order:
    """The order with this number; a model that asks for another one is told so."""
    if id not in ORDERS:
        raise LookupError(f"There is no order {id}.")
    return ORDERS[id]


@lf.tool(idempotent=True)
def get_order(id: str) -> Order:
    """Look up one order by its number."""
    return find_order(id)


@lf.tool(idempotent=False)
def refund_order(id: str, reason: str) -> Order:
    """Pay an order back to the customer. This cannot be undone."""
    order = find_order(id)
    if order.status == "refunded":
        raise ValueError(f"Order {id} was refunded before.")
    ORDERS[id] = replace(order, status="refunded", detail=f"{order.price:.2f} € returned today: {reason}")
    return ORDERS[id]


def list_orders() -> list[Order]:
    """All orders, for the cards on the page: `await langfx.call("support_agent:list_orders")`."""
    return list(ORDERS.values())


def support_agent(name: str, lm: lf.LanguageModel) -> lf.Agent:
    """The support agent under `name`, thinking with `lm`."""
    return lf.Agent(name=name, lm=lm, instructions=INSTRUCTIONS, tools=[get_order, refund_order])
