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


async def texts(wire: str, settings: dict[str, Any]) -> AsyncIterator[str]:
    """The text of an answer as it comes."""
    async for chunk in _stream(wire, settings):
        if chunk.delta.text:
            yield chunk.delta.text


async def cancel(wire: str, settings: dict[str, Any], after: float | None) -> dict[str, Any]:
    """How a request ends whose task is cancelled, `after` so many seconds or else soon after its first text.

    Not at that very moment: over HTTP/1.1 Chromium may read a body on for five seconds that has just had something.
    """
    speaking = asyncio.Event()

    async def read() -> None:
        async for _ in texts(wire, settings):
            speaking.set()

    task = asyncio.create_task(read())
    if after is None:
        await speaking.wait()
    await asyncio.sleep(0.05 if after is None else after)
    at = time.time()
    task.cancel()
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    return {"at": at, "seconds": time.time() - at, "outcome": type(outcome).__name__}


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
