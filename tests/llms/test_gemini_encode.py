"""Requests as the Gemini wire wants them."""

from __future__ import annotations

from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.llms.gemini.encode import UNSIGNED
from langfx_web.llms.gemini.parts import REPLAY_TAG
from langfx_web.messages import (
    AIMessage,
    Image,
    Message,
    SystemMessage,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.messages.codec import decode, encode
from tests.llms.gemini_wire import answered, call, chunk, ok, sent, text

HOST = "generativelanguage.googleapis.com"
USER = UserMessage("hi")
SAID = {"role": "user", "parts": [{"text": "hi"}]}
CALLED = AIMessage(ToolCall("t1", "f", {"x": 1}))
RESULT = ToolMessage("done", call_id="t1")
TOOL = ToolDeclaration(name="f", description="d", input_schema={})


async def body(messages: Any, settings: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The body that these messages are sent as."""
    model, transport = answered(ok(), **(settings or {}))
    await model(messages, **options)
    return sent(transport)


async def wire(*messages: Message, **settings: Any) -> list[dict[str, Any]]:
    """The wire's contents for our messages."""
    found: list[dict[str, Any]] = (await body(messages, settings))["contents"]
    return found


def thought(content: str = "", host: str = HOST, model: str = "gemini-x", **payload: Any) -> Thought:
    """A thought with something to send back."""
    origin = {"v": 1, "host": host, "model": model}
    return Thought(content, payload={**origin, **payload}, replay_compatibility=REPLAY_TAG)


async def test_nothing_is_sent_that_nobody_set() -> None:
    """A bare request has the conversation; the model is in the address."""
    model, transport = answered(ok(), ok(), ok())
    await model("hi")
    assert sent(transport) == {"contents": [SAID]}
    base = f"https://{HOST}/v1beta/models/"
    assert transport.requests[0].url == f"{base}gemini-x:streamGenerateContent?alt=sse"
    assert dict(transport.requests[0].headers) == {
        "content-type": "application/json",
        "x-goog-api-key": "test-key-1234",
    }
    await model.with_options(model="models/m", stream_wire=False, auth="bearer")("hi")
    assert transport.requests[1].url == f"{base}m:generateContent"
    assert transport.requests[1].headers["authorization"] == "Bearer test-key-1234"
    await model.with_options(base_url="https://gateway.test/v1?team=x")("hi")
    assert transport.requests[2].url == ("https://gateway.test/v1/models/gemini-x:streamGenerateContent?team=x&alt=sse")
    with pytest.raises(errors.InvalidArgumentError):
        model.with_options(auth="basic")


def test_it_has_the_name_that_langfun_has_for_it() -> None:
    """Both names are the same class."""
    assert lf.llms.GoogleGenAI is lf.llms.Gemini


async def test_a_conversation_alternates() -> None:
    """Leading system messages stand apart, a later one is marked; neighbours share a content, blanks are left out."""
    messages = [
        SystemMessage("be"),
        USER,
        UserMessage("there"),
        AIMessage("x"),
        AIMessage(" "),
        SystemMessage("now"),
        UserMessage(" ", "go"),
    ]
    shown = await body(messages)
    assert shown["systemInstruction"] == {"parts": [{"text": "be"}]}
    assert shown["contents"] == [
        {"role": "user", "parts": [{"text": "hi"}, {"text": "there"}]},
        {"role": "model", "parts": [{"text": "x"}]},
        {"role": "user", "parts": [{"text": "<system>now</system>"}, {"text": "go"}]},
    ]


async def test_results_have_the_name_of_their_call() -> None:
    """In the order of the calls, in one content, before what the user says; an error is one."""
    messages = [
        USER,
        AIMessage(ToolCall("t1", "f", {"x": 1}), ToolCall("lf_2", "g", None, raw_args="{")),
        ToolMessage("bad", call_id="lf_2", is_error=True),
        RESULT,
        UserMessage("go"),
    ]
    first = {"functionCall": {"id": "t1", "name": "f", "args": {"x": 1}}, "thoughtSignature": UNSIGNED}
    assert (await wire(*messages))[1:] == [
        {"role": "model", "parts": [first, {"functionCall": {"name": "g", "args": {}}}]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "t1", "name": "f", "response": {"result": "done"}}},
                {"functionResponse": {"name": "g", "response": {"error": "bad"}}},
                {"text": "go"},
            ],
        },
    ]


async def test_bug_073_providers_39_signed_parts_go_back_in_their_places() -> None:
    """Two calls, the first signed, and a signed empty text: one model content, one user content; also after saving."""
    parts = [
        call("w", {"c": "Rome"}, thoughtSignature="U0lHMQ=="),
        call("w", {"c": "Oslo"}),
        text("", thoughtSignature="U0lHMg=="),
    ]
    model, transport = answered(ok(chunk(*parts[:2]) + chunk(parts[2], finish="STOP")), ok(), ok())
    made = await model("hi")
    results = [ToolMessage(name, call_id=called.id) for name, called in zip("ab", made.tool_calls, strict=True)]
    for message in (made, decode(encode(made))):
        await model([USER, message, *results])
        assert sent(transport)["contents"] == [
            SAID,
            {"role": "model", "parts": parts},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "w", "response": {"result": "a"}}},
                    {"functionResponse": {"name": "w", "response": {"result": "b"}}},
                ],
            },
        ]


async def test_bug_073_providers_40_calls_of_another_model_get_one_stand_in() -> None:
    """The first call of each answer; siblings get none, and another model's payloads stay behind."""
    other = AIMessage(
        thought(model="gemini-y", next={"thoughtSignature": "S="}), ToolCall("a", "f", {}), ToolCall("b", "f", {})
    )
    results = [ToolMessage("r", call_id="a"), ToolMessage("r", call_id="b")]
    first, second = (await wire(USER, other, *results))[1]["parts"]
    assert first["thoughtSignature"] == UNSIGNED
    assert "thoughtSignature" not in second


async def test_providers_36_thoughts_wait_for_a_model_that_can_read_them() -> None:
    """A conversation begun with Claude goes on without its thoughts, which are still there for Claude."""
    payload = {"v": 1, "host": "api.anthropic.com", "model": "m", "block": {"type": "thinking", "thinking": "hm"}}
    claude = Thought("hm", payload=payload, replay_compatibility="anthropic-messages-thinking-v1")
    message = AIMessage(claude, "x")
    assert (await wire(USER, message, USER))[1] == {"role": "model", "parts": [{"text": "x"}]}
    assert message.thoughts[0].payload == payload


async def test_what_the_server_made_goes_back() -> None:
    """Thoughts, code and signed texts, each as it came."""
    code = {"executableCode": {"code": "1"}}
    thinking = {"text": "hm", "thought": True}
    message = AIMessage(
        thought("hm", block=thinking),
        thought(block=code),
        "a",
        thought(next={"thoughtSignature": "S="}),
        "b",
        Image.from_bytes(b"\x89PNG\r\n\x1a\n"),
    )
    assert (await wire(USER, message, USER))[1]["parts"] == [
        thinking,
        code,
        {"text": "a"},
        {"text": "b", "thoughtSignature": "S="},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
    ]


async def test_options_have_the_names_of_the_wire() -> None:
    """Each option that is set is sent under the name that the server knows."""
    shown = await body(
        "hi",
        temperature=0.5,
        max_tokens=9,
        top_p=0.9,
        top_k=3,
        stop=["a"],
        random_seed=7,
        logprobs=True,
        top_logprobs=2,
        max_thinking_tokens=100,
        thoughts=True,
        service_tier="flex",
        extras={"safetySettings": [], "generationConfig": {"responseModalities": ["IMAGE"]}},
    )
    assert shown["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 3,
        "maxOutputTokens": 9,
        "stopSequences": ["a"],
        "seed": 7,
        "responseLogprobs": True,
        "logprobs": 2,
        "thinkingConfig": {"includeThoughts": True, "thinkingBudget": 100},
        "responseModalities": ["IMAGE"],
    }
    assert (shown["serviceTier"], shown["safetySettings"]) == ("flex", [])


@pytest.mark.parametrize(
    ("effort", "config"),
    [("none", {"thinkingBudget": 0}), ("low", {"thinkingLevel": "LOW"}), ("max", {"thinkingLevel": "XHIGH"})],
)
async def test_effort_is_a_level_of_thinking(effort: str, config: dict[str, Any]) -> None:
    """And none of it is a budget of nothing."""
    assert (await body("hi", reasoning_effort=effort))["generationConfig"] == {"thinkingConfig": config}


async def test_providers_26_what_the_wire_lacks_is_refused() -> None:
    """Several candidates, and a wish about parallel calls."""
    model, transport = answered()
    for wish in ({"parallel_tool_calls": False}, {"n": 2}):
        with pytest.raises(errors.UnsupportedCapabilityError):
            await model.sample(["hi"], **wish)
    assert not transport.requests


async def test_bug_047_providers_49_tools_are_sent_as_declared() -> None:
    """But for enums, which are texts here; a choice in the words of the wire."""
    schema = {"type": "object", "properties": {"a": {"type": "integer", "enum": [60, 1440]}, "m": {"enum": ["x", "y"]}}}
    tool = ToolDeclaration(name="f", description="d", input_schema={"$schema": "s", **schema})
    shown = await body("hi", tools=[tool], tool_choice="f")
    assert shown["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "d",
                    "parametersJsonSchema": {
                        "type": "object",
                        "properties": {
                            "a": {"type": "integer", "description": "(one of: 60, 1440)"},
                            "m": {"enum": ["x", "y"], "type": "string"},
                        },
                    },
                }
            ]
        }
    ]
    assert shown["toolConfig"] == {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}
    for choice in ("auto", "any", "none"):
        shown = await body("hi", tools=[TOOL], tool_choice=choice)
        assert shown["toolConfig"] == {"functionCallingConfig": {"mode": choice.upper()}}


async def test_bug_047_providers_49_a_schema_is_sent_in_the_dialect() -> None:
    """Keywords that the wire lacks move into descriptions; open objects are refused with their path."""
    schema = {
        "type": "object",
        "title": "T",
        "properties": {
            "when": {"type": "string", "format": "uri"},
            "v": {"const": 1},
            "n": {"type": ["integer", "null"], "enum": [1, None]},
        },
    }
    config = (await body("hi", schema=schema))["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == {
        "type": "object",
        "title": "T",
        "properties": {
            "when": {"type": "string", "description": '(format: "uri")'},
            "v": {"type": "integer", "description": "(one of: 1)"},
            "n": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "(one of: 1, null)"},
        },
        "additionalProperties": False,
    }
    nested = {"type": "object", "additionalProperties": {"type": "string"}}
    with pytest.raises(errors.UnsupportedCapabilityError, match="#/properties/o/additionalProperties"):
        await body("hi", schema={"type": "object", "properties": {"o": nested}})


async def test_providers_44_a_longer_conversation_begins_with_the_same_bytes() -> None:
    """What was sent once is never sent differently later, for the provider's cache."""
    messages = [
        SystemMessage("s"),
        USER,
        AIMessage(thought(next={"thoughtSignature": "S="}), ToolCall("t1", "f", {"x": 1})),
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
