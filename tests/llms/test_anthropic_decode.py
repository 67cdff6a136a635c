"""Messages answers, event by event."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web import errors
from langfx_web.errors import LMError
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.messages import AIMessage, Text, Thought, ToolCall
from langfx_web.usage import Usage
from tests.llms.messages_wire import (
    PING,
    answered,
    closed,
    delta,
    end,
    event,
    ok,
    opened,
    start,
    text,
    text_delta,
    thinking,
    tool,
)

ORIGIN = {"v": 1, "host": "api.anthropic.com", "model": "claude-x"}


async def decoded(body: bytes) -> AIMessage:
    """The message of a stream."""
    model, _ = answered(ok(body))
    return await model("hi")


async def failure(body: bytes) -> LMError:
    """The error of a stream."""
    with pytest.raises(LMError) as raised:
        await decoded(body)
    return raised.value


def signed(block: dict[str, Any], content: str = "") -> Thought:
    """A thought with a payload of ours."""
    return Thought(content, payload={**ORIGIN, "block": block}, replay_compatibility=REPLAY_TAG)


async def test_bug_022_providers_54_what_is_new_is_passed_over_or_kept() -> None:
    """Unknown events, blocks, deltas and stop words neither fail nor get lost, and are no text."""
    message = await decoded(
        start()
        + PING
        + event({"type": "brand_new_event", "x": 1})
        + opened(0, type="future_block", payload={"k": 1})
        + delta(0, type="future_delta", blob="zz")
        + closed(0)
        + text(1, "ok")
        + end("some_new_stop", 3)
    )
    assert message.parts == (signed({"type": "future_block", "payload": {"k": 1}}), Text("ok"))
    assert (message.finish_reason, message.raw_finish_reason) == ("other", "some_new_stop")
    assert message.usage is not None
    assert message.usage.output_tokens == 3


OPEN_TOOL = opened(0, type="tool_use", id="t1", name="f", input={})


@pytest.mark.parametrize(
    ("body", "index"),
    [
        (OPEN_TOOL + text_delta(0, "hello") + closed(0), "0"),
        (delta(3, type="text_delta", text="x"), "3"),
        (text(0, "x") + text(0, "y"), "0"),
        (closed(2), "2"),
        (text(0, "x") + text_delta(0, "late"), "0"),
        (text(0, "x") + start(), "0"),
        (opened(0, type="text", text="") + delta(0, type="thinking_delta", thinking="x"), "0"),
        (opened(1, type="redacted_thinking", data="x") + text_delta(1, "x"), "1"),
    ],
)
async def test_bug_023_providers_53_impossible_orders_are_protocol_errors(body: bytes, index: str) -> None:
    """A delta for a block that is not open or of another kind, or a block opened twice, names the block."""
    raised = await failure(start() + body + end("tool_use"))
    assert isinstance(raised, errors.LMProtocolError)
    assert index in str(raised)


async def test_bug_023_an_empty_delta_is_fine() -> None:
    """An empty piece of text shows nothing and harms nothing."""
    model, _ = answered(ok(start() + text(0, "", "y") + end()))
    assert [chunk.delta.text async for chunk in model.stream("hi") if not chunk.final] == ["y"]


@pytest.mark.parametrize("pieces", [(), ("",), ("{}",), ("", "")])
async def test_bug_024_providers_50_a_call_without_arguments(pieces: tuple[str, ...]) -> None:
    """No argument text, empty text and `{}` are all an empty object."""
    message = await decoded(start() + tool(0, "t1", "now", *pieces) + end("tool_use"))
    assert message.tool_calls == (ToolCall("t1", "now", {}),)


@pytest.mark.parametrize(
    ("calls", "ids"),
    [
        (tool(0, "t1", "write", '{"path":"a.txt","content":"li'), [None]),
        (tool(0, "t1", "write", '{"path":"a.txt"}'), [{"path": "a.txt"}]),
        (tool(0, "t0", "read", '{"path":"b"}') + tool(1, "t1", "write", '{"path":"a'), [{"path": "b"}, None]),
    ],
)
async def test_bug_027_no_call_of_an_answer_cut_by_the_limit_runs(calls: bytes, ids: list[Any]) -> None:
    """At the output limit the answer is an error; its calls are kept for the record, cut ones without arguments."""
    raised = await failure(start() + calls + end("max_tokens", 64))
    assert (type(raised), raised.retryable) == (errors.IncompleteGenerationError, False)
    assert (raised.finish_reason, raised.raw_finish_reason) == ("length", "max_tokens")
    assert [call.args for call in raised.partial.tool_calls] == ids


async def test_bug_029_two_calls_with_one_id_are_two_calls() -> None:
    """Both calls are there, with distinct ids."""
    body = start() + tool(0, "fn:1", "read", '{"p":"a"}') + tool(1, "fn:1", "read", '{"p":"b"}') + end("tool_use")
    message = await decoded(body)
    assert message.tool_calls == (ToolCall("fn:1", "read", {"p": "a"}), ToolCall("fn:1_2", "read", {"p": "b"}))


MIDDLE = event({"type": "message_delta", "delta": {"stop_reason": None}, "usage": {"output_tokens": 9}})
CACHED = {"cache_read_input_tokens": 128955, "cache_creation_input_tokens": 1253}


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        (start(25, 1) + text(0, "x") + end(output=15), (25, 15, 40, 0, 0, 25)),
        (start(10, 2) + MIDDLE + text(0, "x") + MIDDLE + end(output=12), (10, 12, 22, 0, 0, 10)),
        (start(0, 0) + text(0, "x") + end(output=7, input_tokens=31), (31, 7, 38, 0, 0, 31)),
        (start(5, 1, **CACHED) + text(0, "x") + end(output=10), (130213, 10, 130223, 128955, 1253, 5)),
        (
            start(9, 1, cache_read_input_tokens=1)
            + text(0, "x")
            + end(output=2, input_tokens=None, cache_read_input_tokens=None),
            (10, 2, 12, 1, 0, 9),
        ),
    ],
    ids=["last wins", "several deltas", "only at the end", "cached", "nulls keep the start"],
)
async def test_bug_050_bug_052_providers_60_usage(body: bytes, counts: tuple[int, ...]) -> None:
    """Reports replace one another, null changes nothing, and the input includes what was cached."""
    usage = (await decoded(body)).usage
    assert usage is not None
    assert usage == Usage(
        input_tokens=counts[0],
        output_tokens=counts[1],
        total_tokens=counts[2],
        cached_input_tokens=counts[3],
        cache_write_input_tokens=counts[4],
    )
    assert usage.uncached_input_tokens == counts[5]
    assert usage.raw is not None


async def test_bug_050_the_usage_of_a_cut_stream_is_a_lower_bound() -> None:
    """What a cut answer reported counts, marked as not all of it."""
    usage = (await failure(start(10, 2) + opened(0, type="text", text="") + text_delta(0, "par"))).usage
    assert (usage.input_tokens, usage.output_tokens, usage.lower_bound) == (10, 2, True)


async def test_reasoning_tokens_are_told_where_the_wire_has_them() -> None:
    """Thinking tokens are a part of the output that is known only if it is reported."""
    body = start() + text(0, "x") + end(output=9, output_tokens_details={"thinking_tokens": 4})
    usage = (await decoded(body)).usage
    assert usage is not None
    assert usage.reasoning_tokens == 4


async def test_bug_071_thinking_keeps_its_signature_and_every_character() -> None:
    """A signed block comes back byte for byte, before the call it led to."""
    body = start() + thinking(0, "a  b\u2028", "c ", signature="EqQB+/==") + tool(1, "t1", "f", "{}") + end("tool_use")
    block = {"type": "thinking", "thinking": "a  b\u2028c ", "signature": "EqQB+/=="}
    assert (await decoded(body)).parts == (signed(block, "a  b\u2028c "), ToolCall("t1", "f", {}))


async def test_bug_071_thinking_without_a_signature_is_only_readable() -> None:
    """A cut block, or one that was never signed, has nothing to send back."""
    cut = (
        start()
        + opened(0, type="thinking", thinking="", signature="")
        + delta(0, type="thinking_delta", thinking="Let")
    )
    assert (await failure(cut)).partial.parts == (Thought("Let"),)
    unsigned = await decoded(
        start() + thinking(0, "Let", signature=None) + thinking(1, "me", signature=None) + text(2, "x") + end()
    )
    assert unsigned.parts == (Thought("Let"), Thought("me"), Text("x"))


@pytest.mark.parametrize("begun", [{"thinking": "", "signature": ""}, {}])
async def test_bug_072_a_signature_without_text_is_a_thought(begun: dict[str, str]) -> None:
    """Thinking whose text is withheld keeps its signature, gets an empty text, and shows nothing."""
    body = (
        start()
        + opened(0, type="thinking", **begun)
        + delta(0, type="signature_delta", signature="SIG1")
        + closed(0)
        + tool(1, "t1", "f", "{}")
        + end("tool_use")
    )
    message = await decoded(body)
    assert message.thoughts == (signed({"type": "thinking", "thinking": "", "signature": "SIG1"}),)
    model, _ = answered(ok(body))
    assert not any([chunk.delta.thought async for chunk in model.stream("hi")])


async def test_bug_071_redacted_thinking_is_opaque() -> None:
    """A redacted block is kept whole and shows nothing."""
    message = await decoded(
        start() + opened(0, type="redacted_thinking", data="b64==") + closed(0) + text(1, "ok") + end()
    )
    assert message.parts == (signed({"type": "redacted_thinking", "data": "b64=="}), Text("ok"))


async def test_server_tools_are_opaque_and_in_place() -> None:
    """What the provider's own tools did stays as blocks between the texts, with what their deltas added."""
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "x"}]}
    message = await decoded(
        start()
        + text(0, "a")
        + opened(1, type="server_tool_use", id="s1", name="web_search", input={})
        + delta(1, type="input_json_delta", partial_json='{"query":')
        + delta(1, type="input_json_delta", partial_json='"q"}')
        + closed(1)
        + opened(2, **result)
        + closed(2)
        + text(3, "b")
        + end()
    )
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    assert message.parts == (Text("a"), signed(use), signed(result), Text("b"))
    assert message.finish_reason == "stop"


async def test_a_compaction_is_an_opaque_item() -> None:
    """What a conversation was condensed to goes back as it came."""
    message = await decoded(
        start()
        + opened(0, type="compaction", content=None)
        + delta(0, type="compaction_delta", content="short", encrypted_content="e")
        + closed(0)
        + end("compaction")
    )
    assert message.parts == (signed({"type": "compaction", "content": "short", "encrypted_content": "e"}),)
    assert message.finish_reason == "pause"


async def test_providers_59_a_pause_is_a_success() -> None:
    """A paused turn has what it did so far, to be sent again."""
    message = await decoded(
        start() + opened(0, type="server_tool_use", id="s", name="n", input={}) + closed(0) + end("pause_turn")
    )
    assert (message.finish_reason, message.raw_finish_reason) == ("pause", "pause_turn")


async def test_citations_are_kept_beside_the_text() -> None:
    """Citations are in the metadata, in order, and the text is one part per block."""
    body = (
        start()
        + opened(0, type="text", text="", citations=[])
        + delta(0, type="citations_delta", citation={"n": 1})
        + text_delta(0, "a")
        + delta(0, type="citations_delta", citation={"n": 2})
        + closed(0)
        + text(1, "b")
        + end()
    )
    message = await decoded(body)
    assert message.parts == (Text("a"), Text("b"))
    assert message.metadata["citations"] == [{"n": 1}, {"n": 2}]


async def test_an_answer_may_be_in_the_first_event() -> None:
    """Blocks and the stop word of `message_start` count: some streams have nothing else."""
    caller = {"type": "code_execution_20250825", "tool_id": "s1"}
    block = {"type": "tool_use", "id": "t1", "name": "roll", "input": {"sides": 6}, "caller": caller}
    whole = {"id": "m", "content": [block], "stop_reason": "tool_use", "usage": {"input_tokens": 0, "output_tokens": 0}}
    message = await decoded(event({"type": "message_start", "message": whole}) + event({"type": "message_stop"}))
    payload = {**ORIGIN, "next": {"caller": caller}}
    assert message.parts == (
        Thought(payload=payload, replay_compatibility=REPLAY_TAG),
        ToolCall("t1", "roll", {"sides": 6}),
    )
    assert message.finish_reason == "tool_calls"


async def test_a_second_beginning_before_any_block_is_harmless() -> None:
    """Some servers announce the message twice."""
    assert (await decoded(start() + start() + text(0, "x") + end())).text == "x"


async def test_providers_58_a_refusal_is_an_error_with_its_words() -> None:
    """A refusal keeps what was said before it, why, and what it cost."""
    details = {"type": "refusal", "category": "cyber", "explanation": "I will not."}
    change = {"stop_reason": "refusal", "stop_details": details}
    body = (
        start() + text(0, "Well, ") + event({"type": "message_delta", "delta": change, "usage": {"output_tokens": 5}})
    )
    raised = await failure(body + event({"type": "message_stop"}))
    assert isinstance(raised, errors.ContentFilteredError)
    assert (raised.refusal, raised.raw_finish_reason, raised.retryable) == ("I will not.", "refusal", False)
    assert (raised.partial.text, raised.partial.metadata["refusal"]) == ("Well, ", "I will not.")
    assert (raised.usage.output_tokens, raised.usage.lower_bound) == (5, False)


async def test_a_full_context_window_is_a_context_limit() -> None:
    """An answer that filled the window is another error than one that filled its own limit."""
    raised = await failure(start() + text(0, "x") + end("model_context_window_exceeded"))
    assert isinstance(raised, errors.ContextLimitError)
    assert (raised.finish_reason, raised.partial.text) == ("length", "x")


async def test_the_stop_sequence_is_told() -> None:
    """Which stop text ended the answer is in its metadata."""
    change = {"stop_reason": "stop_sequence", "stop_sequence": "###"}
    body = start() + text(0, "x") + event({"type": "message_delta", "delta": change, "usage": {}})
    message = await decoded(body + event({"type": "message_stop"}))
    assert (message.finish_reason, message.metadata["stop_sequence"]) == ("stop", "###")
