"""A run of an agent as an observer is told of it, with everything that can be told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from langfx_web.observation import (
    ObservedCall,
    ObservedEvent,
    ObservedMedia,
    ObservedMessage,
    ObservedModelEnd,
    ObservedModelFirstOutput,
    ObservedModelRequest,
    ObservedPart,
    ObservedStepEnd,
    ObservedStepStart,
    ObservedText,
    ObservedThought,
    ObservedTool,
    ObservedToolEnd,
    ObservedToolResult,
    ObservedToolStart,
    ObservedTurnEnd,
    ObservedTurnStart,
    ObservedWaitEnd,
    ObservedWaitStart,
    RequestedCall,
)
from langfx_web.observation.events import Observed
from langfx_web.usage import Usage

AT = datetime(2026, 1, 1, tzinfo=UTC)
USAGE = Usage(input_tokens=10, output_tokens=5, cached_input_tokens=4, cache_write_input_tokens=2, reasoning_tokens=3)
CALL = {"call_id": "c1", "execution_id": "exe_1", "name": "get_order"}
REFUSED = {"call_id": "c2", "execution_id": "exe_2", "name": "pay"}


def said(role: str, *parts: ObservedPart | str, **fields: Any) -> ObservedMessage:
    """A message of texts and other parts."""
    made = tuple(ObservedText(text=part) if isinstance(part, str) else part for part in parts)
    return ObservedMessage(role=role, parts=made, **fields)


def told(*, content: bool, **place: Any) -> list[ObservedEvent]:
    """Two steps: a request, a call that runs and one that is refused, a question to a person, and the answer.

    One event every 100 ms from `AT`. Texts of the conversation are there only with `content`.
    """
    kinds = _events() if content else (_without_content(kind, fields) for kind, fields in _events())
    where = {"session_id": "ses_1", "turn_id": "msg_1", "run_id": "run_1"} | place
    return [kind(**where, **fields, at=AT + timedelta(milliseconds=100 * n)) for n, (kind, fields) in enumerate(kinds)]


_CONTENT = ("input", "output", "messages", "instructions", "tools", "arguments", "result", "answer")


def _without_content(kind: type[Observed], fields: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    hidden = {"request"} if kind is ObservedWaitStart else set(_CONTENT) | {"error_message"}
    return kind, {name: value for name, value in fields.items() if name not in hidden}


def _events() -> Iterator[tuple[Any, dict[str, Any]]]:
    request, step = count(1), 1
    yield (
        ObservedTurnStart,
        {"agent": "shop", "provider": "gemini", "model": "m-1", "input": said("user", "Where is 7?")},
    )
    yield ObservedStepStart, {"step": step}
    image = ObservedMedia(kind="image", mime_type="image/png", size=9)
    asked = (said("user", "Where is 7?", image),)
    tool = ObservedTool(name="get_order", description="Look up.", input_schema='{"type":"object"}')
    common: dict[str, Any] = {"step": step, "provider": "gemini", "model": "m-1", "tool_count": 1}
    options = {
        "temperature": 0,
        "max_tokens": 100,
        "top_k": 3,
        "top_p": 0.5,
        "random_seed": 7,
        "reasoning_effort": "low",
    }
    yield (
        ObservedModelRequest,
        {
            **common,
            "request": next(request),
            "options": options,
            "message_count": 1,
            "messages": asked,
            "instructions": "Be brief.",
            "tools": (tool,),
        },
    )
    yield ObservedModelFirstOutput, {"step": step, "request": 1}
    calls = ObservedCall(call_id="c1", name="get_order", arguments='{"id":"7"}')
    cut = ObservedCall(call_id="c2", name="pay", arguments='{"id"')
    yield (
        ObservedModelEnd,
        {
            "step": step,
            "request": 1,
            "model": "m-1-002",
            "response_id": "r-1",
            "finish_reason": "tool_calls",
            "usage": USAGE,
            "tool_calls": (RequestedCall(**CALL), RequestedCall(**REFUSED)),
            "output": said("assistant", ObservedThought(text="Hm."), calls, cut),
        },
    )
    yield (
        ObservedToolResult,
        {**REFUSED, "step": step, "is_error": True, "error_code": "tool_not_found", "result": "No."},
    )
    yield ObservedToolStart, {**CALL, "step": step, "checksum": "ab", "rerun": True, "arguments": '{"id":"7"}'}
    yield ObservedWaitStart, {"wait_id": "exe_1:1", "kind": "question", "execution_id": "exe_1", "request": "May I?"}
    yield (
        ObservedWaitEnd,
        {"wait_id": "exe_1:1", "kind": "question", "outcome": "answered", "execution_id": "exe_1", "answer": "true"},
    )
    yield ObservedToolEnd, {**CALL, "step": step, "is_error": False, "duration_ms": 300, "result": "On its way."}
    yield ObservedToolResult, {**CALL, "step": step, "is_error": False, "result": "On its way."}
    yield ObservedStepEnd, {"step": step}
    result = said("tool", "On its ", "way.", image, call_id="c1")
    yield (
        ObservedModelRequest,
        {
            **common,
            "step": 2,
            "request": next(request),
            "options": {},
            "message_count": 3,
            "messages": (*asked, result),
        },
    )
    yield (
        ObservedModelEnd,
        {"step": 2, "request": 2, "error_code": "rate_limit", "error_message": "slow down"},
    )
    yield (
        ObservedTurnEnd,
        {"stop_reason": "error", "usage": USAGE, "error_code": "rate_limit", "error_message": "slow down"},
    )
