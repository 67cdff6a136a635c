"""Requests as servers of Chat Completions want them."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.openai_chat.choice import REPLAY_TAG
from langfx_web.messages import (
    AIMessage,
    Message,
    SystemMessage,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from tests.llms.chat_wire import answered, ok, sent

USER = UserMessage("hi")
CALLED = AIMessage(ToolCall("t1", "f", {"x": 1}))
RESULT = ToolMessage("done", call_id="t1")
CALL = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
TOOL = ToolDeclaration(name="f", description="d", input_schema={})
OPENROUTER = {"base_url": "https://openrouter.ai/api/v1"}
DEEPSEEK = {"base_url": "https://api.deepseek.com"}


async def body(messages: Any, settings: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The body that these messages are sent as."""
    model, transport = answered(ok(), **(settings or {}))
    await model.sample([messages], **options)
    return sent(transport)


async def wire(*messages: Message, **settings: Any) -> list[dict[str, Any]]:
    """The wire's messages for ours."""
    found: list[dict[str, Any]] = (await body(messages, settings))["messages"]
    return found


def thought(block: dict[str, Any], host: str, content: str = "", model: str = "gpt-x") -> Thought:
    """A thought with something to send back."""
    payload = {"v": 1, "host": host, "model": model, "block": block}
    return Thought(content, payload=payload, replay_compatibility=REPLAY_TAG)


async def test_nothing_is_sent_that_nobody_set() -> None:
    """A bare request has the model, the messages and the wish to stream, with usage."""
    assert await body("hi") == {
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert await body("hi", {"stream_wire": False}) == {
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "hi"}],
    }


async def test_a_conversation_keeps_its_roles_and_order() -> None:
    """System messages stand where they are; results follow in the order of their calls; blanks are left out."""
    twice = AIMessage("x", ToolCall("t1", "f", {"x": 1}), ToolCall("t2", "g", None, raw_args="{"))
    messages = [
        SystemMessage("be", " "),
        USER,
        twice,
        ToolMessage("", call_id="t2", is_error=True),
        RESULT,
        SystemMessage("now"),
        AIMessage(" "),
        UserMessage(" "),
        UserMessage("go", " on"),
    ]
    broken = {"id": "t2", "type": "function", "function": {"name": "g", "arguments": "{}"}}
    assert await wire(*messages) == [
        {"role": "system", "content": "be"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "x", "tool_calls": [CALL, broken]},
        {"role": "tool", "tool_call_id": "t1", "content": "done"},
        {"role": "tool", "tool_call_id": "t2", "content": ""},
        {"role": "system", "content": "now"},
        {"role": "user", "content": "go on"},
    ]


async def test_an_answer_of_calls_alone_has_null_content() -> None:
    """The wire wants the field."""
    assert (await wire(USER, CALLED, RESULT))[1] == {"role": "assistant", "content": None, "tool_calls": [CALL]}


async def test_providers_47_a_blank_last_user_message_is_refused() -> None:
    """There is nothing to answer."""
    with pytest.raises(errors.LMInputError, match="blank"):
        await body(" \n")


async def test_options_have_the_names_of_the_wire() -> None:
    """Each option that is set is sent under the name that the server knows."""
    shown = await body(
        "hi",
        temperature=0.5,
        max_tokens=9,
        top_p=0.9,
        stop=["a", "b"],
        random_seed=7,
        n=2,
        logprobs=True,
        top_logprobs=3,
        reasoning_effort="low",
        thoughts=True,
        service_tier="flex",
        extras={"store": True},
    )
    del shown["messages"], shown["stream"], shown["stream_options"], shown["model"]
    assert shown == {
        "temperature": 0.5,
        "max_completion_tokens": 9,
        "top_p": 0.9,
        "stop": ["a", "b"],
        "seed": 7,
        "n": 2,
        "logprobs": True,
        "top_logprobs": 3,
        "reasoning_effort": "low",
        "service_tier": "flex",
        "store": True,
    }


@pytest.mark.parametrize("option", ["top_k", "max_thinking_tokens"])
async def test_options_that_the_wire_lacks_are_refused(option: str) -> None:
    """Before anything is sent, and by their name."""
    model, transport = answered()
    with pytest.raises(errors.UnsupportedCapabilityError, match=option):
        await model("hi", **{option: 5})
    assert not transport.requests


async def test_tools_are_sent_as_declared() -> None:
    """Without parameters as an object without properties; a choice in the words of the wire."""
    shown = await body("hi", tools=[TOOL], tool_choice="f", parallel_tool_calls=False)
    function = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    assert shown["tools"] == [{"type": "function", "function": function}]
    assert shown["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert shown["parallel_tool_calls"] is False
    assert (await body("hi", tools=[TOOL], tool_choice="any"))["tool_choice"] == "required"
    assert "parallel_tool_calls" not in await body("hi", parallel_tool_calls=False)


async def test_own_fields_are_added_to_the_body() -> None:
    """Tools are appended to, and what we write ourselves cannot be replaced."""
    shown = await body("hi", tools=[TOOL], extras={"tools": [{"type": "web"}], "stream_options": {"x": 1}})
    assert [tool["type"] for tool in shown["tools"]] == ["function", "web"]
    assert shown["stream_options"] == {"include_usage": True, "x": 1}
    with pytest.raises(errors.LMInputError, match="messages"):
        await body("hi", extras={"messages": []})


async def test_a_schema_is_sent_in_its_strict_form() -> None:
    """Under its title where that is a name; an optional property becomes required and nullable."""
    schema = {"title": "City", "type": "object", "properties": {"a": {"type": "string"}}}
    sent_schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert (await body("hi", schema=schema))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "City", "schema": sent_schema, "strict": True},
    }
    ollama = await body("hi", {"base_url": "http://localhost:11434/v1"}, schema={**schema, "title": "a b"})
    assert ollama["response_format"]["json_schema"] == {"name": "answer", "schema": sent_schema}


# Servers


async def test_each_server_gets_the_form_it_wants() -> None:
    """The profile is chosen by host, and can be named."""
    asked = {"max_tokens": 5, "reasoning_effort": "low"}
    openrouter = await body("hi", OPENROUTER, **asked, max_thinking_tokens=7)
    assert (openrouter["max_tokens"], openrouter["reasoning"]) == (5, {"effort": "low", "max_tokens": 7})
    groq = await body("hi", {"base_url": "https://api.groq.com/openai/v1"}, **asked)
    assert "stream_options" not in groq
    assert groq["reasoning_effort"] == "low"
    mistral = await body("hi", {"profile": "mistral"}, tools=[TOOL], tool_choice="any", random_seed=7)
    assert (mistral["tool_choice"], mistral["random_seed"]) == ("any", 7)
    local = await body([SystemMessage("s"), USER], {"base_url": "http://localhost:8000/v1"}, max_tokens=5)
    assert local["max_tokens"] == 5
    assert local["messages"][0]["role"] == "system"


async def test_providers_52_ids_are_made_to_fit() -> None:
    """An id that the server would refuse is replaced by a hash of it, in call and result alike."""
    messages = [USER, AIMessage(ToolCall("c" * 65, "f", {})), ToolMessage("r", call_id="c" * 65)]
    for settings, length in (({}, 35), ({"profile": "mistral"}, 9)):
        shown = await wire(*messages, **settings)
        id = shown[1]["tool_calls"][0]["id"]
        assert shown[2]["tool_call_id"] == id
        assert len(id) == length


async def test_providers_41_deepseek_gets_reasoning_with_every_call() -> None:
    """Its text where there was some, an empty one where there was none, and none without calls."""
    block = {"reasoning_content": "Hm"}
    mine, other = thought(block, "api.deepseek.com", "Hm"), thought(block, "other.test", "Hm")
    call = ToolCall("t1", "f", {"x": 1})
    sent_back = [
        (await wire(USER, AIMessage(*parts, call), RESULT, **DEEPSEEK))[1]["reasoning_content"]
        for parts in ([mine], [other], [])
    ]
    assert sent_back == ["Hm", "", ""]
    assert "reasoning_content" not in (await wire(USER, AIMessage(mine, "x"), USER, **DEEPSEEK))[1]
    assert "reasoning_content" not in (await wire(USER, AIMessage(thought(block, "api.openai.com"), call), RESULT))[1]


async def test_providers_42_reasoning_details_go_back_whole() -> None:
    """To the same model at the same host, as one list; nothing of them to another."""
    first = {"type": "reasoning.text", "text": "a  b\u2028", "index": 0}
    mine = thought({"reasoning_details": [first]}, "openrouter.ai", "a")
    late = thought({"reasoning_details": [{"type": "reasoning.text", "signature": "S=", "index": 0}]}, "openrouter.ai")
    shown = await wire(USER, AIMessage(mine, "x", late), USER, **OPENROUTER)
    assert shown[1] == {"role": "assistant", "content": "x", "reasoning_details": [{**first, "signature": "S="}]}
    other = thought({"reasoning_details": [first]}, "openrouter.ai", model="other")
    assert (await wire(USER, AIMessage(other, "x"), USER, **OPENROUTER))[1] == {"role": "assistant", "content": "x"}


async def test_what_stood_beside_a_call_goes_back_beside_it() -> None:
    """And nowhere else, if the call is gone."""
    payload = {"v": 1, "host": "api.openai.com", "model": "gpt-x", "next": {"extra_content": {"s": 1}}}
    beside = Thought(payload=payload, replay_compatibility=REPLAY_TAG)
    shown = await wire(USER, AIMessage(beside, ToolCall("t1", "f", {"x": 1})), RESULT, AIMessage(beside, "x"), USER)
    assert shown[1]["tool_calls"] == [{**CALL, "extra_content": {"s": 1}}]
    assert shown[3] == {"role": "assistant", "content": "x"}


async def test_readable_thoughts_can_be_sent_as_text() -> None:
    """Only on request."""
    message = AIMessage(Thought("hm"), "x")
    assert (await wire(USER, message, USER))[1]["content"] == "x"
    assert (await wire(USER, message, USER, replays={"plain-text"}))[1]["content"] == "<thought>hm</thought>x"


async def test_providers_44_a_longer_conversation_begins_with_the_same_bytes() -> None:
    """What was sent once is never sent differently later, for the provider's cache."""
    messages = [
        SystemMessage("s"),
        USER,
        AIMessage(thought({"reasoning_content": "a"}, "api.deepseek.com"), ToolCall("t1", "f", {"x": 1})),
        RESULT,
        AIMessage("ok "),
        UserMessage("more"),
        AIMessage(ToolCall("t3", "f", {})),
        ToolMessage("r", call_id="t3"),
    ]
    whole = await wire(*messages, **DEEPSEEK)
    for count in (2, 4, 6):
        part = await wire(*messages[:count], **DEEPSEEK)
        assert whole[: len(part)] == part


async def test_providers_46_a_call_without_a_result_is_refused() -> None:
    """Before anything is sent."""
    model, transport = answered()
    with pytest.raises(errors.LMInputError, match="without a result"):
        await model([USER, CALLED, USER])
    assert not transport.requests
