"""What the bench of queries asks of the worker: milliseconds of typed answers, read by us and by others."""

import time

import bench_orders as orders
from pydantic import TypeAdapter
from pydantic_core import from_json

import langfx_web as lf
from langfx_web.protocols import protocol

BURSTS, BURST = 10, 10
DELTA = 64
REREAD = 16
"""Of so many pieces a reparser is timed at one: it takes longer with each, evenly, and minutes for all."""

HUNDRED = orders.order_texts(100)["json"]
adapter = TypeAdapter(orders.Order)
model = lf.testing.StaticResponse(HUNDRED)
brief_model = lf.testing.StaticResponse(orders.PERSON_TEXTS["json"])


async def query() -> None:
    """A whole query whose answer is an order of 100 items."""
    _check(await lf.query(orders.PROMPT, orders.Order, lm=model, vars={"subject": "Zoë"}, protocol="json"))


async def person() -> None:
    """A whole query for three fields."""
    await lf.query(orders.PROMPT, orders.Person, lm=brief_model, vars={"subject": "Zoë"}, protocol="json")


async def read() -> None:
    """The reading of the order alone."""
    _check(lf.read_answer(HUNDRED, orders.Order, protocol="json"))


async def pydantic() -> None:
    """Pydantic's own reading of it."""
    _check(adapter.validate_json(HUNDRED))


async def answers() -> dict[str, float]:
    """Milliseconds of each of them, by turns, in bursts: a worker's clock has steps, and a machine its moods."""
    spent = dict.fromkeys((query, person, read, pydantic), 0.0)
    for _ in range(BURSTS):
        for work in spent:
            started = time.perf_counter()
            for _ in range(BURST):
                await work()
            spent[work] += time.perf_counter() - started
    return {work.__name__: 1000 * seconds / (BURSTS * BURST) for work, seconds in spent.items()}


def stream() -> float:
    """An answer of 200 kB in pieces."""
    return _streamed(long_text(200_000))


def twice_stream() -> float:
    """One of 400 kB."""
    return _streamed(long_text(400_000))


def reparse() -> float:
    """The 200 kB, read from the beginning at each piece."""
    text = long_text(200_000)
    started = time.perf_counter()
    for end in range(DELTA, len(text), DELTA * REREAD):
        from_json(text[:end], allow_partial=True)
    return REREAD * 1000 * (time.perf_counter() - started)


def _streamed(text: str) -> float:
    started = time.perf_counter()
    reader = protocol("json").reader(lf.Schema.of(orders.Order))
    count = 0
    for start in range(0, len(text), DELTA):
        count += len(reader.feed(text[start : start + DELTA]))
    count += len(reader.finish())
    milliseconds = 1000 * (time.perf_counter() - started)
    if count < len(text) / 20:
        raise ValueError(f"only {count} events came")
    return milliseconds


def long_text(characters: int) -> str:
    """An order of that many characters, and a few more."""
    items = len(orders.order_texts(1000)["json"]) / 1000
    return orders.order_texts(round(characters / items) + 1)["json"]


def _check(order: orders.Order) -> None:
    if order.items[-1].at.y != -199:
        raise ValueError("the order came back changed")
