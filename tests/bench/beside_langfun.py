"""What queries and their parts cost on the host, ours and langfun's, by turns in one process.

Run by `tests.bench.query` with the Python of an environment that has langfun. langfun executes what a model wrote: the
answers here are fixed ones of our own.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import langfun.core as langfun
import pyglove as pg
from langfun.core import structured
from langfun.core.llms.fake import StaticResponse

import langfx_web as lf
from langfx_web.protocols import protocol
from tests.bench.pages import bench_orders as orders
from tests.bench.pages.bench_orders import PERSON_TEXTS, PROMPT, order_texts

ABOUT = {"subject": "Zoë"}
SAMPLE_SECONDS = 0.05

Call: TypeAlias = Callable[[], Any]
"""What is measured; ours may be async."""


class Person(pg.Object):
    name: str
    age: int
    score: float


class Place(pg.Object):
    x: int
    y: int


class Item(pg.Object):
    title: str
    tags: list[str]
    at: Place


class Order(pg.Object):
    items: list[Item]


class Ask(lf.Action):
    async def call(self, session: lf.Session) -> Any:
        return await session.query(PROMPT, orders.Person, vars=ABOUT)


class TheirAsk(langfun.agentic.Action):
    def call(self, session: Any, *, lm: Any, **_: Any) -> Any:
        return session.query(PROMPT, Person, lm=lm, **ABOUT)


def rows() -> Iterator[tuple[str, Call, Call]]:
    """What is measured: a name, our call, langfun's call."""
    yield from _queries()
    yield from _readings()
    yield from _parts()


def _queries() -> Iterator[tuple[str, Call, Call]]:
    """Whole queries, from the template to the value; one of them in an action with a session of its own."""
    for name, ours, wanted, texts in (
        ("query", orders.Person, Person, PERSON_TEXTS),
        ("query_hundred", orders.Order, Order, order_texts(100)),
    ):
        for suffix, kind in (("", "python"), ("_json", "json")):
            yield f"{name}{suffix}", _our_query(ours, kind, texts[kind]), _their_query(wanted, kind, texts[kind])
    text = PERSON_TEXTS["python"]
    our_lm, their_lm = lf.testing.StaticResponse(text), StaticResponse(text)
    yield "action", lambda: Ask().invoke(lm=our_lm), lambda: TheirAsk()(lm=their_lm, show_progress=False)
    yield "query_text", _our_query(None, "python", "He is old."), _their_query(None, "python", "He is old.")


def _our_query(wanted: Any, kind: Any, text: str) -> Call:
    lm = lf.testing.StaticResponse(text)
    return lambda: lf.query(PROMPT, wanted, lm=lm, vars=ABOUT, protocol=kind)


def _their_query(wanted: Any, kind: str, text: str) -> Call:
    lm = StaticResponse(_theirs(wanted, text) if kind == "json" else text)
    return lambda: structured.query(PROMPT, wanted, lm=lm, protocol=kind, **ABOUT)


def _readings() -> Iterator[tuple[str, Call, Call]]:
    """Answers read without a model."""
    for name, ours, wanted, texts in (
        ("read", orders.Person, Person, PERSON_TEXTS),
        ("read_hundred", orders.Order, Order, order_texts(100)),
        ("read_thousand", orders.Order, Order, order_texts(1000)),
    ):
        for suffix, kind in (("", "python"), ("_json", "json")):
            yield f"{name}{suffix}", _our_reading(ours, kind, texts[kind]), _their_reading(wanted, kind, texts[kind])


def _our_reading(wanted: Any, kind: Any, text: str) -> Call:
    return lambda: lf.read_answer(text, wanted, protocol=kind)


def _their_reading(wanted: Any, kind: str, text: str) -> Call:
    schema, given = structured.Schema.from_value(wanted), _theirs(wanted, text) if kind == "json" else text
    return lambda: schema.parse_value(given, protocol=kind)


def _parts() -> Iterator[tuple[str, Call, Call]]:
    """A model alone, templates, and what a model is told of a type."""
    our_lm, their_lm = lf.testing.StaticResponse("He is old."), StaticResponse("He is old.")
    yield "model", lambda: our_lm("How is he?"), lambda: their_lm("How is he?")
    ours, theirs = lf.Template(PROMPT), langfun.Template(PROMPT)
    yield "template", lambda: ours.render(ABOUT), lambda: theirs.render(**ABOUT)
    yield "new_template", lambda: lf.Template(PROMPT).render(ABOUT), lambda: langfun.Template(PROMPT).render(**ABOUT)
    schema, python = structured.Schema.from_value(Person), protocol("python")
    yield (
        "type_text",
        lambda: python.describe(lf.Schema.of(orders.Person)),
        lambda: schema.schema_repr("python"),
    )
    yield (
        "new_type_text",
        lambda: python.describe(lf.Schema(orders.Person)),
        lambda: structured.Schema.from_value(Person).schema_repr("python"),
    )


def _theirs(wanted: Any, text: str) -> str:
    """A JSON answer as langfun wants it: in a wrapper, each object with the path of its class."""
    value = json.loads(text)
    if "items" in value:
        items = [Item(item["title"], item["tags"], Place(**item["at"])) for item in value["items"]]
        return json.dumps({"result": pg.to_json(wanted(items))}, ensure_ascii=False)
    return json.dumps({"result": pg.to_json(wanted(**value))}, ensure_ascii=False)


async def measured(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each row by side, one sample a round; who comes first changes from round to round."""
    found: dict[str, dict[str, list[float]]] = {}
    sides = ("ours", "langfun")
    for name, *calls in rows():
        pair = dict(zip(sides, calls, strict=True))
        values = {side: await _value(call) for side, call in pair.items()}
        if not _same(values["ours"], values["langfun"]):
            raise SystemExit(f"{name}: ours gave {values['ours']!r}, langfun {values['langfun']!r}")
        counts = {side: await _count(call) for side, call in pair.items()}
        found[name] = {side: [] for side in sides}
        for number in range(rounds):
            for side in sides if number % 2 else sides[::-1]:
                found[name][side].append(1000 * await _seconds(pair[side], counts[side]))
    return found


async def _value(call: Call) -> Any:
    given = call()
    return await given if inspect.isawaitable(given) else given


def _same(ours: Any, theirs: Any) -> bool:
    """Whether both did the work: the same person, as many items, the same text, or any text of a type."""
    match ours:
        case orders.Person():
            return (ours.name, ours.age, ours.score) == (theirs.name, theirs.age, theirs.score)
        case orders.Order():
            return [item.at.y for item in ours.items] == [item.at.y for item in theirs.items]
        case lf.Message():
            return ours.text == theirs.text
        case str() if "class Person" in ours:
            return "class Person" in theirs
    return ours == theirs


async def _count(call: Call) -> int:
    """How often a sample calls."""
    return max(1, round(SAMPLE_SECONDS / await _seconds(call, 1)))


async def _seconds(call: Call, count: int) -> float:
    """Seconds per call, without the collector's."""
    is_async = inspect.isawaitable(given := call())
    if is_async:
        await given
    gc.collect()
    gc.disable()
    try:
        started = time.perf_counter()
        if is_async:
            for _ in range(count):
                await call()
        else:
            for _ in range(count):
                call()
        return (time.perf_counter() - started) / count
    finally:
        gc.enable()


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(measured(int(sys.argv[1])))))
