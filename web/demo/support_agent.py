"""A support desk in one page of Python: a table of orders, two agents, and their tools.

It runs in a Web Worker of the visitor's tab. The page adds tools of its own, which change what the visitor sees.
"""

from __future__ import annotations

import asyncio
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


@dataclass(frozen=True)
class Offer:
    """What a carrier would do for an order."""

    carrier: str
    arrives: str
    price: float


INSTRUCTIONS = """\
You answer customers of a small shop for desk accessories, briefly and warmly.
Look an order up before you say anything about it, then show it on the page.
Refund an order only when the customer asks for it, and leave a note on the page.
Where one is to arrive sooner, ask the shipping desk, which knows the carriers."""

SHIPPING = """\
You find the quickest way for an order of a small shop. Ask both carriers at once.
Answer with the day and the price of each, in one or two sentences."""

REFUNDED_AT_ONCE = 50.0
"""Euros; a person decides about more."""


def find_order(id: str) -> Order:
    """The order with this number; a model that asks for another one is told so."""
    if id not in ORDERS:
        raise LookupError(f"There is no order {id}.")
    return ORDERS[id]


@lf.tool(idempotent=True)
def get_order(id: str) -> Order:
    """Look up one order by its number."""
    return find_order(id)


def is_dear(arguments: dict[str, str]) -> bool:
    """Whether a refund moves so much money that a person has to allow it."""
    order = ORDERS.get(arguments["id"])
    return order is not None and order.status != "refunded" and order.price > REFUNDED_AT_ONCE


@lf.tool(idempotent=False, approval=is_dear)
def refund_order(id: str, reason: str) -> Order:
    """Pay an order back to the customer. This cannot be undone."""
    order = find_order(id)
    if order.status == "refunded":
        raise ValueError(f"Order {id} was refunded before.")
    ORDERS[id] = replace(order, status="refunded", detail=f"{order.price:.2f} € returned today: {reason}")
    return ORDERS[id]


@lf.tool(idempotent=True)
async def ask_northwind(id: str) -> Offer:
    """When Northwind Express could deliver an order, and for how much. It takes a moment."""
    find_order(id)
    await asyncio.sleep(1.5)
    return Offer("Northwind Express", "tomorrow", 9.5)


@lf.tool(idempotent=True)
async def ask_harbour(id: str) -> Offer:
    """When Harbour Post could deliver an order, and for how much. It takes a moment."""
    find_order(id)
    await asyncio.sleep(2.5)
    return Offer("Harbour Post", "on Friday", 4.9)


def list_orders() -> list[Order]:
    """All orders, for the cards on the page: `await langfx.call("support_agent:list_orders")`."""
    return list(ORDERS.values())


def support_agent(name: str, lm: lf.LanguageModel) -> lf.Agent:
    """The support agent under `name`, which can ask a second one, both thinking with `lm`."""
    shipping = lf.Agent(name="shipping", lm=lm, instructions=SHIPPING, tools=[ask_northwind, ask_harbour])
    ask_shipping = shipping.as_tool("ask_shipping", description="Ask the shipping desk how an order can come sooner.")
    return lf.Agent(name=name, lm=lm, instructions=INSTRUCTIONS, tools=[get_order, refund_order, ask_shipping])
