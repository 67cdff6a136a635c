"""Gates: questions that a run puts to a person, and waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol, TypeAlias

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.deadline import Bounded, deadline_after, is_seconds
from langfx_web.errors import (
    DeadlineExceededError,
    GateAnswerError,
    GateDeclinedError,
    GateNotFoundError,
    GateTimeoutError,
    InvalidArgumentError,
    InvalidValueError,
    NotPortableError,
    SchemaMismatchError,
)
from langfx_web.events import GateOpen
from langfx_web.json_text import dumps, loads
from langfx_web.schemas import Schema, pydantic_arrived

MAX_REASON = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One question: why it is asked, JSON facts to decide by, and the JSON Schema that an answer must fit.

    `call_id` is the tool call that asks, None for a hook; `expires_at` is ISO 8601 in UTC, None without a timeout.
    """

    id: str
    reason: str
    payload: Any = None
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "boolean"})
    call_id: str | None = None
    expires_at: str | None = None


def gate_opened(gate: Gate) -> GateOpen:
    """The event that shows a question."""
    return GateOpen(
        id=gate.id,
        reason=gate.reason,
        payload=gate.payload,
        schema=gate.schema,
        call_id=gate.call_id,
        expires_at=gate.expires_at,
    )


class Answers(Protocol):
    """Where answers come from; `wanted` is the schema of one."""

    async def wait(self, gate: Gate, wanted: Schema, timeout: float | None) -> Any:
        """The valid answer, or `GateDeclinedError` with a reason; after `timeout` seconds `GateTimeoutError`."""


OnGate: TypeAlias = Callable[[Gate], Awaitable[Any]]
"""An async function that answers the gates of one run; it may raise `GateDeclinedError`."""


@dataclass(frozen=True, slots=True)
class _Open:
    gate: Gate
    wanted: Schema
    answer: asyncio.Future[Any]


class OpenGates:
    """The questions that are open now, by id; each is settled once, by whoever answers first."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._open: dict[str, _Open] = {}

    async def wait(self, gate: Gate, wanted: Schema, timeout: float | None) -> Any:
        """Keep the question open until somebody answers or declines."""
        if gate.id in self._open:
            raise InvalidValueError(f"the gate {gate.id!r} is open already", code="invalid_gate")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._open[gate.id] = _Open(gate, wanted, answer)
        try:
            return await in_time(answer, gate, timeout, self._clock)
        finally:
            del self._open[gate.id]

    def gates(self) -> list[Gate]:
        """The open questions, oldest first."""
        return [open_.gate for open_ in self._open.values() if not open_.answer.done()]

    async def answer(self, gate_id: str, value: Any) -> None:
        """Answer a question: `gate_answer_invalid` leaves it open, `gate_not_found` where it is not open any more."""
        value = await checked_answer(value, self._found(gate_id).wanted, gate_id)
        self._found(gate_id).answer.set_result(value)

    def decline(self, gate_id: str, reason: str = "") -> None:
        """Refuse to answer; whoever asked gets a `GateDeclinedError` with the reason."""
        if not isinstance(reason, str):
            raise InvalidArgumentError("reason must be a str", details={"option": "reason"})
        self._found(gate_id).answer.set_exception(declined(reason))

    def _found(self, gate_id: str) -> _Open:
        open_ = self._open.get(gate_id) if isinstance(gate_id, str) else None
        if open_ is None or open_.answer.done():
            raise GateNotFoundError(f"no gate {gate_id!r} is open", details={"id": gate_id})
        return open_


def declined(reason: str) -> GateDeclinedError:
    """The error of a question that somebody refused to answer."""
    return GateDeclinedError(reason or "declined", details={"reason": reason})


def new_gate(
    gate_id: str, reason: str, *, payload: Any, wanted: Schema, call_id: str | None, timeout: float | None, clock: Clock
) -> Gate:
    """A gate as it is shown; `invalid_gate` names what it cannot have."""
    if not isinstance(reason, str) or not reason.strip() or len(reason.encode("utf-8", "replace")) > MAX_REASON:
        raise InvalidValueError("reason: a gate needs a text of at most 64 KiB", code="invalid_gate")
    try:
        payload = loads(dumps(payload))
    except (NotPortableError, TypeError, ValueError) as error:
        raise InvalidValueError(f"payload: not JSON: {error}", code="invalid_gate") from error
    expires_at = None
    if timeout is not None:
        if not is_seconds(timeout):
            raise InvalidValueError(f"timeout: {timeout!r} is no number of seconds", code="invalid_gate")
        with suppress(OverflowError):
            expires_at = (clock.now() + timedelta(seconds=timeout)).isoformat(timespec="milliseconds")
    return Gate(
        id=gate_id,
        reason=reason,
        payload=payload,
        schema=wanted.json_schema(),
        call_id=call_id,
        expires_at=expires_at,
    )


async def checked_answer(value: Any, wanted: Schema, gate_id: str) -> Any:
    """The answer as a value of the schema, nothing converted between kinds; else `gate_answer_invalid`."""
    await pydantic_arrived()
    try:
        return wanted.validate(value)
    except SchemaMismatchError as error:
        message = f"that is no answer to the gate {gate_id!r}: {error}"
        raise GateAnswerError(message, details={"id": gate_id, **error.details}) from None


async def in_time(answer: Awaitable[Any], gate: Gate, timeout: float | None, clock: Clock) -> Any:
    """What is awaited; `gate_timeout` after so many seconds without it."""
    if timeout is None:
        return await answer
    deadline = deadline_after(timeout, clock)
    try:
        with Bounded(deadline, clock):
            return await answer
    except DeadlineExceededError as error:
        if deadline is None or clock.monotonic() < deadline:
            raise
        raise GateTimeoutError(
            f"nobody answered the gate {gate.id!r} within {timeout:g} s", details={"id": gate.id}
        ) from error
