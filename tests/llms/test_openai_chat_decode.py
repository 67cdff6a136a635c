"""Chat Completions answers, in the shapes that servers send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.events import ToolCallDelta, ToolCallStart
from langfx_web.llms.openai_chat.choice import REPLAY_TAG
from langfx_web.messages import AIMessage, Image, Text, Thought
from langfx_web.transport import cut_every
from tests.llms.chat_wire import DONE, answered, call, calls, chunk, data, end, ok, text
from tests.messages.pictures import PNG


async def read(*body: bytes, **settings: Any) -> AIMessage:
    """The message that these bytes are read as, whole and cut into single bytes."""
    model, _ = answered(ok(*body), ok(*cut_every(b"".join(body), 1)), **settings)
    message = await model("hi")
    assert await model("hi") == message
    return message


def made(message: AIMessage) -> list[tuple[str, dict[str, Any] | None]]:
    """The names and arguments of a message's calls."""
    return [(called.name, called.args) for called in message.tool_calls]


async def test_text_comes_as_it_is_sent() -> None:
    """Each chunk of text is shown at once; the final chunk has the whole."""
    model, _ = answered(ok(text("Hel", "lo"), end()))
    seen = [(chunk.delta.text, chunk.final) async for chunk in model.stream("hi")]
    assert seen == [("Hel", False), ("lo", False), ("", True)]


async def test_the_first_id_and_model_that_are_not_empty_count() -> None:
    """A chunk of metadata without them takes nothing away."""
    message = await read(data({"id": "", "model": "", "choices": []}), text("a"), chunk({}, "stop", id="", model=""))
    assert (message.response_id, message.model) == ("c1", "m-1")


async def test_pictures_are_parts_of_the_answer() -> None:
    """As OpenRouter sends them beside the text, in a document, and as parts of the content; also by their address."""
    inline = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{Image.from_bytes(PNG).base64}"}}
    elsewhere = {"type": "image_url", "image_url": {"url": "https://pictures.test/a.png"}}
    pictures = (Image.from_bytes(PNG), Image.from_uri("https://pictures.test/a.png"))
    body = text("Here.") + chunk({"role": "assistant", "content": "", "images": [inline]}) + chunk({"images": None})
    assert (await read(body, chunk({"images": [elsewhere]}), end())).parts == (Text("Here."), *pictures)
    assert (await read(chunk({"content": [inline, elsewhere]}), end())).parts == pictures
    message = {"role": "assistant", "content": "Here.", "images": [inline]}
    model, _ = answered(ok(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()))
    answer = await model("draw")
    assert (answer.parts, answer.finish_reason) == ((Text("Here."), pictures[0]), "stop")


async def test_a_picture_alone_is_an_answer() -> None:
    """And one that cannot be read is a protocol error that keeps what came before it."""
    url = f"data:image/png;base64,{Image.from_bytes(PNG).base64}"
    assert (await read(chunk({"images": [{"image_url": {"url": url}}]}), end())).text == ""
    for broken in ("data:image/png;base64,!", "data:image/svg+xml,<svg/>", None):
        model, _ = answered(ok(text("Here."), chunk({"images": [{"image_url": {"url": broken}}]}), end()))
        with pytest.raises(errors.LMProtocolError) as caught:
            await model("draw")
        assert caught.value.partial.text == "Here."


async def test_candidates_stay_apart() -> None:
    """With several choices each has its text, its ending and its token probabilities."""
    tokens = [{"token": "b", "logprob": -0.1}]
    choice = {"index": 1, "delta": {"content": "b"}, "logprobs": {"content": tokens}}
    body = text("a") + data({"choices": [choice]}) + chunk({}, "stop", 1) + chunk({}, "stop") + DONE
    model, _ = answered(ok(body))
    (result,) = await model.sample(["hi"], n=2)
    assert [(sample.response.text, sample.logprobs) for sample in result.samples] == [("a", None), ("b", tokens)]


async def test_an_ending_without_a_word_is_a_stop() -> None:
    """`[DONE]` ends an answer well; without it and without a finish reason the answer was cut."""
    message = await read(text("a"), DONE)
    assert (message.finish_reason, message.raw_finish_reason) == ("stop", None)
    assert (await read(text("a"), chunk({}, "stop"))).finish_reason == "stop"
    with pytest.raises(errors.IncompleteGenerationError) as raised:
        await read(text("a"))
    assert raised.value.partial.text == "a"


async def test_words_of_endings() -> None:
    """Each word has its outcome; an unknown one with text is a success under its own name."""
    assert (await read(text("a"), end("eos"))).finish_reason == "stop"
    odd = await read(text("a"), end("odd"))
    assert (odd.finish_reason, odd.raw_finish_reason) == ("other", "odd")
    for word, error in (
        ("content_filter", errors.ContentFilteredError),
        ("length", errors.IncompleteGenerationError),
        ("error", errors.IncompleteGenerationError),
    ):
        with pytest.raises(error):
            await read(text("a"), end(word))


async def test_usage_may_come_anywhere_and_the_last_counts() -> None:
    """With the finish, after it, on each chunk, or where Groq had it first."""
    counts = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 9, "prompt_cache_hit_tokens": 2}
    message = await read(chunk({"content": "a"}, usage={"prompt_tokens": 1}), end(), data({"choices": []}))
    assert message.usage is not None
    assert message.usage.input_tokens == 1
    for tail in (data({"choices": [], "usage": counts}), chunk({}, "stop", x_groq={"usage": counts})):
        usage = (await read(text("a"), chunk({}, "stop"), tail, DONE)).usage
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.cached_input_tokens) == (3, 4, 9, 2)


# Reasoning


async def test_reasoning_content_is_a_thought_that_can_go_back() -> None:
    """Its text is kept as the server's own field; text after it is a part of its own."""
    message = await read(
        chunk({"reasoning_content": "Hm", "content": None}), chunk({"reasoning_content": "m."}), text("A"), end()
    )
    thought, words = message.parts
    assert isinstance(thought, Thought)
    assert (thought.content, words) == ("Hmm.", Text("A"))
    assert thought.replay_compatibility == REPLAY_TAG
    assert thought.payload == {
        "v": 1,
        "host": "api.openai.com",
        "model": "gpt-x",
        "block": {"reasoning_content": "Hmm."},
    }


async def test_plain_reasoning_is_only_read() -> None:
    """`reasoning` has nothing that goes back; beside `reasoning_content` it is the same text once more."""
    message = await read(chunk({"reasoning": "a"}), text("b"), end())
    assert message.parts == (Thought("a"), Text("b"))
    both = await read(chunk({"reasoning_content": "a", "reasoning": "a"}), text("b"), end())
    assert both.thoughts[0].content == "a"


async def test_reasoning_details_are_merged_by_index() -> None:
    """Words are joined, the signature is set, and an encrypted entry stays as it is."""
    details: list[list[dict[str, Any]]] = [
        [{"type": "reasoning.text", "text": "a", "signature": "", "format": None, "index": 0}],
        [
            {"type": "reasoning.text", "text": "b", "index": 0},
            {"type": "reasoning.encrypted", "data": "X=", "index": 1},
        ],
        [{"type": "reasoning.text", "signature": "S=", "format": "f", "index": 0}],
    ]
    body = [chunk({"content": "", "reasoning": "r", "reasoning_details": entries}) for entries in details]
    message = await read(*body, text("x"), end())
    assert message.thoughts[0].content == "rrr"
    assert message.thoughts[0].payload["block"] == {
        "reasoning_details": [
            {"type": "reasoning.text", "text": "ab", "signature": "S=", "format": "f", "index": 0},
            {"type": "reasoning.encrypted", "data": "X=", "index": 1},
        ]
    }


async def test_content_may_be_a_list() -> None:
    """Parts of text and of thought, as Mistral sends them."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "12*12"}]}
    message = await read(chunk({"content": [thinking]}), chunk({"content": [{"type": "text", "text": "144"}]}), end())
    assert message.parts == (Thought("12*12"), Text("144"))


async def test_think_tags_are_taken_apart_on_request() -> None:
    """A leading tag makes a thought, also when it is cut; anywhere else, and by default, text stays as it is."""
    tagged = text(" <th", "ink>a<b", "</th", "ink>", "ok </think>")
    assert (await read(tagged, end(), think_tags=True)).parts == (Thought("a<b"), Text("ok </think>"))
    assert (await read(text("<thi", "ng>"), end(), think_tags=True)).text == "<thing>"
    assert (await read(text("x <think>"), end(), think_tags=True)).text == "x <think>"
    assert (await read(tagged, end())).text == " <think>a<b</think>ok </think>"


# Tool calls


async def test_bug_035_calls_are_listed_by_index() -> None:
    """Fragments go to their call, interleaved as they are; a call with a lower index comes first."""
    message = await read(
        calls(call(1, "b", "g", '{"y":')),
        calls(call(0, "a", "f", '{"x":')),
        calls(call(0, arguments="1}"), call(1, arguments="2}")),
        end("tool_calls"),
    )
    assert [(made.id, made.name, made.args) for made in message.tool_calls] == [
        ("a", "f", {"x": 1}),
        ("b", "g", {"y": 2}),
    ]
    assert message.finish_reason == "tool_calls"


async def test_bug_014_a_name_that_comes_late_starts_the_call() -> None:
    """The start is shown once, when the name is known; text that waited for it follows."""
    body = calls(call(0, "c", None, '{"q":')) + calls(call(0, name="search", arguments='"x"}')) + end("tool_calls")
    model, _ = answered(ok(body))
    seen = [chunk.delta.tool_call async for chunk in model.stream("hi") if chunk.delta.tool_call]
    assert seen[:2] == [ToolCallStart(id="c", name="search"), ToolCallDelta(id="c", text='{"q":"x"}')]
    assert made(await read(body)) == [("search", {"q": "x"})]


async def test_bug_014_a_call_that_never_gets_a_name_is_a_protocol_error() -> None:
    """It could not be run; an answer that was cut is only incomplete."""
    with pytest.raises(errors.LMProtocolError, match="name"):
        await read(calls(call(0, "c", None, "{}")), end("tool_calls"))
    with pytest.raises(errors.IncompleteGenerationError):
        await read(calls(call(0, "c", None, "{")), end("length"))


async def test_calls_without_ids_get_some() -> None:
    """The same bytes give the same ones. Without ids, a new name after whole arguments is a new call."""
    body = calls(call(0, None, "f", '{"p":1}')) + calls(call(0, None, "g", "{}")) + end("tool_calls")
    message = await read(body)
    assert made(message) == [("f", {"p": 1}), ("g", {})]
    first, second = (made.id for made in message.tool_calls)
    assert first != second
    assert first.startswith("lf_")


async def test_fragments_for_no_call_are_refused_where_it_could_be_any() -> None:
    """With one call open they are its; with two, guessing would mix arguments."""
    opened = calls(call(0, "a", "f", '{"x":'), call(1, "b", "g", '{"y":'))
    with pytest.raises(errors.LMProtocolError, match="several"):
        await read(opened, calls(call(2, arguments="1}")), end("tool_calls"))


async def test_what_goes_back_with_a_call_stands_before_it() -> None:
    """Google's compatible endpoint keeps its signature beside the call."""
    extra = {"google": {"thought_signature": "S=="}}
    message = await read(calls(call(0, "a", "f", "{}", extra_content=extra)), end("tool_calls"))
    thought, made = message.parts
    assert isinstance(thought, Thought)
    assert (thought.content, thought.payload["next"], made) == ("", {"extra_content": extra}, message.tool_calls[0])


# Failures


async def test_citations_and_annotations_are_kept() -> None:
    """What Perplexity repeats on every chunk is there once; what OpenRouter adds is joined."""
    cited = chunk({"content": "a"}, citations=["u"]) + chunk({"content": "b"}, citations=["u"]) + end()
    assert (await read(cited)).metadata["citations"] == ["u"]
    noted = chunk({"annotations": [{"n": 1}]}) + chunk({"content": "a", "annotations": [{"n": 2}]}) + end()
    assert (await read(noted)).metadata["citations"] == [{"n": 1}, {"n": 2}]


async def test_a_refusal_is_filtered_content() -> None:
    """Whatever the finish reason; its words are the error's."""
    with pytest.raises(errors.ContentFilteredError) as raised:
        await read(chunk({"refusal": "I ca"}), chunk({"refusal": "nnot"}), end())
    assert raised.value.refusal == "I cannot"


async def test_a_document_that_is_no_completion_is_a_protocol_error() -> None:
    """An object without choices says nothing."""
    with pytest.raises(errors.LMProtocolError, match="choices"):
        await read(b'{"object":"list"}')


async def test_a_done_without_anything_is_empty() -> None:
    """No choice at all is no answer."""
    with pytest.raises(errors.EmptyGenerationError):
        await read(data({"choices": []}), DONE)
