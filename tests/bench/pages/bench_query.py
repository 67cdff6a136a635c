"""What the bench of queries asks of the worker: milliseconds of typed answers, read by us and by others."""

import time
from collections.abc import Awaitable, Callable

import bench_orders as orders
from pydantic import TypeAdapter
from pydantic_core import from_json

import langfx_web as lf
from langfx_web.protocols import protocol

REPEATS = 100
DELTA = 64
REREAD = 16
"""Of so many pieces a reparser is timed at one: it takes longer with each, evenly, and minutes for all."""

HUNDRED = orders.order_texts(100)["json"]
adapter = TypeAdapter(orders.Order)
model = lf.testing.StaticResponse(HUNDRED)
brief_model = lf.testing.StaticResponse(orders.PERSON_TEXTS["json"])


async def query() -> float:
    """A whole query whose answer is an order of 100 items."""

    async def once() -> None:
        _check(await lf.query(orders.PROMPT, orders.Order, lm=model, vars={"subject": "Zoë"}, protocol="json"))

    return await _per_repeat(once)


async def person() -> float:
    """A whole query for three fields."""

    async def once() -> None:
        await lf.query(orders.PROMPT, orders.Person, lm=brief_model, vars={"subject": "Zoë"}, protocol="json")

    return await _per_repeat(once)


async def read() -> float:
    """The reading of that answer."""

    async def once() -> None:
        _check(lf.read_answer(HUNDRED, orders.Order, protocol="json"))

    return await _per_repeat(once)


async def pydantic() -> float:
    """Pydantic's own reading of the same text."""

    async def once() -> None:
        _check(adapter.validate_json(HUNDRED))

    return await _per_repeat(once)


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


async def _per_repeat(work: Callable[[], Awaitable[None]]) -> float:
    """Milliseconds of one of many repeats, as a worker's clock has steps; after some that warm up."""
    for _ in range(REPEATS // 10):
        await work()
    started = time.perf_counter()
    for _ in range(REPEATS):
        await work()
    return 1000 * (time.perf_counter() - started) / REPEATS


def _check(order: orders.Order) -> None:
    if order.items[-1].at.y != -199:
        raise ValueError("the order came back changed")
