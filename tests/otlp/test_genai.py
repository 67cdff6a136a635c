"""Spans of what an observer is told."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

from langfx_web.json_text import loads
from langfx_web.observation import (
    ObservedEvent,
    ObservedJournalCommit,
    ObservedModelEnd,
    ObservedToolEnd,
    ObservedToolStart,
    ObservedTurnEnd,
    ParentCall,
)
from langfx_web.otlp.genai import MOST_RUNS, Spans
from langfx_web.otlp.span import CLIENT, INTERNAL, Span
from langfx_web.usage import Usage
from tests.otlp.told import AT, told


def finished(*events: ObservedEvent) -> list[Span]:
    """The spans that a fresh fold finishes, with ids that count."""
    numbers = count(1)
    spans = Spans(new_id=lambda size: f"{next(numbers):0{2 * size}x}")
    return [span for event in events for span in spans.take(event)]


def test_a_run_is_a_tree_of_named_spans() -> None:
    """The agent's span holds one per request and one per executed call, all of one trace, each with its times."""
    chat, tool, failed, agent = finished(*told(content=False))
    assert [(span.name, span.kind) for span in (agent, chat, tool, failed)] == [
        ("invoke_agent shop", INTERNAL),
        ("chat m-1", CLIENT),
        ("execute_tool get_order", INTERNAL),
        ("chat m-1", CLIENT),
    ]
    assert {span.trace_id for span in (agent, chat, tool, failed)} == {agent.trace_id}
    assert [span.parent_id for span in (agent, chat, tool, failed)] == [None, *[agent.span_id] * 3]
    assert (len(agent.trace_id), len(agent.span_id)) == (32, 16)
    assert _times(agent, chat, tool, failed) == [(0, 1400), (200, 400), (600, 900), (1200, 1300)]


def test_spans_carry_no_text_that_was_not_captured() -> None:
    """What is there without content are names, numbers and codes."""
    chat, tool, failed, agent = finished(*told(content=False))
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.request.model": "m-1",
        "gen_ai.request.stream": True,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.seed": 7,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.top_k": 3,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.response.id": "r-1",
        "gen_ai.response.model": "m-1-002",
        "gen_ai.response.time_to_first_chunk": 0.1,
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_creation.input_tokens": 2,
        "gen_ai.usage.reasoning.output_tokens": 3,
        "langfx.request": 1,
        "langfx.request.reasoning_effort": "low",
        "langfx.step": 1,
    }
    assert isinstance(chat.attributes["gen_ai.request.temperature"], float)
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "langfx.step": 1,
        "langfx.tool.execution_id": "exe_1",
        "langfx.tool.rerun": True,
    }
    assert agent.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.agent.name": "shop",
        "gen_ai.conversation.id": "ses_1",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.cache_creation.input_tokens": 2,
        "gen_ai.usage.reasoning.output_tokens": 3,
        "error.type": "rate_limit",
        "langfx.turn.id": "msg_1",
        "langfx.run.id": "run_1",
        "langfx.stop_reason": "error",
    }
    assert (failed.is_error, failed.status_message, failed.attributes["error.type"]) == (True, None, "rate_limit")
    assert (chat.is_error, tool.is_error, agent.is_error) == (False, False, True)


def test_captured_content_has_the_forms_of_the_conventions() -> None:
    """Messages, instructions, tools, arguments and results, as JSON; cut arguments stay text."""
    chat, tool, failed, agent = finished(*told(content=True))
    texts = {name: _read(value) for name, value in chat.attributes.items()}
    image = {"type": "media", "modality": "image", "mime_type": "image/png", "size": 9}
    question = {"role": "user", "parts": [{"type": "text", "content": "Where is 7?"}, image]}
    assert texts["gen_ai.input.messages"] == [question]
    assert texts["gen_ai.system_instructions"] == [{"type": "text", "content": "Be brief."}]
    assert texts["gen_ai.tool.definitions"] == [
        {"type": "function", "name": "get_order", "description": "Look up.", "parameters": {"type": "object"}}
    ]
    assert texts["gen_ai.output.messages"] == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "Hm."},
                {"type": "tool_call", "id": "c1", "name": "get_order", "arguments": {"id": "7"}},
                {"type": "tool_call", "id": "c2", "name": "pay", "arguments": '{"id"'},
            ],
            "finish_reason": "tool_call",
        }
    ]
    assert _read(failed.attributes["gen_ai.input.messages"])[1] == {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": "On its way."}, image],
    }
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"id":"7"}'
    assert tool.attributes["gen_ai.tool.call.result"] == "On its way."
    assert (failed.status_message, agent.status_message) == ("slow down", "slow down")
    assert _read(agent.attributes["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Where is 7?"}]}
    ]


def test_questions_and_refused_calls_are_moments_of_a_span() -> None:
    """A question belongs to the call that asks it; a call that was not run has no span, and is not forgotten."""
    _, tool, _, agent = finished(*told(content=True))
    asked = {"langfx.wait.id": "exe_1:1", "langfx.wait.kind": "question"}
    assert [(event.name, event.attributes) for event in tool.events] == [
        ("langfx.wait.start", asked | {"langfx.wait.request": "May I?"}),
        ("langfx.wait.end", asked | {"langfx.wait.outcome": "answered", "langfx.wait.answer": "true"}),
    ]
    assert [(event.name, event.attributes) for event in agent.events] == [
        (
            "langfx.tool.refused",
            {"gen_ai.tool.name": "pay", "gen_ai.tool.call.id": "c2", "error.type": "tool_not_found"},
        )
    ]
    _, tool, _, _ = finished(*told(content=False))
    assert [sorted(event.attributes) for event in tool.events] == [
        sorted(asked),
        [*sorted(asked), "langfx.wait.outcome"],
    ]


def test_an_agent_in_a_tool_stands_below_its_call() -> None:
    """Both are one trace; an inner run whose call is over stands below the outer agent."""
    outer = told(content=False)
    call = ParentCall(session_id="ses_1", turn_id="msg_1", run_id="run_1", execution_id="exe_1")
    inner = told(content=False, session_id=None, turn_id="msg_2", run_id="run_2", parent=call)
    at = next(n for n, event in enumerate(outer) if isinstance(event, ObservedToolStart)) + 1
    spans = finished(*outer[:at], *inner, *outer[at:])
    agent, tool = spans[4:6]
    assert (agent.name, tool.name) == ("invoke_agent shop", "execute_tool get_order")
    assert (agent.trace_id, agent.parent_id) == (tool.trace_id, tool.span_id)
    late = [ended for ended in finished(*outer[:-1], *inner, outer[-1]) if ended.name == "invoke_agent shop"]
    assert late[0].parent_id == late[1].span_id
    alone = [ended for ended in finished(*inner) if ended.name == "invoke_agent shop"]
    assert alone[0].parent_id is None


def test_what_a_run_left_open_ends_with_it() -> None:
    """A request or call that has no end of its own was broken off; nothing is open after a run."""
    events = [event for event in told(content=False) if not isinstance(event, (ObservedModelEnd, ObservedToolEnd))]
    spans = finished(*events)
    assert [span.attributes.get("langfx.broken_off") for span in spans] == [True, True, True, None]
    assert {span.end for span in spans} == {events[-1].at}


def test_cancelled_work_is_no_error() -> None:
    """A request that was given up for the user's sake is marked, and its span has not failed."""
    start, _, request, *_ = told(content=False)
    place: dict[str, Any] = {"run_id": "run_1", "at": AT}
    end = ObservedModelEnd(**place, step=1, request=1, error_code="cancelled", usage=Usage(input_tokens=3))
    over = ObservedTurnEnd(**place, stop_reason="cancelled")
    chat, agent = finished(start, request, end, over)
    assert (chat.is_error, chat.attributes["langfx.cancelled"], chat.attributes["gen_ai.usage.input_tokens"]) == (
        False,
        True,
        3,
    )
    assert (agent.is_error, agent.attributes["langfx.stop_reason"]) == (False, "cancelled")


def test_runs_that_never_end_are_bounded() -> None:
    """The oldest is given up, and its spans are told as broken off."""
    spans = Spans()
    ended = [
        span
        for number in range(MOST_RUNS + 1)
        for event in told(content=False, run_id=f"run_{number}")[:3]
        for span in spans.take(event)
    ]
    assert [(span.name, span.attributes["langfx.broken_off"]) for span in ended] == [
        ("chat m-1", True),
        ("invoke_agent shop", True),
    ]


def test_events_of_no_known_run_make_no_span() -> None:
    """Those of a journal, and of runs that began before anybody watched."""
    assert finished(*told(content=True)[1:]) == []
    assert finished(ObservedJournalCommit(at=AT, session_id="ses_1", first_seq=1, last_seq=2, cursor=3)) == []


def _times(*spans: Span) -> list[tuple[int, int]]:
    return [
        ((span.start - AT) // timedelta(milliseconds=1), ((span.end or AT) - AT) // timedelta(milliseconds=1))
        for span in spans
    ]


def _read(value: Any) -> Any:
    return loads(value) if isinstance(value, str) and value[:1] in "[{" else value
