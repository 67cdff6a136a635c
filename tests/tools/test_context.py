"""What a tool knows of its call, and asking a person."""

from __future__ import annotations

from typing import Any

import pytest

import langfx_web as lf
from langfx_web.errors import GateDeclinedError, GateUnsupportedError, ToolExecutionError
from langfx_web.messages import ToolCall
from langfx_web.tools import ToolContext


@lf.tool(meta={"scope": "write"})
async def refund(order: str, context: ToolContext) -> str:
    """Refund an order."""
    amount = await context.ask("How much?", payload={"order": order}, schema=int, timeout=60)
    return f"{context.meta.get('scope')} {amount}"


class Person:
    """Answers as told, and remembers what was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def __call__(self, reason: str, **question: Any) -> Any:
        """Answer."""
        self.asked.append((reason, question))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def context(**fields: Any) -> ToolContext:
    return ToolContext(call=ToolCall("c", "other", {}), checksum="x", execution_id="exe_9", turn_id="msg_1", **fields)


async def test_a_tool_asks_a_person() -> None:
    """Through whatever the run has for that; the answer comes back."""
    person = Person(5)
    assert await refund.run({"order": "7"}, context(asker=person)) == "write 5"
    assert person.asked == [("How much?", {"payload": {"order": "7"}, "schema": int, "timeout": 60})]


async def test_a_person_may_decline() -> None:
    """The tool sees it, and fails if it does nothing about it."""
    with pytest.raises(ToolExecutionError, match="not today") as caught:
        await refund.run({"order": "7"}, context(asker=Person(GateDeclinedError("not today"))))
    assert isinstance(caught.value.__cause__, GateDeclinedError)


async def test_where_nobody_can_be_asked() -> None:
    """The tool gets an error of its own."""
    with pytest.raises(ToolExecutionError) as caught:
        await refund.run({"order": "7"})
    assert isinstance(caught.value.__cause__, GateUnsupportedError)
    assert caught.value.__cause__.code == "gate_unsupported"


async def test_a_tool_that_uses_another() -> None:
    """The inner call has arguments, checksum and facts of its own, and the place of the outer one."""

    @lf.tool(meta={"own": True})
    def inner(n: int, context: ToolContext) -> list[Any]:
        """See."""
        return [context.call.name, context.call.args, context.checksum, context.execution_id, context.meta.all()]

    name, args, checksum, execution, meta = await inner.run({"n": 1}, context())
    assert (name, args, execution, meta) == ("inner", {"n": 1}, "exe_9", {"own": True})
    assert checksum == inner.prepare({"n": 1}).checksum


async def test_outside_of_a_turn_each_run_has_ids_of_its_own() -> None:
    """So that a service can tell two runs apart."""

    @lf.tool
    def ids(context: ToolContext) -> list[Any]:
        """See."""
        return [context.execution_id, context.turn_id, context.session_id, context.session, context.rerun]

    one, two = await ids.run(), await ids.run()
    assert one[:2] != two[:2]
    assert one[2:] == [None, None, False]


def test_what_it_shows_of_itself() -> None:
    """Not the session, nor how a person is asked."""
    shown = repr(context(asker=Person(1), session=object()))
    assert "asker" not in shown
    assert "session=" not in shown
