"""What may be asked."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import InvalidArgumentError, LMInputError, UnsupportedCapabilityError
from langfx_web.llms import Capabilities, ModelRequest, SamplingOptions
from langfx_web.llms.request import check, check_order, results_in_call_order, thoughts_were_dropped, transcript
from langfx_web.messages import (
    AIMessage,
    ComplexMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)

USER, SYSTEM = UserMessage("hi"), SystemMessage("be brief")
CALLS = AIMessage(ToolCall("t1", "f", {}), ToolCall("t2", "g", {}))
ONE, TWO = ToolMessage("1", call_id="t1"), ToolMessage("2", call_id="t2")
TOOL = ToolDeclaration(name="f", description="", input_schema={})


@pytest.mark.parametrize(
    ("prompt", "messages"),
    [
        ("hi", (USER,)),
        (USER, (USER,)),
        (ComplexMessage(SYSTEM, USER), (SYSTEM, USER)),
        ([SYSTEM, ComplexMessage(USER)], (SYSTEM, USER)),
        (["a", "b"], (UserMessage("a", "b"),)),
    ],
)
def test_every_form_of_a_prompt_is_a_conversation(prompt: Any, messages: tuple[Message, ...]) -> None:
    """Text, messages, transcripts and sequences are all prompts."""
    assert transcript(prompt) == messages


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER, CALLS, TWO, ONE],
        [USER, CALLS, ONE, TWO, USER, AIMessage("a"), AIMessage("b")],
        [USER, CALLS, ONE, TWO, CALLS, ONE, TWO],
        [USER, SYSTEM],
    ],
)
def test_answered_calls_are_in_order(messages: list[Message]) -> None:
    """Results in any order, and ids that are used again in a later step, are fine."""
    check_order(messages)


@pytest.mark.parametrize(
    ("messages", "named"),
    [
        ([USER, CALLS, ONE, USER], "'g' \\('t2'\\) without a result before message 3"),
        ([USER, CALLS, ONE, AIMessage("a")], "before message 3"),
        ([USER, CALLS, ONE], "at the end"),
        ([USER, ONE], "'t1', which is no open tool call"),
        ([USER, CALLS, ONE, ONE, TWO], "message 3 answers 't1'"),
        ([USER, CALLS, SYSTEM, ONE, TWO], "before message 2 \\(system\\)"),
        ([SYSTEM], "nothing to answer"),
        ([], "nothing to answer"),
    ],
)
def test_providers_46_open_calls_and_stray_results_are_refused(messages: list[Message], named: str) -> None:
    """A conversation that no wire takes is refused with the place that is wrong."""
    with pytest.raises(LMInputError, match=named):
        check_order(messages)


def test_results_are_put_in_the_order_of_their_calls() -> None:
    """Results follow the order in which the calls were made, not in which the tools finished."""
    assert results_in_call_order([USER, CALLS, TWO, ONE, USER]) == [USER, CALLS, ONE, TWO, USER]


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"tools": (TOOL,)}, "tools"),
        ({"schema": {"type": "object"}}, "native_schema"),
        ({"options": SamplingOptions(n=2)}, "candidates"),
        ({"messages": (USER, AIMessage("The answer is"))}, "prefill"),
    ],
)
def test_providers_26_what_a_model_cannot_do_is_refused(fields: dict[str, Any], missing: str) -> None:
    """A request that needs a missing capability says which."""
    request = ModelRequest(**{"messages": (USER,), **fields})
    check(request, Capabilities())
    with pytest.raises(UnsupportedCapabilityError, match=missing) as raised:
        check(request, Capabilities().updated({missing: False}))
    assert raised.value.details == {"capability": missing}


def test_capabilities_are_overridden_by_name() -> None:
    """Single facts of a model can be told; a misspelled one is a `TypeError`."""
    told = Capabilities(audio=False).updated({"images": False, "context_window": 128_000})
    assert told == Capabilities(audio=False, images=False, context_window=128_000)
    assert told.updated(None) is told
    assert told.updated(Capabilities()) == Capabilities()
    with pytest.raises(TypeError, match="'image'"):
        told.updated({"image": False})


def test_a_tool_choice_names_a_tool_that_is_there() -> None:
    """The four words and declared names are choices; anything else is refused by name."""
    for choice in (None, "auto", "none", "any", "f"):
        ModelRequest(messages=(USER,), tools=(TOOL,), tool_choice=choice)
    with pytest.raises(InvalidArgumentError, match="'g'"):
        ModelRequest(messages=(USER,), tools=(TOOL,), tool_choice="g")


def test_dropped_thoughts_are_remembered_by_the_conversation() -> None:
    """One message that was only taken without thoughts marks the whole conversation."""
    assert thoughts_were_dropped([USER, AIMessage("a", metadata={"thoughts_dropped": True})])
    assert not thoughts_were_dropped([USER, AIMessage("a", metadata={"x": 1})])
