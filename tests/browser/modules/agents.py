"""Agents and functions that the browser tests use."""

import asyncio
from collections.abc import AsyncIterator

from js import location

import langfx_web as lf

scripted = lf.llms.Anthropic(model="scripted", base_url=f"{location.origin}/v1")


@lf.tool(idempotent=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@lf.tool(idempotent=True)
def explode() -> str:
    """Fail."""
    raise RuntimeError("the boiler is cold")


@lf.tool(idempotent=True)
async def wait_long() -> str:
    """Take a long time."""
    await asyncio.sleep(60)
    return "done"


@lf.tool(idempotent=False, approval=True)
def pay(order: str) -> str:
    """Pay an order."""
    return f"paid {order}"


till = lf.Agent(name="till", lm=scripted, tools=[pay])
desk = lf.Agent(name="desk", lm=scripted, instructions="Be brief.", tools=[add, explode, wait_long])
patient = lf.Agent(name="patient", lm=scripted, limits=lf.Limits(max_steps=1000, max_tool_calls=1000))
keyed = lf.Agent(
    name="keyed", lm=lf.llms.Anthropic(model="claude-sonnet-5", api_key=lf.page_credential("anthropic")), tools=[]
)


def echo(value: object) -> object:
    """Give back what was given."""
    return value


async def sleep(seconds: float) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "awake"


counted: list[int] = []


async def count(upto: int) -> AsyncIterator[int]:
    """Count from 0."""
    for number in range(upto):
        counted.append(number)
        yield number


def last_counted() -> int:
    """How far `count` has got."""
    return counted[-1]


def burn() -> None:
    """Never come back."""
    while True:
        pass


def fail() -> None:
    """Raise."""
    raise ValueError("no such shelf")


def exhaust_stack() -> str:
    """Kill the interpreter, as C code that recurses without a limit does."""
    nested: list[object] = []
    for _ in range(20_000):
        nested = [nested]
    return repr(nested)


def _hidden() -> str:
    return "not for pages"


def describe_keyed() -> list[str]:
    """How the keyed agent and its model print themselves."""
    return [repr(keyed), repr(keyed.lm), str(keyed.lm)]
