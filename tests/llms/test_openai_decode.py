"""Responses answers, in the shapes that servers send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.messages import AIMessage, Text, Thought, ToolCall
from langfx_web.transport import cut_every
from tests.llms.responses_wire import (
    added,
    answered,
    call,
    created,
    delta,
    done,
    end,
    event,
    message,
    ok,
    said,
)

ORIGIN = {"v": 1, "host": "api.openai.com", "model": "gpt-x"}


async def read(*body: bytes, **settings: Any) -> AIMessage:
    """The message that these bytes are read as, whole and cut into single bytes."""
    model, _ = answered(ok(*body), ok(*cut_every(b"".join(body), 1)), **settings)
    answer = await model("hi")
    assert await model("hi") == answer
    return answer


def document(*output: dict[str, Any], **fields: Any) -> bytes:
    """A whole response."""
    return json.dumps({"id": "r1", "model": "m-1", "status": "completed", "output": list(output), **fields}).encode()


async def test_text_comes_as_it_is_sent() -> None:
    """Its id and status are kept before it, for sending it back; usage comes with the end."""
    answer = await read(created(), said("Hi"), end(message("Hi")))
    thought, text = answer.parts
    assert isinstance(thought, Thought)
    assert (thought.content, text) == ("", Text("Hi"))
    assert thought.payload == {**ORIGIN, "next": {"id": "msg_1", "status": "completed"}}
    assert (answer.finish_reason, answer.raw_finish_reason, answer.response_id) == ("stop", "completed", "r1")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.cached_input_tokens, answer.usage.reasoning_tokens) == (7, 2, 5)


async def test_a_document_is_read_like_a_stream() -> None:
    """The same items make the same message."""
    streamed = await read(created(), said("Hi"), end(message("Hi")))
    assert (await read(document(message("Hi")))).parts == streamed.parts


async def test_later_forms_add_what_is_missing_and_cannot_contradict() -> None:
    """Text that only the end has comes as a last piece; other text is a protocol error."""
    assert (await read(created(), said("He"), end(message("Hello")))).text == "Hello"
    assert (await read(created(), done(0, **message("Hi")), end())).text == "Hi"
    assert (await read(created(), end(message("Hi")))).text == "Hi"
    with pytest.raises(errors.LMProtocolError, match="item 0"):
        await read(created(), said("He"), end(message("Other")))


async def test_fewer_items_at_the_end_than_came_do_not_count() -> None:
    """What was finished stays."""
    body = created() + said("Hi") + done(1, type="mcp_list_tools", id="x") + end(message("Other"))
    assert (await read(body)).text == "Hi"


async def test_pieces_before_anything_opened_open_a_message() -> None:
    """Some servers announce no items."""
    assert (await read(created(), delta("output_text", 0, "Hi"), end())).text == "Hi"


async def test_bug_016_parallel_calls_are_told_apart_by_their_place() -> None:
    """Whatever ids the events carry; results go to `call_id`."""
    body = (
        created()
        + added(0, **call(0, status="in_progress"))
        + added(1, **call(1, status="in_progress"))
        + delta("function_call_arguments", 0, '{"a":', item_id=7)
        + delta("function_call_arguments", 1, '{"a":2', item_id=8)
        + delta("function_call_arguments", 0, "1}")
        + delta("function_call_arguments", 1, "}")
        + done(0, **call(0, '{"a":1}'))
        + done(1, **call(1, '{"a":2}'))
        + end(call(0, '{"a":1}'), call(1, '{"a":2}'))
    )
    answer = await read(body)
    assert [(made.id, made.args) for made in answer.tool_calls] == [("call_0", {"a": 1}), ("call_1", {"a": 2})]
    assert answer.finish_reason == "tool_calls"


async def test_a_call_may_come_whole() -> None:
    """Announced with its arguments, or only at the end; empty ones are an empty object."""
    assert (await read(created(), done(0, **call(0, '{"a":1}')), end())).tool_calls[0].args == {"a": 1}
    assert (await read(created(), end(call(0)))).tool_calls[0].args == {}
    with pytest.raises(errors.LMProtocolError, match="item 3"):
        await read(created(), delta("function_call_arguments", 3, "{"))


async def test_reasoning_is_kept_as_it_was_finished() -> None:
    """Its summary is readable; the item of `output_item.done` is what goes back."""
    item = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "A"}]}
    body = (
        created()
        + added(0, **item, encrypted_content="early")
        + delta("reasoning_summary_text", 0, "A", summary_index=0)
        + delta("reasoning_summary_text", 0, "B", summary_index=1)
        + done(0, **item, encrypted_content="late")
        + added(1, **call(0, status="in_progress"))
        + done(1, **call(0, "{}"))
        + end(item | {"encrypted_content": "last"}, call(0, "{}"))
    )
    thought, beside, made = (await read(body)).parts
    assert isinstance(thought, Thought)
    assert isinstance(beside, Thought)
    assert isinstance(made, ToolCall)
    assert thought.content == "A\n\nB"
    assert thought.payload == {**ORIGIN, "block": {**item, "encrypted_content": "late"}}
    assert beside.payload["next"] == {"id": "fc_0", "status": "completed"}


async def test_reasoning_that_is_finished_late_stands_where_it_was_said() -> None:
    """OpenRouter closes it only after the message."""
    content = [{"type": "reasoning_text", "text": "hm"}]
    body = (
        created()
        + added(0, type="reasoning", id="rs_1", summary=[])
        + delta("reasoning_text", 0, "hm", content_index=0)
        + added(1, type="message", content=[])
        + delta("output_text", 1, "x", content_index=0)
        + done(0, type="reasoning", id="rs_1", summary=[], content=content)
        + end({"type": "reasoning", "id": "other", "summary": [], "content": content}, message("x"))
    )
    thought, text = (await read(body)).parts
    assert isinstance(thought, Thought)
    assert (thought.content, text) == ("hm", Text("x"))
    assert thought.payload["block"] == {"type": "reasoning", "id": "rs_1", "summary": [], "content": content}


async def test_other_items_are_kept_opaque() -> None:
    """A server's own tools are nobody's call, and an answer of them is not empty."""
    item = {"type": "web_search_call", "id": "ws_1", "action": {"q": 1}}
    answer = await read(created(), added(0, type="web_search_call", id="ws_1"), done(0, **item), end(item))
    assert [thought.payload["block"] for thought in answer.thoughts] == [item]
    assert (answer.finish_reason, answer.tool_calls) == ("stop", ())


async def test_citations_and_probabilities_are_kept() -> None:
    """From the message's final form."""
    content = [{"type": "output_text", "text": "x", "annotations": [{"n": 1}], "logprobs": [{"token": "x"}]}]
    answer = await read(document(message("x", content=content)))
    assert (answer.metadata["citations"], answer.metadata["logprobs"]) == ([{"n": 1}], [{"token": "x"}])


@pytest.mark.parametrize(
    ("status", "reason", "error"),
    [
        ("incomplete", "max_output_tokens", errors.IncompleteGenerationError),
        ("incomplete", "content_filter", errors.ContentFilteredError),
        ("cancelled", None, errors.IncompleteGenerationError),
    ],
)
async def test_bug_020_endings_that_are_failures(status: str, reason: str | None, error: type[errors.LMError]) -> None:
    """The same object means the same, streamed or not; usage is kept."""
    details = {"incomplete_details": {"reason": reason}} if reason else {}
    last = event(
        "response.incomplete", response=json.loads(document(status=status, usage={"input_tokens": 7}, **details))
    )
    for body in (created() + last, document(status=status, usage={"input_tokens": 7}, **details)):
        with pytest.raises(error) as raised:
            await read(body)
        assert raised.value.raw_finish_reason == (reason or status)
        assert raised.value.usage is not None
        assert raised.value.usage.input_tokens == 7


async def test_bug_020_a_failed_response_is_classified_by_its_code() -> None:
    """Also without one."""
    for error, wanted in (
        ({"code": "server_error", "message": "boom"}, errors.TemporaryLMError),
        ({"code": "rate_limit_exceeded", "message": "slow"}, errors.RateLimitError),
        (None, errors.LMError),
    ):
        with pytest.raises(wanted) as raised:
            await read(created(), end(status="failed", error=error))
        assert type(raised.value) is wanted


async def test_providers_58_a_refusal_is_filtered_content() -> None:
    """Streamed or only at the end, though the response counts as completed."""
    refused = message("", content=[{"type": "refusal", "refusal": "I cannot"}])
    streamed = added(0, type="message", content=[]) + delta("refusal", 0, "I can") + done(0, **refused)
    for body in (created() + streamed + end(refused), document(refused)):
        with pytest.raises(errors.ContentFilteredError) as raised:
            await read(body)
        assert raised.value.refusal == "I cannot"


async def test_without_its_last_event_an_answer_is_cut() -> None:
    """Whatever had been finished; `[DONE]` changes nothing."""
    with pytest.raises(errors.IncompleteGenerationError) as raised:
        await read(created(), said("Hi"), b"data: [DONE]\n\n")
    assert raised.value.partial.text == "Hi"


async def test_unknown_events_say_nothing() -> None:
    """New ones, and padding."""
    assert (await read(created(), event("keepalive"), said("Hi"), event("response.new.thing"), end())).text == "Hi"


async def test_a_document_that_is_no_response_is_a_protocol_error() -> None:
    """An object without output says nothing."""
    with pytest.raises(errors.LMProtocolError, match="output"):
        await read(b'{"object":"list"}')
