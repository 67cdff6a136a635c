"""Random batches of calls against a plain account of the rules: who runs, when, beside whom, what the model hears."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from langfx_web import Limits
from langfx_web.events import ToolEnd, ToolStart
from langfx_web.messages import AIMessage, ToolCall, ToolMessage
from langfx_web.testing import StaticSequence
from langfx_web.tools import tool
from tests.agentic.trial import agent, loop_of, run

KINDS = ("read", "write", "break_read", "break_write", "denied", "nope", "misfit", "unreadable")
RUNS = frozenset(KINDS[:4])
WRITES = frozenset({"write", "break_write"})

batches = st.lists(
    st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(["a", "b", "c"])), min_size=1, max_size=7),
    max_size=3,
)


class Ledger:
    """When each call began and ended, by its number."""

    def __init__(self) -> None:
        self.order: list[tuple[str, int]] = []

    async def work(self, number: int, *, breaks: bool = False) -> str:
        """Take longer, the smaller the number's last digit."""
        self.order.append(("begin", number))
        for _ in range(10 - number % 10):
            await asyncio.sleep(0)
        self.order.append(("end", number))
        if breaks:
            raise ValueError(f"broke {number}")
        return f"did {number}"


def tools_of(ledger: Ledger) -> list[Any]:
    """A reader, a writer, and one of each that fails."""

    @tool(idempotent=True)
    async def read(n: int) -> str:
        """Read."""
        return await ledger.work(n)

    @tool(idempotent=False)
    async def write(n: int) -> str:
        """Write."""
        return await ledger.work(n)

    @tool(idempotent=True)
    async def break_read(n: int) -> str:
        """Fail to read."""
        return await ledger.work(n, breaks=True)

    @tool(idempotent=False)
    async def break_write(n: int) -> str:
        """Fail to write."""
        return await ledger.work(n, breaks=True)

    @tool(idempotent=True)
    async def denied(n: int) -> str:
        """Never run."""
        return await ledger.work(n)

    return [read, write, break_read, break_write, denied]


def call(kind: str, id: str, number: int) -> ToolCall:
    """A call as a model might write it."""
    if kind == "misfit":
        return ToolCall(id, "read", {"n": str(number)})
    return ToolCall(id, "read", None, raw_args="{") if kind == "unreadable" else ToolCall(id, kind, {"n": number})


def ran(order: list[tuple[str, int]]) -> list[int]:
    return [number for what, number in order if what == "begin"]


def check_schedule(order: list[tuple[str, int]], kinds: dict[int, str], step_of: dict[int, int], most: int) -> None:
    """Writers alone, readers up to `most` together, nothing passes a writer or another step."""
    open_: set[int] = set()
    done: set[int] = set()
    runs = [number for number in kinds if kinds[number] in RUNS and number in set(ran(order))]
    for what, number in order:
        if what == "end":
            open_.discard(number)
            done.add(number)
            continue
        before = [other for other in runs if other < number]
        for other in before:
            if kinds[other] in WRITES or kinds[number] in WRITES or step_of[other] != step_of[number]:
                assert other in done
        assert not any(kinds[other] in WRITES for other in open_)
        open_.add(number)
        assert len(open_) <= most
    assert not open_


def expected(kind: str, number: int) -> tuple[str, bool]:
    """How the result begins that the model is told, and whether it is an error."""
    return {
        "read": (f"did {number}", False),
        "write": (f"did {number}", False),
        "break_read": (f"broke {number}", True),
        "break_write": (f"broke {number}", True),
        "denied": ("Error: the call was not allowed.", True),
        "nope": ("Error: there is no tool 'nope'.", True),
        "misfit": ("n: ", True),
        "unreadable": ("", True),
    }[kind]


@settings(deadline=None, max_examples=40)
@given(batches=batches, most=st.integers(1, 4), calls_left=st.integers(0, 14), steps=st.integers(1, 5))
def test_random_batches_keep_the_rules(batches, most: int, calls_left: int, steps: int) -> None:
    """Whatever a model asks for."""
    asyncio.run(_one_run(batches, Limits(max_steps=steps, max_tool_calls=calls_left, max_parallel_tools=most)))


async def _one_run(batches: list[list[tuple[str, str]]], limits: Limits) -> None:
    numbers = itertools.count()
    kinds: dict[int, str] = {}
    step_of: dict[int, int] = {}
    replies: list[Any] = []
    for step, batch in enumerate(batches):
        parts = []
        for kind, id_ in batch:
            number = next(numbers)
            kinds[number], step_of[number] = kind, step
            parts.append(call(kind, id_, number))
        replies.append(AIMessage(*parts))
    ledger = Ledger()
    lm = StaticSequence([*replies, "done"])
    some = agent(lm, *tools_of(ledger), allow_tool=lambda asked, step: asked.name != "denied")
    loop = loop_of(some, limits=limits)
    events = await run(loop)

    reason, answered = _plain_account(batches, limits)
    assert loop.outcome.stop_reason == reason
    assert len(lm.requests) == min(len(batches) + 1, limits.max_steps or 0, answered + 1)
    seen = [number for number in kinds if step_of[number] <= answered]
    should_run = [number for number in seen if step_of[number] < answered and kinds[number] in RUNS]
    assert ran(ledger.order) == should_run
    check_schedule(ledger.order, kinds, step_of, limits.max_parallel_tools)

    asked = [part for message in loop.transcript for part in message.tool_calls]
    results = [message for message in loop.transcript if isinstance(message, ToolMessage)]
    assert [part.id for part in asked] == [result.call_id for result in results]
    assert len({part.id for part in asked}) == len(asked)
    for number, result in zip(seen, results, strict=False):
        text, is_error = expected(kinds[number], number)
        if step_of[number] < answered:
            assert (result.text.startswith(text), result.is_error) == (True, is_error)
        else:
            assert result.is_error
    assert [event.id for event in events if isinstance(event, ToolStart)] == [asked[number].id for number in should_run]
    ends = [event.id for event in events if isinstance(event, ToolEnd)]
    assert sorted(ends) == sorted(part.id for part in asked)


def _plain_account(batches: list[list[tuple[str, str]]], limits: Limits) -> tuple[str, int]:
    """The stop reason, and how many batches may run."""
    assert limits.max_steps is not None
    assert limits.max_tool_calls is not None
    calls = 0
    for step, batch in enumerate(batches):
        calls += len(batch)
        if step + 1 >= limits.max_steps:
            return "max_steps", step
        if calls > limits.max_tool_calls:
            return "max_tool_calls", step
    return "end_turn", len(batches)
