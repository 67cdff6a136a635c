"""Typed prompts as they are sent, and the steps from a request to its result."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError, InvalidValueError, MappingError, OutputMismatchError
from langfx_web.messages import AIMessage, ComplexMessage, Message, SystemMessage, Thought, ToolCall, UserMessage
from langfx_web.testing import StaticResponse, StaticSequence
from tests.queries.golden import golden


class Point(BaseModel):
    x: int
    y: int


PIXEL = lf.Image.from_bytes(b"\x89PNG\r\n\x1a\n" + bytes(16))
ORIGIN = lf.MappingExample("The origin.", Point(x=0, y=0))
CORNER = lf.MappingExample("The upper corner,\n\nto the right.", {"x": 9, "y": 9}, context="A map of 10 by 10.")
HERE = lf.MappingExample([SystemMessage("Dark."), UserMessage("Here.", PIXEL)], Point(x=0, y=1))
ANSWERS = {"python": "Point(x=1, y=2)", "json": '{"x": 1, "y": 2}'}
TRANSCRIPT = [
    SystemMessage("Axes start at 0."),
    UserMessage("I stand at the gate."),
    AIMessage("Good."),
    UserMessage("Where is it?"),
]
PROMPTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": ("Where is it?", {}),
    "one_example": ("Where is it?", {"examples": [ORIGIN]}),
    "two_examples": ("Where is it?", {"examples": [ORIGIN, CORNER]}),
    "context": ("Where is it?", {"context": "A map of 5 by 5.\nThe gate is in the middle."}),
    "system_message": ("Where is it?", {"system_message": "Guess if you must.", "examples": [ORIGIN]}),
    "lines": ("Where is it?\n\n  {{hint}}\nThink twice.", {"vars": {"hint": "Not\nhere."}}),
    "media": (UserMessage("See\n", PIXEL, "and say."), {"context": UserMessage("A map: ", PIXEL)}),
    "media_example": (
        [SystemMessage("Axes start at 0."), UserMessage("Now mine."), AIMessage("Yes?"), UserMessage(PIXEL)],
        {
            "examples": [
                ORIGIN,
                lf.MappingExample([SystemMessage("Dark."), UserMessage("Here.", PIXEL)], Point(x=0, y=1)),
            ]
        },
    ),
    "transcript": (TRANSCRIPT, {"system_message": "Guess if you must.", "examples": [ORIGIN]}),
    "value": (Point(x=3, y=4), {}),
}


@pytest.mark.parametrize("protocol", ["python", "json"])
@pytest.mark.parametrize("name", PROMPTS)
async def test_langfx_27_a_prompt_is_the_same_text_every_time(name: str, protocol: Any) -> None:
    """Instructions, examples and the type in one system message, the labelled request after it."""
    prompt, options = PROMPTS[name]
    lm = StaticResponse(ANSWERS[protocol])
    for _ in range(2):
        assert await lf.query(prompt, Point, lm=lm, protocol=protocol, **options) == Point(x=1, y=2)
    sent, expected = golden(f"{name}.{protocol}", lm.requests[0])
    assert sent == expected
    assert lm.requests[1].messages == lm.requests[0].messages


class Recorded(lf.LfQuery):
    """Writes down the order of its steps, and fails in one of them."""

    failing = ""

    def _step(self, name: str, value: Any) -> Any:
        self.steps.append(name)
        if name == self.failing:
            raise ZeroDivisionError(name)
        return value

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.steps: list[str] = []

    def render(self, vars: Any = None) -> Message:
        return self._step("render", super().render(vars))

    def transform_input(self, message: Message) -> Message:
        return self._step("transform_input", message)

    def postprocess_response(self, message: AIMessage) -> AIMessage:
        return self._step("postprocess_response", message.replace(parts=[message.text.strip("!")]))

    def parse_result(self, message: AIMessage) -> Any:
        return self._step("parse_result", super().parse_result(message))

    def postprocess_result(self, value: Any) -> Any:
        return self._step("postprocess_result", (value, "checked"))

    def transform_output(self, message: AIMessage) -> AIMessage:
        return self._step("transform_output", message.replace(metadata={"seen": True}))


ORDER = ["render", "transform_input", "postprocess_response", "parse_result", "postprocess_result", "transform_output"]


async def test_langfx_28_hooks_run_in_order() -> None:
    """Each sees what the one before it made; the model's own message stays the source."""
    mapping = Recorded("Where?", Point, lm=StaticResponse("Point(x=1, y=2)!!"))
    message = await mapping()
    assert mapping.steps == ORDER
    assert message.result == (Point(x=1, y=2), "checked")
    assert message.metadata == {"seen": True}
    assert message.source == AIMessage("Point(x=1, y=2)!!")


@pytest.mark.parametrize("hook", ["postprocess_response", "parse_result", "postprocess_result"])
async def test_langfx_28_a_hook_that_raises_fails_the_mapping(hook: str) -> None:
    """With its own exception as the cause, once; a kept answer is removed first."""
    lm = Keeping("Point(x=1, y=2)")
    mapping = Recorded("Where?", Point, autofix=3)
    mapping.failing = hook
    with pytest.raises(MappingError) as caught:
        await mapping(lm=lm)
    error = caught.value
    assert isinstance(error.cause, ZeroDivisionError)
    assert error.__cause__ is error.cause
    assert (error.hook, error.attempts, error.lm_response.text) == (hook, 1, "Point(x=1, y=2)")
    assert str(error) == f"{hook} raised ZeroDivisionError: 'Point(x=1, y=2)'"
    assert lm.forgotten == ["key"]
    assert error.cache_invalidation_error is None


@pytest.mark.parametrize("hook", ["render", "transform_input", "transform_output"])
async def test_errors_of_other_hooks_stay_as_they_are(hook: str) -> None:
    """They are of the caller's own making, before or after an answer is read."""
    mapping = Recorded("Where?", Point, lm=StaticResponse("Point(x=1, y=2)"))
    mapping.failing = hook
    with pytest.raises(ZeroDivisionError):
        await mapping()


class Keeping(StaticResponse):
    """A model that answers from a cache."""

    broken = False

    def __init__(self, text: str) -> None:
        super().__init__(AIMessage(text))
        self.forgotten: list[str] = []

    async def __call__(self, prompt: Any, **options: Any) -> AIMessage:
        return (await super().__call__(prompt, **options)).replace(metadata={"cache_key": "key"})

    async def forget(self, cache_key: str) -> None:
        if self.broken:
            raise OSError("disk")
        self.forgotten.append(cache_key)


async def test_langfx_29_an_eviction_that_fails_hides_nothing() -> None:
    """The error is still about the answer, and says why that is still kept."""
    lm = Keeping("Point(x=1)")
    lm.broken = True
    with pytest.raises(MappingError) as caught:
        await lf.query("Where?", Point, lm=lm)
    assert isinstance(caught.value.cause, OutputMismatchError)
    assert isinstance(caught.value.cache_invalidation_error, OSError)


async def test_an_answer_that_can_be_read_is_kept() -> None:
    """Only bad ones are removed."""
    lm = Keeping("Point(x=1, y=2)")
    await lf.query("Where?", Point, lm=lm)
    assert lm.forgotten == []


@pytest.mark.parametrize(("output", "reason"), [({"x": "1", "y": 0}, "x: "), (lf.MISSING, "no output")])
async def test_langfx_30_a_wrong_example_is_refused(output: Any, reason: str) -> None:
    """With its place among the examples, before anything is sent."""
    lm = StaticSequence([])
    with pytest.raises(InvalidValueError, match=reason) as caught:
        await lf.query("Where?", Point, lm=lm, examples=[ORIGIN, lf.MappingExample("There.", output)])
    assert (caught.value.code, caught.value.details["index"], lm.requests) == ("invalid_example", 1, [])


async def test_langfx_30_an_example_is_a_mapping_example() -> None:
    """A pair is none."""
    with pytest.raises(InvalidValueError) as caught:
        await lf.query("Where?", Point, lm=StaticSequence([]), examples=[("There.", Point(x=1, y=2))])
    assert (caught.value.code, caught.value.details["index"]) == ("invalid_example", 0)


async def test_langfx_30_an_output_may_be_none() -> None:
    """Null is a value; only what is missing is none."""
    example = lf.MappingExample("Nowhere.", None)
    assert example.has_output
    lm = StaticResponse("None")
    assert await lf.query("Where?", Point | None, lm=lm, examples=[example]) is None
    assert "output = None" in lm.requests[0].messages[0].text


async def test_langfx_31_one_object_serves_many_calls_at_once() -> None:
    """Nothing of a call is kept on it."""
    mapping = lf.LfQuery("Number {{n}}?", int)
    lms = [StaticResponse(str(n), delay=0.001 * (n % 3)) for n in range(20)]
    messages = await asyncio.gather(*(mapping(vars={"n": n}, lm=lm) for n, lm in enumerate(lms)))
    assert [message.result for message in messages] == list(range(20))
    assert [f"Number {n}?" in lm.requests[0].messages[-1].text for n, lm in enumerate(lms)] == [True] * 20


def test_an_example_may_be_a_transcript() -> None:
    """Of which what was said is shown, not what was thought or called."""
    answered = AIMessage(Thought("hm"), "By the gate.", ToolCall("c", "look", {}))
    example = lf.MappingExample([UserMessage("Where?"), answered], 1, context=answered)
    system = lf.Mapping("Where?", int, examples=[example]).render().messages[0]
    assert system.text.startswith("CONTEXT:\n  By the gate.\n\nREQUEST:\n  Where?\n\n  By the gate.\n\nOUTPUT")


async def test_a_mapping_says_what_its_maker_wants() -> None:
    """A preamble that names the titles, its own examples, a layout of its own."""

    class Translation(lf.Mapping):
        template_str = "{{instructions}}Quickly now.{{request}}"
        preamble = "Read {{input_title}}, write {{output_title}}."

        def render_example(self, example: lf.MappingExample) -> UserMessage:
            return UserMessage(f"{example.input.text} -> {example.output!r}")

    mapping = Translation("three", int, examples=[lf.MappingExample(lf.Template("{{word}}"), 2)], vars={"word": "two"})
    assert mapping.render() == ComplexMessage(
        SystemMessage(
            "Read REQUEST, write OUTPUT PYTHON OBJECT.\n\ntwo -> 2\n\nOUTPUT PYTHON TYPE:\n  int",
        ),
        UserMessage("Quickly now.REQUEST:\n  three\n\nOUTPUT PYTHON OBJECT:"),
    )
    assert mapping.mapping_request.has_output is False


def test_the_user_has_the_last_word_of_an_input() -> None:
    """What the model said is not a request."""
    for prompt in ([UserMessage("a"), AIMessage("b")], SystemMessage("a")):
        with pytest.raises(InvalidValueError) as caught:
            lf.LfQuery(prompt, int).render()
        assert caught.value.code == "invalid_message"


async def test_a_stream_takes_no_hooks_for_whole_answers() -> None:
    """They are never applied to pieces; without them the text comes as it is."""
    lm = StaticResponse("12", chunk_size=1)
    chunks = [chunk.delta.text async for chunk in lf.LfQuery("How many?", int).stream(lm=lm)]
    assert "".join(chunks) == "12"
    with pytest.raises(InvalidArgumentError, match="postprocess_response"):
        Recorded("How many?", int).stream(lm=lm)
