"""Requests as the Responses wire wants them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.openai.items import REPLAY_TAG
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
from langfx_web.messages.codec import decode, encode
from langfx_web.transport import MockResponse
from tests.llms.responses_wire import added, answered, call, created, done, end, ok, sent

HOST = "api.openai.com"
USER = UserMessage("hi")
CALLED = AIMessage(ToolCall("t1", "f", {"x": 1}))
RESULT = ToolMessage("done", call_id="t1")
CALL = {"type": "function_call", "call_id": "t1", "name": "f", "arguments": '{"x":1}'}
OUTPUT = {"type": "function_call_output", "call_id": "t1", "output": "done"}
TOOL = ToolDeclaration(name="f", description="d", input_schema={})
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA  \u2028=="}


async def body(messages: Any, settings: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The body that these messages are sent as."""
    model, transport = answered(ok(), **(settings or {}))
    await model(messages, **options)
    return sent(transport)


async def wire(*messages: Message, **settings: Any) -> list[dict[str, Any]]:
    """The wire's items for our messages."""
    found: list[dict[str, Any]] = (await body(messages, settings))["input"]
    return found


def thought(content: str = "", host: str = HOST, **payload: Any) -> Thought:
    """A thought with something to send back."""
    return Thought(content, payload={"v": 1, "host": host, "model": "m", **payload}, replay_compatibility=REPLAY_TAG)


async def test_nothing_is_sent_that_nobody_set() -> None:
    """A bare request stores nothing, and asks for reasoning that can go back; padding is asked off of OpenAI only."""
    bare = {
        "model": "gpt-x",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": "hi"}],
    }
    assert await body("hi") == {**bare, "stream": True, "stream_options": {"include_obfuscation": False}}
    assert await body("hi", {"stream_wire": False}) == bare
    assert await body("hi", {"base_url": "https://api.x.ai/v1"}) == {**bare, "stream": True}


async def test_a_conversation_keeps_its_roles_and_order() -> None:
    """System messages stand where they are; results follow in the order of their calls; blanks are left out."""
    messages = [
        SystemMessage("be"),
        USER,
        AIMessage("x", ToolCall("t1", "f", {"x": 1}), ToolCall("t2", "g", None, raw_args="{")),
        ToolMessage("", call_id="t2"),
        RESULT,
        SystemMessage("now"),
        UserMessage(" "),
        UserMessage("go", " on"),
    ]
    assert await wire(*messages) == [
        {"role": "system", "content": "be"},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "x"},
        CALL,
        {"type": "function_call", "call_id": "t2", "name": "g", "arguments": "{}"},
        OUTPUT,
        {"type": "function_call_output", "call_id": "t2", "output": ""},
        {"role": "system", "content": "now"},
        {"role": "user", "content": "go on"},
    ]


async def test_providers_37_reasoning_goes_back_before_its_call() -> None:
    """As it was finished, byte for byte, also after the conversation was saved; results carry `call_id`."""
    reasoning = {**REASONING, "summary": [{"type": "summary_text", "text": "a  b"}]}
    answer = (
        created()
        + added(0, **reasoning | {"encrypted_content": "early"})
        + done(0, **reasoning)
        + added(1, **call(1, status="in_progress"))
        + done(1, **call(1, '{"x":1}'))
        + end(reasoning | {"encrypted_content": "other"}, call(1, '{"x":1}'))
    )
    model, transport = answered(ok(answer), ok(), ok())
    made = await model("hi")
    result = ToolMessage("done", call_id=made.tool_calls[0].id)
    for message in (made, decode(encode(made))):
        await model([USER, message, result])
        assert sent(transport)["input"] == [
            {"role": "user", "content": "hi"},
            reasoning,
            call(1, '{"x":1}'),
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
        ]


async def test_providers_38_reasoning_that_cannot_be_used_is_left_out() -> None:
    """Without the item that followed it, or as a bare id; neither is an error."""
    alone = AIMessage(thought(block=REASONING))
    assert await wire(USER, alone, USER) == [{"role": "user", "content": "hi"}] * 2
    blank = AIMessage(thought(block=REASONING), " ")
    assert await wire(USER, blank, USER) == [{"role": "user", "content": "hi"}] * 2
    bare = AIMessage(thought(block={"type": "reasoning", "id": "rs_1", "summary": []}), "x")
    assert (await wire(USER, bare, USER))[1] == {"role": "assistant", "content": "x"}
    told = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "a"}]}
    assert (await wire(USER, AIMessage(thought(block=told), "x"), USER))[1] == told


async def test_messages_and_items_of_the_server_go_back_as_they_were() -> None:
    """With their ids and phases; to another host nothing of that goes."""
    search = {"type": "web_search_call", "id": "ws_1"}
    mine = AIMessage(thought(block=search), thought(next={"id": "msg_1", "phase": "commentary"}), "x")
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x"}],
        "id": "msg_1",
        "phase": "commentary",
    }
    assert (await wire(USER, mine, USER))[1:3] == [search, said]
    assert (await wire(USER, mine, USER, base_url="https://api.x.ai/v1"))[1:2] == [
        {"role": "assistant", "content": "x"}
    ]


async def test_options_have_the_names_of_the_wire() -> None:
    """Each option that is set is sent under the name that the server knows."""
    schema = {"title": "City", "type": "object", "properties": {}}
    shown = await body(
        "hi",
        temperature=0.5,
        max_tokens=9,
        top_p=0.9,
        logprobs=True,
        top_logprobs=3,
        reasoning_effort="low",
        thoughts=True,
        service_tier="flex",
        schema=schema,
        extras={"include": ["x"], "tools": [{"type": "web_search"}]},
    )
    assert (shown["temperature"], shown["max_output_tokens"], shown["top_p"], shown["service_tier"]) == (
        0.5,
        9,
        0.9,
        "flex",
    )
    assert shown["include"] == ["reasoning.encrypted_content", "message.output_text.logprobs", "x"]
    assert (shown["top_logprobs"], shown["reasoning"]) == (3, {"effort": "low", "summary": "auto"})
    assert shown["tools"] == [{"type": "web_search"}]
    wanted = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert shown["text"] == {"format": {"type": "json_schema", "name": "City", "schema": wanted, "strict": True}}


@pytest.mark.parametrize(
    "option", [{"stop": "x"}, {"random_seed": 1}, {"top_k": 1}, {"max_thinking_tokens": 2000}], ids=str
)
async def test_providers_26_options_that_the_wire_lacks_are_refused(option: dict[str, Any]) -> None:
    """Before anything is sent, and by their name."""
    model, transport = answered()
    with pytest.raises(errors.UnsupportedCapabilityError, match=next(iter(option))):
        await model("hi", **option)
    assert not transport.requests


async def test_tools_are_sent_as_declared() -> None:
    """Not strict; a choice in the words of the wire."""
    shown = await body("hi", tools=[TOOL], tool_choice="f", parallel_tool_calls=False)
    parameters = {"type": "object", "properties": {}}
    assert shown["tools"] == [
        {"type": "function", "name": "f", "description": "d", "parameters": parameters, "strict": False}
    ]
    assert (shown["tool_choice"], shown["parallel_tool_calls"]) == ({"type": "function", "name": "f"}, False)
    assert (await body("hi", tools=[TOOL], tool_choice="any"))["tool_choice"] == "required"


async def test_what_the_server_would_keep_cannot_be_asked_for() -> None:
    """Conversations are ours: they are sent whole."""
    for name in ("input", "previous_response_id", "conversation"):
        with pytest.raises(errors.LMInputError, match=name):
            await body("hi", extras={name: "x"})


async def test_ids_are_made_to_fit() -> None:
    """An id that the server would refuse is replaced by a hash of it, in call and result alike."""
    shown = await wire(USER, AIMessage(ToolCall("c" * 65, "f", {})), ToolMessage("r", call_id="c" * 65))
    assert shown[1]["call_id"] == shown[2]["call_id"]
    assert len(shown[1]["call_id"]) == 35


async def test_headers_and_address() -> None:
    """No others than the wire needs; Azure has its own for the key."""
    model, transport = answered(ok(), ok(), organization="o", project="p")
    await model("hi")
    assert transport.requests[0].url == "https://api.openai.com/v1/responses"
    assert dict(transport.requests[0].headers) == {
        "content-type": "application/json",
        "authorization": "Bearer test-key-1234",
        "openai-organization": "o",
        "openai-project": "p",
    }
    await model.with_options(auth="api-key", organization=None, project=None)("hi")
    assert dict(transport.requests[1].headers) == {"content-type": "application/json", "api-key": "test-key-1234"}
    with pytest.raises(errors.InvalidArgumentError):
        model.with_options(auth="basic")


async def test_providers_44_a_longer_conversation_begins_with_the_same_bytes() -> None:
    """What was sent once is never sent differently later, for the provider's cache."""
    messages = [
        SystemMessage("s"),
        USER,
        AIMessage(thought(block=REASONING), thought(next={"id": "fc_1"}), ToolCall("t1", "f", {"x": 1})),
        RESULT,
        AIMessage("ok "),
        UserMessage("more"),
        AIMessage(ToolCall("t3", "f", {})),
        ToolMessage("r", call_id="t3"),
    ]
    whole = await wire(*messages)
    for count in (2, 4, 6):
        part = await wire(*messages[:count])
        assert whole[: len(part)] == part


async def test_rejected_reasoning_is_left_out_once() -> None:
    """A 400 about encrypted content is answered by one more request without any; the answer says so."""
    message = "The encrypted content for item rs_1 could not be verified. encrypted_content is not valid"
    refusal = {"error": {"message": message, "type": "invalid_request_error", "code": "invalid_encrypted_content"}}
    model, transport = answered(MockResponse(status=400, body=json.dumps(refusal).encode()), ok())
    answer = await model([USER, AIMessage(thought(block=REASONING), "x"), USER])
    assert answer.metadata["thoughts_dropped"] is True
    assert len(sent(transport)["input"]) == len(sent(transport, 0)["input"]) - 1
