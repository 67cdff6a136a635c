"""Gemini answers, in the shapes that servers send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.messages import AIMessage, Image, Mime, Text, Thought, ToolCall
from langfx_web.transport import MockResponse, cut_every
from tests.llms.gemini_wire import USAGE, answered, call, chunk, data, ok, response, text

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
ORIGIN = {"v": 1, "host": "generativelanguage.googleapis.com", "model": "gemini-x"}


async def read(*body: bytes, **settings: Any) -> AIMessage:
    """The message that these bytes are read as, whole and cut into single bytes."""
    model, _ = answered(ok(*body), ok(*cut_every(b"".join(body), 1)), **settings)
    message = await model("hi")
    assert await model("hi") == message
    return message


def kept(message: AIMessage) -> list[dict[str, Any]]:
    """What goes back of the thoughts."""
    return [{key: value for key, value in thought.payload.items() if key not in ORIGIN} for thought in message.thoughts]


async def test_text_comes_as_it_is_sent() -> None:
    """An answer ends with its body, if a finish reason came; usage comes with each piece, and the last counts."""
    body = chunk(text("He"), usageMetadata={"promptTokenCount": 5}) + chunk(
        text("llo"), usageMetadata=USAGE, finish="STOP"
    )
    message = await read(body)
    assert message.parts == (Text("Hello"),)
    assert (message.response_id, message.model, message.raw_finish_reason) == ("r1", "m-1", "STOP")
    assert message.usage is not None
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.reasoning_tokens) == (5, 11, 20, 2)


async def test_a_count_that_is_no_number_does_not_end_an_answer() -> None:
    """What it cost is unknown then; what it says stands."""
    counts = {"candidatesTokenCount": "many", "thoughtsTokenCount": 3}
    message = await read(chunk(text("Hello"), usageMetadata=counts, finish="STOP"))
    assert (message.text, message.usage and message.usage.output_tokens) == ("Hello", 3)


async def test_documents_and_arrays_are_read_like_streams() -> None:
    """The same responses make the same message."""
    pieces = [response(text("He")), response(text("llo"), finish="STOP")]
    streamed = await read(*map(data, pieces))
    assert await read(json.dumps(pieces).encode()) == streamed
    assert await read(json.dumps(response(text("Hello"), finish="STOP")).encode()) == streamed


async def test_without_a_finish_reason_an_answer_is_cut() -> None:
    """What came is the error's."""
    with pytest.raises(errors.IncompleteGenerationError) as raised:
        await read(chunk(text("He")))
    assert raised.value.partial.text == "He"


async def test_thoughts_and_signatures_keep_their_places() -> None:
    """Each part that is signed stays one of its own, an empty one too."""
    message = await read(
        chunk(text("th", thought=True)),
        chunk(text("ink", thought=True)),
        chunk(call("w", {"c": "Rome"}, thoughtSignature="U0lHMQ=="), call("w", {"c": "Oslo"})),
        chunk(text("a"), text("b", thoughtSignature="U0lHMg=="), text("c"), text("", thoughtSignature="U0lHMw==")),
        chunk(finish="STOP"),
    )
    shown = [part for part in message.parts if not isinstance(part, Thought)]
    assert [part.args if isinstance(part, ToolCall) else part for part in shown] == [
        {"c": "Rome"},
        {"c": "Oslo"},
        Text("a"),
        Text("b"),
        Text("c"),
    ]
    assert message.thoughts[0].content == "think"
    assert kept(message) == [
        {"block": {"text": "think", "thought": True}},
        {"next": {"thoughtSignature": "U0lHMQ=="}},
        {"next": {"thoughtSignature": "U0lHMg=="}},
        {"block": {"text": "", "thoughtSignature": "U0lHMw=="}},
    ]
    assert [part.type for part in message.parts] == [
        *("thought", "thought", "tool_call", "tool_call"),
        *("text", "thought", "text", "text", "thought"),
    ]


async def test_bug_032_two_equal_calls_are_two() -> None:
    """With ids of their own where the server has none, the same for the same bytes."""
    body = chunk(call("roll", {"sides": 6})) + chunk(call("roll", {"sides": 6}), call("roll"), finish="STOP")
    message = await read(body)
    assert [made.args for made in message.tool_calls] == [{"sides": 6}, {"sides": 6}, {}]
    assert len({made.id for made in message.tool_calls}) == 3
    assert message.finish_reason == "tool_calls"
    own = await read(chunk(call("roll", id="g1"), call("roll", id="g2"), finish="STOP"))
    assert [made.id for made in own.tool_calls] == ["g1", "g2"]


def partial(path: str, **value: Any) -> dict[str, Any]:
    """A piece of a call's arguments."""
    return {"functionCall": {"partialArgs": [{"jsonPath": path, **value}], "willContinue": True}}


OPEN = {"functionCall": {"name": "f", "willContinue": True}}


async def test_arguments_may_come_value_by_value() -> None:
    """Strings of one path join; an empty call or a last piece closes, and so does the next call or the end."""
    body = (
        chunk(OPEN)
        + chunk(partial("$.a[0].b", stringValue="x", willContinue=True))
        + chunk(partial("$.a[0].b", stringValue="y"), partial("$.a[1]", numberValue=2), partial("$.c", boolValue=False))
        + chunk(partial("$['d e']", nullValue=None), {"functionCall": {}})
        + chunk(OPEN, call("g"), OPEN, partial("$.z", numberValue=1), finish="STOP")
    )
    assert [made.args for made in (await read(body)).tool_calls] == [
        {"a": [{"b": "xy"}, 2], "c": False, "d e": None},
        {},
        {},
        {"z": 1},
    ]


@pytest.mark.parametrize("path", ["$", "a", "$.a[5]", "$[0]", "$.a[99999999999]", "$.b.c", "$.a" * 300])
async def test_a_path_that_leads_nowhere_is_a_protocol_error(path: str) -> None:
    """Nothing is made up in between, and nothing grows without bound."""
    body = chunk(OPEN) + chunk(partial("$.b", stringValue="x"), partial(path, numberValue=1)) + chunk(finish="STOP")
    with pytest.raises(errors.LMProtocolError):
        await read(body)


async def test_parts_that_a_server_ran_are_kept_opaque() -> None:
    """Code, tools and what is yet unknown; an answer of them is not empty."""
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    new = {"brandNew": {"k": 1}}
    assert kept(await read(chunk(code, new, finish="STOP"))) == [{"block": code}, {"block": new}]


async def test_media_are_parts_of_the_answer() -> None:
    """Pictures, sounds and other files that a model made."""
    message = await read(
        chunk({"inlineData": {"mimeType": "image/png", "data": PNG}}),
        chunk({"inlineData": {"mimeType": "text/csv", "data": "YQ=="}}, finish="STOP"),
    )
    picture, table = message.parts
    assert isinstance(picture, Image)
    assert table == Mime.from_bytes(b"a", "text/csv")


async def test_bug_018_providers_58_a_blocked_prompt_is_filtered_content() -> None:
    """There is no candidate, and the status is 200; usage is kept. A candidate may be filtered midway, too."""
    usage = {"promptTokenCount": 9, "totalTokenCount": 9}
    for empty in ({}, {"candidates": []}):
        with pytest.raises(errors.ContentFilteredError) as raised:
            await read(data({**empty, "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}))
        assert raised.value.raw_finish_reason == "SAFETY"
        assert raised.value.usage is not None
        assert (raised.value.usage.input_tokens, raised.value.retryable) == (9, False)
    with pytest.raises(errors.ContentFilteredError) as raised:
        await read(chunk(text("Once")), chunk(finish="SAFETY"))
    assert raised.value.partial.text == "Once"


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("MAX_TOKENS", errors.IncompleteGenerationError),
        ("MALFORMED_FUNCTION_CALL", errors.MalformedGenerationError),
        ("OTHER", errors.IncompleteGenerationError),
        ("PROHIBITED_CONTENT", errors.ContentFilteredError),
    ],
)
async def test_words_of_endings(word: str, error: type[errors.LMError]) -> None:
    """Each word has its outcome."""
    with pytest.raises(error):
        await read(chunk(text("a"), finish=word))


async def test_a_word_nobody_knows_is_a_success_under_its_own_name() -> None:
    """If there is text."""
    message = await read(chunk(text("a"), finish="NEW_WORD"))
    assert (message.finish_reason, message.raw_finish_reason) == ("other", "NEW_WORD")


async def test_what_stands_beside_an_answer_is_kept() -> None:
    """Sources and ratings, as the last response has them."""
    body = data(
        {
            "candidates": [
                {
                    "content": {"parts": [text("a")]},
                    "finishReason": "STOP",
                    "groundingMetadata": {"g": 1},
                    "safetyRatings": [{"s": 1}],
                }
            ]
        }
    )
    metadata = (await read(body)).metadata
    assert (metadata["citations"], metadata["safety"]) == ([{"g": 1}], [{"s": 1}])


async def test_errors_in_any_frame_are_classified() -> None:
    """In a stream, in an array, as a document, and as an answer of its own status."""
    failure = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}
    for body in (chunk(text("a")) + data(failure), json.dumps([failure]).encode(), json.dumps(failure).encode()):
        with pytest.raises(errors.TemporaryLMError):
            await read(body)
    model, _ = answered(MockResponse(status=503, body=json.dumps([failure]).encode()))
    with pytest.raises(errors.TemporaryLMError):
        await model("hi")


async def test_a_document_that_is_no_response_is_a_protocol_error() -> None:
    """An object without candidates says nothing."""
    with pytest.raises(errors.LMProtocolError, match="candidates"):
        await read(b'{"object":"list"}')
