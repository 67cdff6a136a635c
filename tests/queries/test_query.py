"""One prompt, one answer."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from pydantic import BaseModel

import langfx_web as lf
from langfx_web.errors import (
    ContentFilteredError,
    DeadlineExceededError,
    EmptyGenerationError,
    IncompleteGenerationError,
    InvalidArgumentError,
    MappingError,
    OutputLimitError,
    OutputMismatchError,
    OutputSyntaxError,
    RateLimitError,
    SchemaError,
    TemplateError,
)
from langfx_web.messages import AIMessage, SystemMessage, Thought, ToolCall, UserMessage
from langfx_web.testing import Echo, ManualClock, StaticResponse, StaticSequence
from langfx_web.usage import Usage


class Point(BaseModel):
    x: int
    y: int


GOOD = "Point(x=1, y=2)"
BAD = "Point(x=1, y='a')"


async def test_a_text_is_a_template() -> None:
    """Rendered with its variables."""
    assert await lf.query("What is {{a}} + 1?", lm=Echo(), vars={"a": 1}) == "What is 1 + 1?"
    assert await lf.query(lf.Template("What is {{a}}?", vars={"a": 2}), lm=Echo()) == "What is 2?"


async def test_a_message_is_literal() -> None:
    """So are several; braces in them mean nothing, and variables do not go with them."""
    assert await lf.query(UserMessage("{{x}}"), lm=Echo()) == "{{x}}"
    assert await lf.query([UserMessage("a"), AIMessage("b"), UserMessage("{{x}}")], lm=Echo()) == "{{x}}"
    with pytest.raises(InvalidArgumentError) as caught:
        await lf.query(UserMessage("a"), lm=Echo(), vars={"x": 1})
    assert caught.value.details == {"option": "vars"}


@pytest.mark.parametrize("schema", [None, str, int])
async def test_langfx_10_a_message_is_literal_with_and_without_a_schema(schema: Any) -> None:
    """Whatever is wanted, what stands in it is not a template."""
    lm = StaticResponse("1")
    await lf.query(UserMessage("{{x}}"), schema, lm=lm)
    assert "{{x}}" in lm.requests[0].messages[-1].text


async def test_any_other_value_is_written_down() -> None:
    """As the protocol writes values, instances inside of plain data included."""
    value = {"from": [Point(x=1, y=2)], "count": 1}
    assert await lf.query(value, lm=Echo(), protocol="json") == '{"from": [{"x": 1, "y": 2}], "count": 1}'
    assert "'count': 1" in await lf.query(value, lm=Echo())


async def test_system_message_and_sampling_reach_the_model() -> None:
    """In front of the prompt, and as options of the request."""
    lm = StaticSequence(["ok", "1"])
    await lf.query("hi", lm=lm, system_message="Be brief.", temperature=0.5)
    assert lm.requests[0].messages == (SystemMessage("Be brief."), UserMessage("hi"))
    assert lm.requests[0].options.temperature == 0.5
    await lf.query("hi", int, lm=lm, temperature=0.7, cache_seed=3)
    assert lm.requests[1].options.temperature == 0.7


async def test_a_text_query_may_have_a_context() -> None:
    """It stands before the prompt."""
    lm = StaticResponse("ok")
    await lf.query("Well?", lm=lm, context="It rains.\nA lot.")
    assert [message.text for message in lm.requests[0].messages] == ["CONTEXT:\n  It rains.\n  A lot.", "Well?"]


async def test_langfx_36_nothing_is_sent_for_a_bad_call() -> None:
    """No model, an unknown keyword or protocol, a missing variable, a type without a form, examples of a text."""
    lm = StaticSequence([])
    bad: list[tuple[type[Exception], dict[str, Any]]] = [
        (TypeError, {"warmth": 3}),
        (TypeError, {"schema": int, "warmth": 3}),
        (TypeError, {"schema": int, "native_structured_output": True, "warmth": 3}),
        (InvalidArgumentError, {"protocol": "yaml"}),
        (InvalidArgumentError, {"examples": [lf.MappingExample("a", "b")]}),
        (InvalidArgumentError, {"schema": int, "autofix": -1}),
        (InvalidArgumentError, {"timeout": float("nan")}),
        (InvalidArgumentError, {"native_structured_output": True}),
        (DeadlineExceededError, {"timeout": 0}),
        (TemplateError, {"prompt": "{{x}}"}),
        (TemplateError, {"prompt": "{{x}}", "schema": int}),
        (SchemaError, {"schema": [int, str]}),
    ]
    for kind, options in bad:
        with pytest.raises(kind):
            await lf.query(**{"prompt": "hi", **options}, lm=lm)
    for schema in (None, int):
        with pytest.raises(InvalidArgumentError) as caught:
            await lf.query("hi", schema)
        assert caught.value.code == "no_model"
    assert lm.requests == []


async def test_a_typed_query_returns_the_value() -> None:
    """Of any type that can be described; a text type takes the answer as it is."""
    assert await lf.query("Where?", Point, lm=StaticResponse(f"It is here:\n```python\n{GOOD}\n```")) == Point(x=1, y=2)
    assert await lf.query("Where?", Point, lm=StaticResponse('{"x": 1, "y": 2}'), protocol="json") == Point(x=1, y=2)
    assert await lf.query("Which?", Literal["a", "b"], lm=StaticResponse("'a'")) == "a"
    assert await lf.query("Who?", str, lm=StaticResponse("'me'")) == "'me'"
    assert await lf.query("Who?", lf.Schema(int | None), lm=StaticResponse("None")) is None


async def test_a_message_may_be_returned() -> None:
    """With the value, the model's own message, and the cost of all requests."""
    usage = Usage(input_tokens=10, output_tokens=5)
    answers = [AIMessage(text, usage=usage) for text in (BAD, GOOD)]
    message = await lf.query("Where?", Point, lm=StaticSequence(answers), returns_message=True, autofix=1)
    assert isinstance(message, AIMessage)
    assert (message.result, message.text) == (Point(x=1, y=2), GOOD)
    assert message.source is not None
    assert message.source.text == GOOD
    assert message.usage == usage + usage
    text = await lf.query("Who?", lm=StaticResponse("me"), returns_message=True)
    assert (text.result, text.source) == ("me", AIMessage("me"))


async def test_langfx_33_a_model_may_correct_itself() -> None:
    """It sees its bad answers and what was wrong with them; all of it is one conversation."""
    lm = StaticSequence([BAD, AIMessage(Thought("hm"), "Point(x=1)"), GOOD])
    assert await lf.query("Where?", Point, lm=lm, autofix=2, temperature=0.1) == Point(x=1, y=2)
    first, second, third = lm.requests
    assert second.messages == (
        *first.messages,
        AIMessage(BAD),
        UserMessage(
            "That is not a valid OUTPUT PYTHON OBJECT: int is wanted, not a str at y. "
            "Write the whole corrected value again and nothing else."
        ),
    )
    assert third.messages[:-2] == second.messages
    assert third.messages[-2] == AIMessage(Thought("hm"), "Point(x=1)")
    assert [request.options.temperature for request in lm.requests] == [0.1] * 3


async def test_langfx_33_the_newest_error_is_raised_after_the_last_repair() -> None:
    """It counts the requests."""
    lm = StaticSequence([BAD, "?", "nothing"])
    with pytest.raises(MappingError) as caught:
        await lf.query("Where?", Point, lm=lm, autofix=2)
    assert (caught.value.attempts, caught.value.lm_response.text, len(lm.requests)) == (3, "nothing", 3)


async def test_langfx_33_some_errors_are_not_repaired() -> None:
    """Those of hooks, and answers beyond the limits."""

    def broken(message: AIMessage) -> AIMessage:
        raise OutputSyntaxError("mine")

    for options in ({"postprocess_response": broken}, {"parse_limits": lf.ParseLimits(max_chars=3)}):
        lm = StaticSequence([BAD, GOOD])
        with pytest.raises(MappingError) as caught:
            await lf.query("Where?", Point, lm=lm, autofix=2, **options)
        assert (caught.value.attempts, len(lm.requests)) == (1, 1)
    assert isinstance(caught.value.cause, OutputLimitError)


async def test_repairs_may_be_made_by_another_model() -> None:
    """The first answer is still the first model's; a call that nobody can answer is not sent back."""
    lm, other = StaticSequence([AIMessage(BAD, ToolCall("c", "f", {}))]), StaticSequence([BAD, GOOD])
    assert await lf.query("Where?", Point, lm=lm, autofix=5, autofix_lm=other) == Point(x=1, y=2)
    assert (len(lm.requests), len(other.requests)) == (1, 2)
    assert other.requests[0].messages[-2] == AIMessage(BAD)


async def test_all_problems_are_told_within_bounds() -> None:
    """With their paths, and an excerpt where a place is known."""
    lm = StaticSequence(["Point(x='a', y='b')", "Point(x=1, y=2", GOOD])
    await lf.query("Where?", Point, lm=lm, autofix=2)
    told = [request.messages[-1].text for request in lm.requests[1:]]
    assert "x: int is wanted, not a str; y: int is wanted, not a str." in told[0]
    assert len(told[1]) < 1200


async def test_langfx_34_a_default_stands_for_a_bad_answer_only() -> None:
    """Every other error passes."""
    assert await lf.query("Where?", Point, lm=StaticResponse(BAD), default=None) is None
    with pytest.raises(RateLimitError):
        await lf.query("Where?", Point, lm=StaticResponse(RateLimitError("slow down")), default=None)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (AIMessage(GOOD, finish_reason="length"), IncompleteGenerationError),
        (AIMessage(GOOD, finish_reason="pause"), IncompleteGenerationError),
        (AIMessage(GOOD, finish_reason="content_filter"), ContentFilteredError),
        (AIMessage(Thought("so")), EmptyGenerationError),
    ],
)
async def test_langfx_35_an_answer_that_is_not_whole_is_never_read(answer: AIMessage, kind: type[Exception]) -> None:
    """Though what there is of it happens to be a value; there is no default for it, and no repair."""
    lm = StaticResponse(answer)
    with pytest.raises(kind) as caught:
        await lf.query("Where?", Point, lm=lm, default=None, autofix=3)
    assert not isinstance(caught.value, MappingError)
    assert len(lm.requests) == 1


async def test_an_answer_may_be_changed_before_it_is_read() -> None:
    """The model's own message stays the source."""
    message = await lf.query(
        "Where?",
        Point,
        lm=StaticResponse(f"<{GOOD}>"),
        postprocess_response=lambda message: message.replace(parts=[message.text.strip("<>")]),
        returns_message=True,
    )
    assert (message.result, message.source) == (Point(x=1, y=2), AIMessage(f"<{GOOD}>"))
    with pytest.raises(MappingError) as caught:
        await lf.query("Who?", lm=StaticResponse("me"), postprocess_response=lambda message: message.text)  # type: ignore[arg-type,return-value]
    assert isinstance(caught.value.cause, TypeError)


async def test_the_timeout_bounds_repairs_too() -> None:
    """Whatever is under way then is cancelled."""
    clock = ManualClock()
    lm = StaticSequence([BAD, GOOD], delay=3.0, clock=clock)
    task = asyncio.create_task(lf.query("Where?", Point, lm=lm, autofix=1, timeout=5.0))
    await clock.advance(5.0)
    with pytest.raises(DeadlineExceededError):
        await task
    assert len(lm.requests) == 2


async def test_a_mapping_error_says_what_failed_where_and_no_more() -> None:
    """An excerpt of at most 200 characters, never the prompt or the whole answer."""
    answer = f"Point(x=1, y='{'a' * 3000}')"
    with pytest.raises(MappingError) as caught:
        await lf.query("A secret prompt", Point, lm=StaticResponse(answer))
    error = caught.value
    assert isinstance(error.cause, OutputMismatchError)
    assert (error.code, error.path, error.problems) == ("mapping_failed", ("y",), error.cause.problems)
    assert (error.details["cause"], error.details["attempts"]) == ("output_mismatch", 1)
    assert str(error).startswith("int is wanted, not a str at y: ")
    assert len(error.excerpt) == 200
    assert len(str(error)) < 300
    assert "secret" not in str(error)
    assert error.lm_response.text == answer
    with pytest.raises(MappingError, match=r"at character 15: '3\)'"):
        await lf.query("Where?", Point, lm=StaticResponse("Point(x=1, y=2 3)"))


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"lm": "claude"}, "lm"),
        ({"vars": ["a"]}, "vars"),
        ({"examples": lf.MappingExample("a", 1)}, "examples"),
        ({"parse_limits": {"max_depth": 3}}, "parse_limits"),
        ({"autofix": 1, "autofix_lm": "claude"}, "autofix_lm"),
        ({"postprocess_response": "strip"}, "postprocess_response"),
    ],
)
async def test_options_of_another_kind_are_named_before_anything_is_sent(options: dict[str, Any], option: str) -> None:
    """None of them costs a request, or surfaces as an error of something else."""
    lm = StaticResponse("oops")
    with pytest.raises(InvalidArgumentError) as raised:
        await lf.query("How many?", int, **{"lm": lm, **options})
    assert (raised.value.code, raised.value.details["option"]) == ("invalid_argument", option)
    assert lm.requests == []


@pytest.mark.parametrize("text", [None, b"1", 1])
def test_only_a_text_is_read_as_an_answer(text: Any) -> None:
    """Bytes are for the caller to decode."""
    with pytest.raises(InvalidArgumentError, match="an answer is a str"):
        lf.read_answer(text, int)
