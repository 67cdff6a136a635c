"""Models of all wires, as the tests of wires use them: whole answers and failures as plain values, and cancelling."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pyodide_js
from probes import live_proxies, live_tasks
from pyodide.code import run_js

import langfx_web as lf
from langfx_web.errors import LMError
from langfx_web.messages import ToolDeclaration

KEY = "test-key-of-a-page-0123456789"
TOOL = ToolDeclaration(
    name="get_order",
    description="Look an order up.",
    input_schema={"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}},
)


def _stream(wire: str, settings: dict[str, Any]) -> lf.llms.ModelStream:
    model = getattr(lf.llms, wire)("scripted", **{"api_key": KEY, **settings})
    stream: lf.llms.ModelStream = model.stream("Where is order 7?", tools=[TOOL])
    return stream


async def ask(wire: str, settings: dict[str, Any]) -> dict[str, Any]:
    """What came of one streamed request."""
    texts: list[str] = []
    try:
        async for chunk in _stream(wire, settings):
            texts.append(chunk.delta.text)
    except LMError as error:
        return {**_failure(error), "shown": "".join(texts)}
    return {**_answer(chunk.aggregated), "shown": "".join(texts)}


async def ask_all(asked: list[list[Any]]) -> list[dict[str, Any]]:
    """What came of several requests at the same time; each is a wire and the settings of its model."""
    return await asyncio.gather(*(ask(wire, settings) for wire, settings in asked))


async def traced(endpoint: str) -> list[Any]:
    """One run of an agent, traced to a collector: how many spans it has taken, how many were lost, and why."""
    exporter = lf.otlp.OTLPExporter(endpoint, headers={"x-tenant": "shop"})
    lm = lf.testing.StaticResponse("It is on its way.")
    await lf.Agent(lm=lm, name="desk", observer=lf.Observer(exporter.on_event)).invoke(prompt="Where is order 7?")
    await exporter.aclose()
    return [exporter.sent, exporter.dropped, exporter.last_error and exporter.last_error.code]


def _answer(message: lf.AIMessage) -> dict[str, Any]:
    usage = message.usage or lf.Usage()
    return {
        "text": message.text,
        "thoughts": "".join(thought.content for thought in message.thoughts),
        "calls": [[call.name, dict(call.args or {})] for call in message.tool_calls],
        "finish": message.finish_reason,
        "usage": [usage.input_tokens, usage.output_tokens, usage.reasoning_tokens, usage.num_requests],
        "request_id": message.metadata.get("request_id"),
    }


def _failure(error: LMError) -> dict[str, Any]:
    return {
        "code": error.code,
        "cause": getattr(error.__cause__, "code", None),
        "status": error.status,
        "retryable": error.retryable,
        "retry_after": error.retry_after,
        "attempts": error.attempts,
        "partial": error.partial and error.partial.text,
        "message": str(error),
    }


async def list_models(wire: str, settings: dict[str, Any]) -> list[str]:
    """The ids of what a provider has."""
    model = getattr(lf.llms, wire)(api_key=KEY, **settings)
    return [info.id for info in await model.list_models()]


async def texts(wire: str, settings: dict[str, Any], busy: float = 0) -> AsyncIterator[str]:
    """The text of an answer as it comes, to a reader that has other things to do after each piece."""
    async for chunk in _stream(wire, settings):
        if chunk.delta.text:
            yield chunk.delta.text
            await asyncio.sleep(busy)


class Read:
    """A request in a task of its own."""

    def __init__(self, wire: str, settings: dict[str, Any], busy: float) -> None:
        self.speaks = False
        self.task = asyncio.create_task(self._read(wire, settings, busy))

    async def _read(self, wire: str, settings: dict[str, Any], busy: float) -> None:
        async for _ in texts(wire, settings, busy):
            self.speaks = True


begun: list[Read] = []


def begin(asked: list[list[Any]]) -> None:
    """Begin requests, in place of those before; each has the arguments of `texts`."""
    begun[:] = [Read(wire, settings, busy) for wire, settings, busy in asked]


def speaking() -> int:
    """How many of them have said something."""
    return sum(read.speaks for read in begun)


async def cancel() -> dict[str, Any]:
    """Cancel all of them: when that was, and how each ended."""
    at = time.time()
    for read in begun:
        read.task.cancel()
    ends = await asyncio.gather(*(read.task for read in begun), return_exceptions=True)
    begun.clear()
    return {"at": at, "ends": [type(end).__name__ for end in ends]}


async def give_up(wire: str, settings: dict[str, Any]) -> None:
    """Begin a request, and cancel it a little later."""
    read = Read(wire, settings, 0)
    await asyncio.sleep(0.1)
    read.task.cancel()
    await asyncio.wait([read.task])


WATCH = """{
  const { read } = ReadableStreamDefaultReader.prototype;
  globalThis.reads = { pending: 0, all: 0 };
  ReadableStreamDefaultReader.prototype.read = async function () {
    reads.pending++;
    reads.all++;
    try {
      return await read.call(this);
    } finally {
      reads.pending--;
    }
  };
}"""


def reads() -> dict[str, int]:
    """How many reads of bodies wait, and how many there were; counted from the first call on."""
    if not run_js("globalThis.reads"):
        run_js(WATCH)
    counted: dict[str, int] = json.loads(run_js("JSON.stringify(reads)"))
    return counted


def held() -> dict[str, int]:
    """What is held for requests: reads that wait, tasks, Python's objects in JavaScript and the other way round."""
    return {
        "reads": reads()["pending"],
        "tasks": len(live_tasks()),
        "proxies": live_proxies(),
        "references": int(pyodide_js._module._hiwire_num_refs()),
    }
