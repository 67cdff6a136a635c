"""Requests as the Messages wire wants them."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.messages import (
    PDF,
    AIMessage,
    Audio,
    CachePoint,
    Image,
    Message,
    Mime,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.messages.codec import decode, encode
from tests.llms.messages_wire import answered, closed, end, ok, opened, refused, sent, start, text, thinking, tool
from tests.messages.pictures import JPEG, PNG, WAV

USER = UserMessage("hi")
HOST = "api.anthropic.com"


async def body(messages: Any, settings: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """The body that these messages are sent as."""
    model, transport = answered(ok(), **(settings or {}))
    await model(messages, **options)
    return sent(transport)


async def wire(*messages: Message, **settings: Any) -> list[dict[str, Any]]:
    """The wire's messages for ours."""
    found: list[dict[str, Any]] = (await body(messages, settings))["messages"]
    return found


def said(role: str, *texts: str) -> dict[str, Any]:
    """A wire message of texts."""
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}


def thought(block: dict[str, Any], content: str = "", host: str = HOST, tag: str = REPLAY_TAG) -> Thought:
    """A thought with a block to send back."""
    payload = {"v": 1, "host": host, "model": "m", "block": block}
    return Thought(content, payload=payload, replay_compatibility=tag)


SIGNED = {"type": "thinking", "thinking": "a  b\u2028c ", "signature": "EqQB+/=="}
CALLED = AIMessage(ToolCall("t1", "f", {"x": 1}))
RESULT = ToolMessage("done", call_id="t1")
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}
DONE = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]}


async def test_nothing_is_sent_that_nobody_set() -> None:
    """A bare request has the model, the required limit, the messages and the wish to stream."""
    assert await body("hi") == {
        "model": "claude-x",
        "max_tokens": 4096,
        "messages": [said("user", "hi")],
        "stream": True,
    }


async def test_the_body_is_plain_utf8() -> None:
    """Text is sent as it is, without escapes; halves of characters are replaced, not sent."""
    model, transport = answered(ok(), ok())
    await model("naïve 👩 \u2028")
    assert "naïve 👩 \u2028".encode() in (transport.requests[0].body or b"")
    await model("broken \ud83d")
    assert sent(transport)["messages"] == [said("user", "broken \ufffd")]


# Conversations


async def test_leading_system_messages_are_the_system_prompt() -> None:
    """A later one becomes marked user text, as older models take no other."""
    messages = [SystemMessage("a", " "), SystemMessage("b"), USER, AIMessage("x"), SystemMessage("c"), UserMessage("d")]
    shown = await body(messages)
    assert shown["system"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert shown["messages"] == [said("user", "hi"), said("assistant", "x"), said("user", "<system>c</system>", "d")]


async def test_providers_45_results_share_a_message_in_the_order_of_their_calls() -> None:
    """Parallel results come first, in call order, errors marked, and the user's text after them."""
    calls = AIMessage(ToolCall("t1", "f", {}), ToolCall("t2", "f", {}), ToolCall("t3", "f", None, raw_args='{"a'))
    results = [
        ToolMessage("3", call_id="t3", is_error=True),
        ToolMessage("1", call_id="t1"),
        ToolMessage("2", call_id="t2"),
    ]
    shown = await wire(USER, calls, *results, UserMessage("and?"))
    assert [block["input"] for block in shown[1]["content"]] == [{}, {}, {}]
    assert shown[2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "1"},
                {"type": "tool_result", "tool_use_id": "t2", "content": "2"},
                {"type": "tool_result", "tool_use_id": "t3", "content": "3", "is_error": True},
                {"type": "text", "text": "and?"},
            ],
        }
    ]


async def test_providers_46_an_open_call_is_refused_unsent() -> None:
    """A conversation with an unanswered call is not sent."""
    model, transport = answered()
    with pytest.raises(errors.LMInputError, match="without a result"):
        await model([USER, CALLED, USER])
    assert transport.requests == []


async def test_bug_075_providers_47_blank_texts_are_left_out() -> None:
    """Blank parts and messages vanish, blank results are sent in an accepted form, the history is untouched."""
    history = [
        USER,
        AIMessage("\n", ToolCall("t1", "f", {})),
        ToolMessage("", call_id="t1"),
        AIMessage(" "),
        UserMessage("   ", "picture"),
        AIMessage("ok  "),
        UserMessage("more"),
    ]
    kept = [encode(message) for message in history]
    assert await wire(*history) == [
        said("user", "hi"),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1"}, {"type": "text", "text": "picture"}],
        },
        said("assistant", "ok  "),
        said("user", "more"),
    ]
    assert [encode(message) for message in history] == kept


@pytest.mark.parametrize("last", [UserMessage(""), UserMessage(" ", "\n"), UserMessage()])
async def test_providers_47_a_blank_last_user_message_is_refused(last: Message) -> None:
    """There is nothing to answer in a blank."""
    model, transport = answered()
    with pytest.raises(errors.LMInputError, match="blank"):
        await model([USER, AIMessage("x"), last])
    assert transport.requests == []


async def test_bug_075_prefill_loses_its_trailing_blanks_on_the_wire() -> None:
    """The beginning of an answer is sent without blanks at its end."""
    assert await wire(USER, AIMessage("a ", "The answer is: ")) == [
        said("user", "hi"),
        said("assistant", "a ", "The answer is:"),
    ]


async def test_bug_029_ids_of_another_alphabet_are_replaced_the_same_everywhere() -> None:
    """An id that the wire refuses is hashed, the same in call and result, and distinct ones stay distinct."""
    calls = AIMessage(ToolCall("fn:1", "f", {}), ToolCall("fn:2", "f", {}), ToolCall("ok_-9", "f", {}))
    shown = await wire(USER, calls, *(ToolMessage("x", call_id=id) for id in ("fn:1", "fn:2", "ok_-9")))
    ids = [block["id"] for block in shown[1]["content"]]
    assert ids == [block["tool_use_id"] for block in shown[2]["content"]]
    assert len(set(ids)) == 3
    assert ids[2] == "ok_-9"
    assert all(id.replace("_", "").isalnum() for id in ids[:2])


CONVERSATION = [
    SystemMessage("s"),
    USER,
    AIMessage(thought(SIGNED, SIGNED["thinking"]), "let me see ", ToolCall("t:1", "f", {"b": 1, "a": 2})),
    ToolMessage("r", call_id="t:1"),
    UserMessage("and?"),
    AIMessage(" "),
    AIMessage("paused "),
    AIMessage("done"),
    UserMessage("thanks"),
    SystemMessage("later"),
    UserMessage("bye"),
]


@pytest.mark.parametrize("length", [5, 9, 10])
async def test_providers_44_a_longer_conversation_begins_with_the_same_bytes(length: int) -> None:
    """What was sent before an answer is sent again byte for byte in every later request."""
    tools = [ToolDeclaration(name="f", description="d", input_schema={"type": "object", "b": 1, "a": 2})]
    short = json.dumps(await body(CONVERSATION[:length], tools=tools))
    long = json.dumps(await body(CONVERSATION, tools=tools))
    last = short.rindex('{"role": "assistant"')
    assert long.startswith(short[:last])
    assert '"r"' in short[:last] or length == 5


# Thoughts


async def test_bug_071_providers_34_thoughts_go_back_unchanged_also_after_storage() -> None:
    """Signed, redacted and server blocks stand byte for byte in their place before the call, stored or not."""
    blocks = [
        SIGNED,
        {"type": "redacted_thinking", "data": "b64=="},
        {"type": "server_tool_use", "id": "s", "input": {}},
    ]
    answer = AIMessage(*(thought(block) for block in blocks), ToolCall("t1", "f", {"x": 1}))
    restored = decode(json.loads(json.dumps(encode(answer))))
    for message in (answer, restored):
        shown = await wire(USER, message, RESULT)
        assert shown[1] == {"role": "assistant", "content": [*blocks, USE]}
        assert json.dumps(shown[1]["content"][0]) == json.dumps(SIGNED)


async def test_providers_34_what_was_decoded_is_what_is_encoded() -> None:
    """The blocks of an answer come back in the next request exactly as the server sent them."""
    first = (
        start() + thinking(0, "a  b\u2028c ", signature="EqQB+/==") + tool(1, "t1", "f", '{"x": 1}') + end("tool_use")
    )
    model, transport = answered(ok(first), ok())
    answer = await model("hi")
    await model([USER, answer, RESULT])
    assert sent(transport)["messages"] == [said("user", "hi"), {"role": "assistant", "content": [SIGNED, USE]}, DONE]


async def test_bug_072_providers_35_a_signature_without_text_goes_back_with_an_empty_text() -> None:
    """Withheld thinking is sent with the field that the wire requires; unsigned thinking is not sent."""
    first = start() + thinking(0, signature="SIG1") + tool(1, "t1", "f", '{"x":1}') + end("tool_use")
    model, transport = answered(ok(first), ok())
    await model([USER, await model("hi"), RESULT])
    assert sent(transport)["messages"][1]["content"][0] == {"type": "thinking", "thinking": "", "signature": "SIG1"}
    assert (await wire(USER, AIMessage(Thought("Let me"), ToolCall("t1", "f", {"x": 1})), RESULT))[1]["content"] == [
        USE
    ]


@pytest.mark.parametrize(
    "foreign", [thought(SIGNED, "x", host="other.test"), thought(SIGNED, "x", tag="gemini-part-v1"), Thought("x")]
)
async def test_providers_36_thoughts_of_elsewhere_stay_behind(foreign: Thought) -> None:
    """A thought of another host or wire is left out of the request, and nothing else is."""
    assert await wire(USER, AIMessage(foreign, "ok"), UserMessage("and?")) == [
        said("user", "hi"),
        said("assistant", "ok"),
        said("user", "and?"),
    ]


async def test_readable_thoughts_can_be_sent_as_text() -> None:
    """With `replays={"plain-text"}` thoughts of elsewhere are shown as marked text."""
    shown = await wire(USER, AIMessage(Thought("hm"), "ok"), UserMessage("?"), replays={"plain-text"})
    assert shown[1] == said("assistant", "<thought>hm</thought>", "ok")


async def test_a_compatible_server_gets_back_its_own_thoughts() -> None:
    """Thoughts belong to the host that made them."""
    url = "https://gateway.test/anthropic/v1"
    first = start() + thinking(0, "hm") + text(1, "x") + end()
    model, transport = answered(ok(first), ok(), base_url=url)
    await model([USER, await model("hi"), UserMessage("?")])
    assert sent(transport)["messages"][1]["content"][0]["type"] == "thinking"
    assert transport.requests[0].url == f"{url}/messages"


async def test_fields_of_a_call_go_back_on_it() -> None:
    """A payload for the part after it is merged into that call, and left out when the call is gone."""
    caller = {"caller": {"type": "code_execution", "tool_id": "s1"}}
    following = Thought(payload={"v": 1, "host": HOST, "model": "m", "next": caller}, replay_compatibility=REPLAY_TAG)
    assert (await wire(USER, AIMessage(following, ToolCall("t1", "f", {"x": 1})), RESULT))[1]["content"] == [
        {**USE, **caller}
    ]
    assert (await wire(USER, AIMessage(following, "x"), UserMessage("?")))[1] == said("assistant", "x")


async def test_dropped_thoughts_with_thinking_off_leave_all_payloads_out() -> None:
    """Where thinking is off there is no setting to drop them: no payload is sent."""
    bound = "bound to a different conversation"
    model, transport = answered(refused(400, message=bound), ok(), reasoning_effort="none")
    await model([USER, AIMessage(thought(SIGNED, "x"), "ok"), UserMessage("?")])
    assert sent(transport)["messages"][1] == said("assistant", "ok")
    assert sent(transport)["thinking"] == {"type": "disabled"}
    assert "anthropic-beta" not in transport.requests[1].headers


# Options


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"temperature": 0.0, "top_p": 0.5, "top_k": 3}, {"temperature": 0.0, "top_p": 0.5, "top_k": 3}),
        ({"service_tier": "auto"}, {"service_tier": "auto"}),
        ({"max_tokens": 9, "stop": "###"}, {"max_tokens": 9, "stop_sequences": ["###"]}),
        ({"max_tokens": 0}, {"max_tokens": 0}),
        ({"reasoning_effort": "high"}, {"output_config": {"effort": "high"}}),
        ({"reasoning_effort": "minimal"}, {"output_config": {"effort": "low"}}),
        ({"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
        ({"reasoning_effort": "none", "thoughts": True}, {"thinking": {"type": "disabled"}}),
        ({"max_thinking_tokens": 1024}, {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        ({"thoughts": True}, {"thinking": {"type": "adaptive", "display": "summarized"}}),
        (
            {"thoughts": True, "max_thinking_tokens": 2000},
            {"thinking": {"type": "enabled", "budget_tokens": 2000, "display": "summarized"}},
        ),
        ({"thoughts": False, "parallel_tool_calls": False}, {}),
        ({"extras": {"metadata": {"user_id": "u"}, "max_tokens": 7}}, {"metadata": {"user_id": "u"}, "max_tokens": 7}),
    ],
)
async def test_options_on_the_wire(options: dict[str, Any], fields: dict[str, Any]) -> None:
    """Each option has its place in the body, and only what was set is there."""
    bare = {"model": "claude-x", "max_tokens": 4096, "messages": [said("user", "hi")], "stream": True}
    assert await body("hi", **options) == bare | fields


@pytest.mark.parametrize(
    "options",
    [
        {"max_thinking_tokens": 1023},
        {"max_thinking_tokens": 4096},
        {"max_thinking_tokens": 2000, "max_tokens": 2000},
        {"max_thinking_tokens": 2000, "reasoning_effort": "none"},
        {"extras": {"model": "other"}},
        {"extras": {"messages": []}},
        {"extras": {"stream": False}},
    ],
)
async def test_options_that_cannot_be_sent_are_refused(options: dict[str, Any]) -> None:
    """A thinking budget outside its bounds, and extras over our own fields, fail before any request."""
    model, transport = answered()
    with pytest.raises(errors.LMInputError):
        await model("hi", **options)
    assert transport.requests == []


async def test_a_thinking_budget_is_left_out_where_the_wire_would_refuse_it() -> None:
    """In an open tool loop without thinking to send back, the budget form is not sent; afterwards it is again."""
    budget = {"max_thinking_tokens": 1024}
    assert "thinking" not in await body([USER, CALLED, RESULT], budget)
    signed = AIMessage(thought(SIGNED), *CALLED.parts)
    assert "thinking" in await body([USER, signed, RESULT], budget)
    assert "thinking" in await body([USER, CALLED, RESULT, AIMessage("x"), USER], budget)


LOOK = ToolDeclaration(name="look", description="Look.", input_schema={"$schema": "s", "type": "object", "x-y": 1})
NOW = ToolDeclaration(name="now", description="", input_schema={})


async def test_tools_go_as_declared() -> None:
    """Schemas are sent as they are, but for their `$schema`; a tool without parameters has an empty object."""
    shown = await body(
        "hi", tools=[LOOK, NOW], extras={"tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    )
    assert shown["tools"] == [
        {"name": "look", "description": "Look.", "input_schema": {"type": "object", "x-y": 1}},
        {"name": "now", "description": "", "input_schema": {"type": "object", "properties": {}}},
        {"type": "web_search_20250305", "name": "web_search"},
    ]


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ({}, None),
        ({"tool_choice": "auto"}, {"type": "auto"}),
        ({"tool_choice": "any"}, {"type": "any"}),
        ({"tool_choice": "none", "parallel_tool_calls": False}, {"type": "none"}),
        ({"tool_choice": "now"}, {"type": "tool", "name": "now"}),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            {"tool_choice": "any", "parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        ({"parallel_tool_calls": True}, None),
    ],
)
async def test_the_choice_of_tools(options: dict[str, Any], choice: dict[str, Any] | None) -> None:
    """Words and names for the choice of tools, and one call at a time."""
    assert (await body("hi", tools=[LOOK, NOW], **options)).get("tool_choice") == choice


async def test_a_schema_is_told_natively() -> None:
    """A wanted schema is the wire's output format, beside an effort."""
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}
    shown = await body("hi", schema=schema, reasoning_effort="low")
    told = {"a": {"type": "integer", "description": "(minimum: 1)"}}
    assert shown["output_config"] == {
        "effort": "low",
        "format": {
            "type": "json_schema",
            "schema": {"type": "object", "properties": told, "required": ["a"], "additionalProperties": False},
        },
    }


async def test_prompt_caching_is_a_mark() -> None:
    """The provider is asked to cache by one field, and only if that was asked for."""
    assert (await body("hi", {"prompt_caching": True}))["cache_control"] == {"type": "ephemeral"}


async def test_what_is_no_json_is_an_input_error() -> None:
    """A value that JSON has no form for fails as an input error that says where."""
    model, transport = answered()
    with pytest.raises(errors.LMInputError, match="cannot be written"):
        await model("hi", extras={"x": float("nan")})
    assert transport.requests == []


async def test_a_paused_turn_is_sent_again_as_it_is() -> None:
    """What a paused answer holds goes back unchanged, so that the provider can go on."""
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": 1}}
    paused = start() + text(0, "Looking ") + opened(1, **use) + closed(1) + end("pause_turn")
    model, transport = answered(ok(paused), ok())
    answer = await model("hi")
    await model([USER, answer])
    assert sent(transport)["messages"][1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Looking "}, use],
    }
    assert answer.parts[0] == Text("Looking ")


# Media and cache points


PICTURE = Image.from_bytes(PNG, "image/jpeg")
PICTURE_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": b64encode(PNG).decode()},
}


async def test_bug_093_images_and_documents_of_users() -> None:
    """In their place; bytes under the type that they are, addresses as they are."""
    file = PDF.from_bytes(b"%PDF-1.7")
    parts = ("See ", PICTURE, Image.from_uri("https://a/b.jpg"), file, PDF.from_uri("http://a/c.pdf"))
    assert await wire(UserMessage(*parts)) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See "},
                PICTURE_BLOCK,
                {"type": "image", "source": {"type": "url", "url": "https://a/b.jpg"}},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": file.base64},
                },
                {"type": "document", "source": {"type": "url", "url": "http://a/c.pdf"}},
            ],
        }
    ]


async def test_a_picture_alone_is_a_prompt() -> None:
    """A message without text is blank only if there is nothing else in it."""
    assert await wire(UserMessage(PICTURE)) == [{"role": "user", "content": [PICTURE_BLOCK]}]


async def test_media_in_results_of_tools() -> None:
    """Inside the result, between its texts; with an error too."""
    result = ToolMessage("Before ", PICTURE, " after", call_id="t1", is_error=True)
    said_by_tool = (await wire(USER, CALLED, result))[-1]["content"]
    blocks = [{"type": "text", "text": "Before "}, PICTURE_BLOCK, {"type": "text", "text": " after"}]
    assert said_by_tool == [{"type": "tool_result", "tool_use_id": "t1", "content": blocks, "is_error": True}]


async def test_a_picture_that_a_model_made_stays_behind() -> None:
    """The wire takes none in an answer."""
    answer = AIMessage("Here: ", Image.from_bytes(JPEG))
    assert await wire(USER, answer, USER) == [said("user", "hi"), said("assistant", "Here: "), said("user", "hi")]


@pytest.mark.parametrize(
    ("part", "missing"),
    [
        (Audio.from_bytes(WAV), "audio"),
        (Mime.from_bytes(b"a,b", "text/csv"), "mime"),
        (Image.from_uri("gs://bucket/a.png"), "gs: addresses"),
        (PDF.from_uri("file:///a.pdf"), "file: addresses"),
    ],
)
async def test_media_that_the_wire_does_not_have(part: Any, missing: str) -> None:
    """In a prompt refused before anything is sent; in a result a line says what was there."""
    model, transport = answered(ok())
    with pytest.raises(errors.UnsupportedCapabilityError) as caught:
        await model(UserMessage("hi", part))
    assert (caught.value.details, transport.requests) == ({"capability": missing}, [])
    await model([USER, CALLED, ToolMessage(part, call_id="t1")])
    content = sent(transport)["messages"][-1]["content"][0]["content"]
    assert content.startswith(f"[{part.type}: ")


EPHEMERAL = {"type": "ephemeral"}


async def test_a_cache_point_marks_the_block_before_it() -> None:
    """In instructions, in what a user says, and at a tool's result."""
    talk = [
        SystemMessage("Rules.", CachePoint("1h"), "More."),
        UserMessage("hi", PICTURE, CachePoint()),
        CALLED,
        ToolMessage("done", CachePoint("5m"), call_id="t1"),
    ]
    sent_body = await body(talk)
    assert sent_body["system"] == [
        {"type": "text", "text": "Rules.", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "text", "text": "More."},
    ]
    user, _, results = sent_body["messages"]
    assert user["content"] == [{"type": "text", "text": "hi"}, {**PICTURE_BLOCK, "cache_control": EPHEMERAL}]
    assert results["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": "done",
            "cache_control": {"type": "ephemeral", "ttl": "5m"},
        }
    ]


async def test_a_cache_point_at_the_beginning_marks_what_was_said_before() -> None:
    """The instructions, an answer's text or call; a thought takes no mark."""
    now = UserMessage(CachePoint(), "now")
    assert (await body([SystemMessage("Rules."), now]))["system"] == [
        {"type": "text", "text": "Rules.", "cache_control": EPHEMERAL}
    ]
    answer = AIMessage(thought(SIGNED), "Yes.")
    said_before = (await wire(USER, answer, now))[1]["content"]
    assert said_before == [SIGNED, {"type": "text", "text": "Yes.", "cache_control": EPHEMERAL}]
    assert (await wire(USER, AIMessage(thought(SIGNED)), now))[1]["content"] == [SIGNED]


@pytest.mark.parametrize(("prompt_caching", "left"), [(False, ["2", "3", "4", "5"]), (True, ["3", "4", "5"])])
async def test_the_newest_cache_points_are_sent(prompt_caching: bool, left: list[str]) -> None:
    """The wire takes four marks, and a conversation may gather more."""
    marked = [UserMessage(str(number), CachePoint()) for number in range(1, 6)]
    talk = [message for user in marked for message in (user, AIMessage("ok"))][:-1]
    messages = await wire(SystemMessage("s", CachePoint()), *talk, prompt_caching=prompt_caching)
    blocks = [block for message in messages for block in message["content"]]
    assert [block["text"] for block in blocks if "cache_control" in block] == left
    few = await wire(UserMessage("1", CachePoint()), prompt_caching=prompt_caching)
    assert few[0]["content"][0]["cache_control"] == EPHEMERAL
