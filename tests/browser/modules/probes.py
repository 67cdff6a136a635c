"""What tests look at inside the worker: values as Python has them, live proxies, timers and turns of its loop."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from enum import Enum
from typing import Any

import js
import pyodide_js
from agents import scripted
from pydantic import BaseModel

import langfx_web as lf
from langfx_web.transport import Request
from langfx_web.transport.browser import BrowserTransport, use_pump


def show(value: object) -> str:
    """A value in Python's own spelling."""
    return repr(value)


def show_missing(value: dict[str, Any]) -> list[object]:
    """What is absent and what is None."""
    return [value.get("absent", "nothing"), value.get("null", "nothing"), value["list"]]


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    data: bytes


class Order(BaseModel):
    id: int
    note: str | None = None


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def _cycle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["again"] = [value]
    return value


VALUES: dict[str, Callable[[], Any]] = {
    "nothing": lambda: None,
    "case 089": lambda: {
        "type": "result",
        "value": {"tag": None, "items": [None, {"a": (1, 2)}]},
        "usage": {"output": 3},
        "blob": b"\x00\xff",
    },
    "numbers": lambda: [1, 1.5, -0.0, 2**53 - 1, True, 1e300],
    "big": lambda: [10**20, -(2**53), 2**70],
    "bytes": lambda: {"a": b"ab", "b": bytearray(b"c"), "c": memoryview(b"de"), "none": b""},
    "surrogate": lambda: {"\udfff": ["\ud800x", "😀"]},
    "text": lambda: 'a\u2028\x00"\\ü',
    "classes": lambda: [Point(2**60, b"p"), Order(id=7), Colour.RED, (1, None)],
    "times": lambda: [date(2024, 1, 31), time(9, 30), datetime(2024, 1, 31, 9, tzinfo=UTC)],
    "our names": lambda: {"big": [["value"]], "blobs": [["value", 0]], "$blob": 0, "kind": "error", "id": 1},
    "set": lambda: {"x": {1, 2}},
    "complex": lambda: {"x": 1 + 2j},
    "int key": lambda: {"x": {1: "int key"}},
    "object": lambda: {"x": object()},
    "not a number": lambda: {"x": [float("nan")]},
    "infinite": lambda: {"x": [float("-inf")]},
    "cycle": _cycle,
    "deep": lambda: _nested(300),
    "deep enough": lambda: _nested(150),
    "long": lambda: "x" * (24 * 2**20),
    "heavy": lambda: bytes(64 * 2**20 + 1),
}


def give(name: str) -> Any:
    """A value of the table above."""
    return VALUES[name]()


def give_within_items(name: str) -> Any:
    """The same, as the second item of a stream."""
    yield 0
    yield VALUES[name]()


def take_order(order: dict[str, Any]) -> str:
    """An optional field that is null."""
    return repr(Order.model_validate(order))


async def missing_header() -> str:
    """A header that the server did not send."""
    response = await BrowserTransport().send(Request(method="GET", url=f"{js.location.origin}/manifest.json"))
    response.abort()
    return repr(response.headers.get("x-not-there"))


def double_bytes(data: bytes) -> bytes:
    """Bytes there and back."""
    return data + data


# Streams


async def endless(size: int) -> AsyncIterator[dict[str, Any]]:
    """Numbered items without an end, each with a text of this size; `made` tells how many there were."""
    while True:
        state.made += 1
        yield {"number": state.made, "text": "x" * size}


async def say(prompt: str) -> AsyncIterator[str]:
    """What the scripted provider answers, delta by delta."""
    async for chunk in scripted.stream(prompt):
        if chunk.delta.text:
            yield chunk.delta.text


async def say_slowly(prompt: str) -> AsyncIterator[str]:
    """The same with a consumer that is busy after the first delta."""
    async for chunk in scripted.stream(prompt):
        if chunk.delta.text:
            yield chunk.delta.text
            await asyncio.sleep(60)


# The loop, its timers and what crosses the border


class State:
    """What was counted since the last `reset`."""

    def __init__(self) -> None:
        self.made = 0
        self.callbacks = 0
        self.later = 0
        self.chunks = 0
        self.text_chunks = 0
        self.awaited = 0
        self.longest = 0.0


state = State()


def reset() -> None:
    """Count from zero."""
    state.__init__()  # type: ignore[misc]


def counts() -> dict[str, int]:
    """Everything that was counted."""
    return vars(state)


def count_everything() -> None:
    """Count turns of the loop, timers, and what the pump gives, from now on."""
    loop = asyncio.get_event_loop()
    call_later = loop.call_later

    def counted(delay: float, callback: Any, *args: Any, **options: Any) -> Any:
        state.callbacks += delay <= 0
        state.later += delay > 0
        state.longest = max(state.longest, delay)
        return call_later(delay, callback, *args, **options)

    loop.call_later = counted  # type: ignore[method-assign, assignment]
    transport = sys.modules["langfx_web.transport.browser"]
    (opened,) = transport._pump
    use_pump(lambda head, body: Counted(opened(head, body)))


class Counted:
    """An exchange whose chunks are counted."""

    def __init__(self, exchange: Any) -> None:
        self._exchange = exchange

    def head(self) -> Any:
        return self._exchange.head()

    async def next(self) -> Any:
        state.awaited += 1
        arrived = await self._exchange.next()
        data = arrived.to_bytes()
        state.chunks += bool(data)
        state.text_chunks += b"text_delta" in data
        return arrived

    def close(self) -> None:
        self._exchange.close()


def live_proxies() -> int:
    """How many Python objects JavaScript holds; counted from the first call on."""
    module = pyodide_js._module
    if not state_of_tracing:
        module.enable_pyproxy_allocation_tracing()
        state_of_tracing.append(True)
    gc.collect()
    return int(module.pyproxy_alloc_map.size)


state_of_tracing: list[bool] = []


def live_tasks() -> list[str]:
    """The tasks that run now, without the one that asks."""
    return sorted(str(task.get_coro()) for task in asyncio.all_tasks() if task is not asyncio.current_task())


async def negative_delays() -> str:
    """What asyncio allows, and Pyodide's loop by itself does not."""
    await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0))], timeout=-1)
    done = asyncio.Event()
    asyncio.get_event_loop().call_later(-5, done.set)
    await done.wait()
    return "went on"


async def many_timeouts(count: int) -> int:
    """Limits that are never reached."""
    for _ in range(count):
        async with asyncio.timeout(30):
            await asyncio.sleep(0)
    return count


def _limited(kind: str, limit: Any) -> Callable[[], Any]:
    """The agent's run with one limit; making it may raise."""
    options = {} if kind == "run" else {kind: limit}
    lm = lf.llms.Anthropic(model="scripted", base_url=f"{js.location.origin}/v1", max_attempts=1, **options)
    limits = lf.Limits(timeout=limit) if kind == "run" else lf.Limits()
    return lambda: lf.Agent(lm=lm, limits=limits).invoke(prompt="a limit")


async def run_limited(kind: str, limit: str) -> str:
    """What came of a run with a limit, which is given as Python writes it."""
    values = {"inf": float("inf"), "nan": float("nan"), "None": None}
    try:
        run = _limited(kind, values[limit] if limit in values else float(limit))
    except lf.LangfxError as error:
        return f"refused: {error.code}"
    try:
        return str(await run())
    except lf.LangfxError as error:
        return error.code


# Tools


@lf.tool(idempotent=True)
def spin() -> str:
    """Never come back."""
    while True:
        js.performance.now()


@lf.tool(idempotent=True)
def leave() -> str:
    """Leave as a script would."""
    sys.exit(3)


busy = lf.Agent(name="busy", lm=scripted, tools=[spin, leave], limits=lf.Limits(max_steps=300))
