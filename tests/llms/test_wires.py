"""What holds on every wire, whatever its form: one reading, one way to fail, one way to go on."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.messages import AIMessage, Image, Thought, ToolDeclaration, ToolMessage, UserMessage
from langfx_web.transport import MockResponse, MockTransport, cut_every
from langfx_web.usage import Usage
from tests.llms import chat_wire, gemini_wire, messages_wire, responses_wire
from tests.llms.chat_wire import DONE, call, calls, chunk, data

OVERLOADED = {"message": "busy", "type": "overloaded_error", "code": 503, "status": "UNAVAILABLE"}


class Wire(NamedTuple):
    """A wire, and pieces of its answers."""

    kit: ModuleType
    begun: bytes
    """Text, and no end."""
    called: bytes
    """The beginning of a tool call, and no end."""
    thought: bytes
    """The beginning of reasoning, and no end."""
    whole_call: bytes
    """An answer that calls the tool `now` without arguments, and says that it simply stopped."""
    opening: bytes = b""
    """What comes before anything is said."""
    error: bytes = data({"error": OVERLOADED})
    """A failure inside a stream."""


WIRES = {
    "anthropic": Wire(
        messages_wire,
        messages_wire.start() + messages_wire.opened(0, type="text", text="") + messages_wire.text_delta(0, "Hel"),
        messages_wire.start()
        + messages_wire.opened(0, type="tool_use", id="t", name="now", input={})
        + messages_wire.delta(0, type="input_json_delta", partial_json='{"a"'),
        messages_wire.start()
        + messages_wire.opened(0, type="thinking", thinking="", signature="")
        + messages_wire.delta(0, type="thinking_delta", thinking="hm"),
        messages_wire.start() + messages_wire.tool(0, "t", "now", "") + messages_wire.end("end_turn"),
        messages_wire.start() + messages_wire.PING,
        messages_wire.error("overloaded_error", "busy"),
    ),
    "openai": Wire(
        responses_wire,
        responses_wire.created() + responses_wire.delta("output_text", 0, "Hel"),
        responses_wire.created()
        + responses_wire.added(0, **responses_wire.call(0, status="in_progress", name="now"))
        + responses_wire.delta("function_call_arguments", 0, '{"a"'),
        responses_wire.created() + responses_wire.delta("reasoning_text", 0, "hm", content_index=0),
        responses_wire.created() + responses_wire.end(responses_wire.call(0, name="now")),
        responses_wire.created(),
        responses_wire.event("error", error=OVERLOADED),
    ),
    "openai_chat": Wire(
        chat_wire,
        chat_wire.text("Hel"),
        calls(call(0, "t", "now", '{"a"')),
        chunk({"reasoning_content": "hm"}),
        calls(call(0, "t", "now", "")) + chat_wire.end("stop"),
        chunk({"role": "assistant", "content": ""}),
    ),
    "gemini": Wire(
        gemini_wire,
        gemini_wire.chunk(gemini_wire.text("Hel")),
        gemini_wire.chunk({"functionCall": {"name": "now", "willContinue": True}}),
        gemini_wire.chunk(gemini_wire.text("hm", thought=True)),
        gemini_wire.chunk(gemini_wire.call("now"), finish="STOP"),
    ),
}
each_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)


@each_wire
async def test_providers_02_a_call_is_the_fold_of_its_stream(wire: Wire) -> None:
    """Equal messages and usage, whole and byte by byte."""
    kit = wire.kit
    model, _ = kit.answered(kit.ok(), kit.ok(), kit.ok(*cut_every(kit.HELLO, 1)))
    called = await model("hi")
    for _ in range(2):
        last = [chunk async for chunk in model.stream("hi")][-1]
        assert (last.final, last.aggregated, last.usage) == (True, called, called.usage)
    assert called.text == "Hello"


@each_wire
@pytest.mark.parametrize("piece", ["begun", "called", "thought"])
async def test_bug_061_providers_13_nothing_is_sent_again_after_output(wire: Wire, piece: str) -> None:
    """Text, a tool call or a thought was seen: a loss or an early end is an error, with what had come."""
    shown = getattr(wire, piece)
    for broken, error in (
        ([shown, errors.TransportError("gone", code="body_broken")], errors.LMConnectionError),
        ([shown], errors.IncompleteGenerationError),
    ):
        model, transport = wire.kit.answered(wire.kit.ok(*broken), wire.kit.ok(), max_attempts=3)
        with pytest.raises(error) as raised:
            await model("hi")
        assert len(transport.requests) == 1
        assert raised.value.partial is not None
        assert not raised.value.partial.tool_calls or raised.value.partial.tool_calls[0].args is None


@each_wire
async def test_providers_57_a_cut_answer_is_asked_for_again_only_if_nothing_came(wire: Wire) -> None:
    """What comes before an answer is nothing yet."""
    model, transport = wire.kit.answered(wire.kit.ok(wire.opening), wire.kit.ok(), max_attempts=2)
    assert (await model("hi")).text == "Hello"
    assert len(transport.requests) == 2
    model, transport = wire.kit.answered(wire.kit.ok(wire.begun), wire.kit.ok(), max_attempts=2)
    with pytest.raises(errors.IncompleteGenerationError) as raised:
        await model("hi")
    assert raised.value.partial.text == "Hel"
    assert (len(transport.requests), raised.value.retryable) == (1, False)


@each_wire
async def test_a_piece_that_is_no_text_breaks_the_wire(wire: Wire) -> None:
    """A number where words belong is the provider's fault, told like every other, with what had come before it."""
    model, _ = wire.kit.answered(wire.kit.ok(wire.begun + wire.begun.replace(b'"Hel"', b"5")), max_attempts=1)
    with pytest.raises(errors.LMProtocolError) as raised:
        await model("hi")
    assert raised.value.partial is not None
    assert raised.value.partial.text == "Hel"


@each_wire
async def test_bug_011_providers_55_an_overload_inside_a_stream(wire: Wire) -> None:
    """As the first event it is worth another attempt, with or without the event's name; after text it is not."""
    bare = wire.error[wire.error.index(b"data:") :]
    for failure in (wire.error, wire.opening + wire.error, bare):
        model, transport = wire.kit.answered(wire.kit.ok(failure), wire.kit.ok(), max_attempts=2)
        assert (await model("hi")).text == "Hello"
        assert len(transport.requests) == 2
    model, transport = wire.kit.answered(wire.kit.ok(wire.begun + wire.error), wire.kit.ok(), max_attempts=2)
    with pytest.raises(errors.TemporaryLMError) as raised:
        await model("hi")
    assert raised.value.partial.text == "Hel"
    assert len(transport.requests) == 1


@each_wire
async def test_providers_56_no_credit_left_is_not_tried_again(wire: Wire) -> None:
    """Though it comes inside a successful stream."""
    failure = data({"error": {"code": "insufficient_quota", "type": "insufficient_quota", "message": "pay"}})
    model, transport = wire.kit.answered(wire.kit.ok(wire.opening + failure), wire.kit.ok(), max_attempts=3)
    with pytest.raises(errors.QuotaExceededError):
        await model("hi")
    assert len(transport.requests) == 1


@each_wire
async def test_bug_019_bug_024_providers_50_calls_decide_and_need_no_arguments(wire: Wire) -> None:
    """A tool without parameters runs once, whatever the finish reason says, and its call goes back with an object."""
    ran = []

    @lf.tool
    def now() -> str:
        """Tell the time."""
        ran.append(1)
        return "noon"

    model, transport = wire.kit.answered(wire.kit.ok(wire.whole_call), wire.kit.ok())
    answer = await lf.Agent(lm=model, tools=[now]).invoke(prompt="what time is it?")
    assert (answer, ran, len(transport.requests)) == ("Hello", [1], 2)
    written = json.dumps(wire.kit.sent(transport))
    assert '"arguments": "{}"' in written or '"input": {}' in written or '"args": {}' in written


@each_wire
async def test_bug_093_providers_48_pictures_are_what_their_bytes_are(wire: Wire) -> None:
    """A PNG that is called a JPEG is sent as a PNG; what is no picture, empty or too large is refused unsent."""
    png = b"\x89PNG\r\n\x1a\n"
    model, transport = wire.kit.answered(wire.kit.ok())
    await model(UserMessage("look", Image.from_bytes(png, "image/jpg")))
    written = json.dumps(wire.kit.sent(transport))
    assert "image/png" in written
    assert "jpg" not in written
    with pytest.raises(errors.ImageError) as raised:
        await model(UserMessage("look", Image.from_bytes(png + bytes(3_932_161 - len(png)))))
    assert raised.value.code == "image_too_large"
    for wrong in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", b""):
        with pytest.raises(errors.ImageError):
            Image.from_bytes(wrong)
    assert len(transport.requests) == 1


@each_wire
async def test_providers_46_an_unanswered_call_is_refused_unsent(wire: Wire) -> None:
    """Before a user message, and at the end."""
    kit = wire.kit
    model, transport = kit.answered(kit.ok(wire.whole_call))
    made = await model("hi")
    for messages in ([UserMessage("hi"), made, UserMessage("go")], [UserMessage("hi"), made]):
        with pytest.raises(errors.LMInputError, match="without a result"):
            await model(messages)
    assert len(transport.requests) == 1


@each_wire
async def test_providers_24_options_of_a_call_count_for_the_call(wire: Wire) -> None:
    """They override the model's, field by field; None removes one, and the model stays as it is."""
    kit = wire.kit
    model, transport = kit.answered(kit.ok(), kit.ok(), kit.ok(), temperature=0.1, top_p=0.2)
    for options in ({"temperature": 0.9}, {"temperature": None}, {}):
        await model("hi", **options)
    seen = [kit.sent(transport, place) for place in range(3)]
    seen = [{**body, **body.get("generationConfig", {})} for body in seen]
    assert [body.get("temperature") for body in seen] == [0.9, None, 0.1]
    assert [body.get("top_p") or body.get("topP") for body in seen] == [0.2] * 3


@each_wire
async def test_bug_029_providers_52_ids_are_distinct_and_consistent(wire: Wire) -> None:
    """What a call is named in an answer, it and its result are named in the next request."""
    kit = wire.kit
    model, transport = kit.answered(kit.ok(wire.whole_call), kit.ok(wire.whole_call), kit.ok())
    first, again = await model("hi"), await model("hi")
    assert first.tool_calls[0].id == again.tool_calls[0].id
    await model([UserMessage("hi"), first, ToolMessage("noon", call_id=first.tool_calls[0].id)])
    written = json.dumps(kit.sent(transport))
    id = first.tool_calls[0].id
    assert written.count(f'"{id}"') == (0 if id.startswith("lf_") else 2)


THOUGHTS = {
    "anthropic": ("anthropic-messages-thinking-v1", {"type": "thinking", "thinking": "hm", "signature": "S=="}),
    "openai": ("openai-responses-reasoning-item-v1", {"type": "reasoning", "id": "r", "encrypted_content": "S=="}),
    "openai_chat": ("openai-chat-reasoning-v1", {"reasoning_details": [{"type": "reasoning.text", "data": "S=="}]}),
    "gemini": ("gemini-part-v1", {"text": "", "thoughtSignature": "S=="}),
}


@pytest.mark.parametrize("name", WIRES)
async def test_providers_43_rejected_thoughts_are_left_out_once(name: str) -> None:
    """A 400 about them is answered by one more request: Claude may drop them itself, others get none. Not a third."""
    kit, (tag, block) = WIRES[name].kit, THOUGHTS[name]
    model, transport = kit.answered(refusal(), kit.ok(), refusal(), refusal())
    payload = {"v": 1, "host": model.host, "model": model.model, "block": block}
    history = [UserMessage("hi"), AIMessage(Thought(payload=payload, replay_compatibility=tag), "x"), UserMessage("go")]
    answer = await model(history)
    assert answer.metadata["thoughts_dropped"] is True
    first, second = (json.dumps(kit.sent(transport, place)) for place in range(2))
    assert '"S=="' in first
    assert ("drop_block" in second) if name == "anthropic" else ('"S=="' not in second)
    with pytest.raises(errors.LMInputError):
        await model(history)
    assert len(transport.requests) == 4


def refusal() -> MockResponse:
    """What a provider says to a thought that is not as it was."""
    body = {"error": {"type": "invalid_request_error", "code": 400, "message": "Invalid `signature` in a thought"}}
    return MockResponse(status=400, body=json.dumps(body).encode())


@each_wire
async def test_a_model_without_a_name_can_only_list_others(wire: Wire) -> None:
    """It is told before anything is sent."""
    model, transport = wire.kit.answered()
    with pytest.raises(errors.LMInputError, match="name"):
        await model.with_options(model="")("hi")
    assert not transport.requests


# Chat Completions, in all the ways that servers have of it


async def read(body: bytes) -> AIMessage:
    """The message that a stream is read as."""
    model, _ = chat_wire.answered(chat_wire.ok(body))
    return await model("hi")


def made(message: AIMessage) -> list[tuple[str, Any]]:
    """The names and arguments of a message's calls."""
    return [(called.name, called.args) for called in message.tool_calls]


async def test_bug_012_chunks_without_choices_or_delta() -> None:
    """Azure's filter results come in chunks that hold nothing else; an empty id takes none away."""
    results = {"hate": {"filtered": False, "severity": "safe"}}
    empty = {"id": "", "object": "", "created": 0, "model": ""}
    body = (
        data({**empty, "choices": [], "prompt_filter_results": [{"content_filter_results": results}]})
        + chunk({"role": "assistant", "content": None})
        + chunk({"content": "hi"})
        + chunk(None)
        + data({**empty, "choices": [{"index": 0, "finish_reason": None, "content_filter_results": results}]})
        + data({**empty, "choices": None})
        + chunk({}, "stop")
        + DONE
    )
    message = await read(body)
    assert (message.text, message.finish_reason, message.response_id) == ("hi", "stop", "c1")
    with pytest.raises(errors.ContentFilteredError) as raised:
        await read(chunk({"content": "hal"}) + chunk({}, "content_filter") + DONE)
    assert raised.value.partial.text == "hal"


async def test_bug_019_the_word_for_calls_without_a_call_is_a_stop() -> None:
    """The reverse lie."""
    message = await read(chunk({"content": "hi"}) + chunk({}, "tool_calls") + DONE)
    assert (message.finish_reason, message.raw_finish_reason) == ("stop", "tool_calls")


@pytest.mark.parametrize("arguments", ["", "  \n", None, "null", "{}", {}])
async def test_bug_024_no_arguments_are_an_empty_object(arguments: Any) -> None:
    """Empty, blank, null or absent."""
    for fragment in (call(0, "c1", "now", arguments), {"index": 0, "id": "c1", "function": {"name": "now"}}):
        assert made(await read(calls(fragment) + chat_wire.end("tool_calls"))) == [("now", {})]
    nulled = {"index": 0, "id": "c1", "function": {"name": "now", "arguments": None}}
    assert made(await read(calls(nulled) + chat_wire.end("tool_calls"))) == [("now", {})]


async def test_bug_025_arguments_may_be_encoded_twice() -> None:
    """A text that holds an object is read once more, never further."""
    assert made(await read(calls(call(0, "c", "f", '"{\\"a\\":1}"')) + chat_wire.end())) == [("f", {"a": 1})]


async def test_bug_027_providers_51_a_cut_call_never_runs() -> None:
    """After the output limit the answer is incomplete; under any other word the arguments are no arguments."""
    cut = calls(call(0, "c1", "write", '{"path":"a.txt","content":"li'))
    with pytest.raises(errors.IncompleteGenerationError) as raised:
        await read(cut + chat_wire.end("length"))
    assert made(raised.value.partial) == [("write", None)]
    (lie,) = (await read(cut + chat_wire.end("tool_calls"))).tool_calls
    assert (lie.args, lie.raw_args) == (None, '{"path":"a.txt","content":"li')


SAME = calls(call(0, "a", "read", '{"p":"a"}')) + calls(call(0, "b", "read", '{"p":"b"}'))
FRAGMENTS = (
    calls(call(0, "a", "read", ""))
    + calls(call(0, "a", None, '{"p":'))
    + calls(call(0, None, None, '"a"}'))
    + calls(call(0, "b", "read", '{"p":'))
    + calls(call(0, None, None, '"b"}'))
)
NO_INDEX = calls(call(None, "a", "read", '{"p":"a"}'), call(None, "b", "list", "{}"))
NO_ID = calls(call(0, None, "read", '{"p":"a"}')) + calls(call(0, None, "list", "{}"))


@pytest.mark.parametrize("body", [SAME, FRAGMENTS, NO_INDEX, NO_ID], ids=["same", "fragments", "no index", "no id"])
async def test_bug_031_parallel_calls_under_one_index_are_several(body: bytes) -> None:
    """Another id begins another call, and so does a new name after whole arguments; nothing is joined."""
    message = await read(body + chat_wire.end("tool_calls"))
    second = ("read", {"p": "b"}) if body in (SAME, FRAGMENTS) else ("list", {})
    assert made(message) == [("read", {"p": "a"}), second]
    assert len({called.id for called in message.tool_calls}) == 2
    assert message == await read(body + chat_wire.end("tool_calls"))


async def test_bug_035_a_call_with_a_higher_index_may_come_first() -> None:
    """The message lists them by index."""
    body = calls(call(1, "b", "g", "{}")) + calls(call(0, "a", "f", "{}")) + chat_wire.end("tool_calls")
    assert [called.id for called in (await read(body)).tool_calls] == ["a", "b"]


async def test_bug_029_two_calls_with_one_id_are_two() -> None:
    """With two ids, in order, in the next request too."""
    body = calls(call(0, "x", "read", '{"p":"a"}')) + calls(call(1, "x", "read", '{"p":"b"}')) + chat_wire.end()
    message = await read(body)
    assert [(called.id, called.args) for called in message.tool_calls] == [("x", {"p": "a"}), ("x_2", {"p": "b"})]
    model, transport = chat_wire.answered(chat_wire.ok())
    results = [ToolMessage(called.args["p"], call_id=called.id) for called in message.tool_calls if called.args]
    await model([UserMessage("hi"), message, *results])
    sent = chat_wire.sent(transport)["messages"]
    assert [(result["tool_call_id"], result["content"]) for result in sent[2:]] == [("x", "a"), ("x_2", "b")]


async def test_bug_052_providers_60_more_cached_than_sent_is_nothing_uncached() -> None:
    """Servers disagree on what they count; what is left is never negative."""
    counts = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 12}}
    usage = (await read(chunk({"content": "a"}, usage=counts) + chat_wire.end())).usage
    assert isinstance(usage, Usage)
    assert (usage.cached_input_tokens, usage.uncached_input_tokens) == (12, 0)


@pytest.mark.parametrize("wire", ["Anthropic", "OpenAI", "OpenAIChat", "Gemini"])
@pytest.mark.parametrize(
    "options",
    [
        {"schema": {"type": "object", "properties": {"a": {"anyOf": 7}}}},
        {"tools": [ToolDeclaration(name="f", description="", input_schema=7)]},  # type: ignore[arg-type]  # as it says
    ],
)
async def test_what_is_malformed_inside_is_an_input_error(wire: str, options: dict[str, Any]) -> None:
    """Nothing is sent, with a cache and without, and the first fault is the cause."""
    for cache in (None, lf.llms.InMemoryCache()):
        transport = MockTransport([])
        with pytest.raises(errors.LMInputError):
            await getattr(lf.llms, wire)("m", transport=transport, cache=cache)("hi", **options)
        assert transport.requests == []


async def test_a_damaged_thought_is_an_input_error() -> None:
    """One whose payload holds something else than its wire has put there."""
    payload = {"v": 1, "host": "api.anthropic.com", "model": "m", "block": 7}
    thought = Thought("hm", payload=payload, replay_compatibility="anthropic-messages-thinking-v1")
    transport = MockTransport([])
    with pytest.raises(errors.LMInputError, match="the request cannot be written"):
        await lf.llms.Anthropic("m", transport=transport)([UserMessage("a"), AIMessage(thought, "b"), UserMessage("c")])
    assert transport.requests == []
