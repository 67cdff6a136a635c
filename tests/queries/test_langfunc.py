"""Prompts that can be called."""

from __future__ import annotations

import asyncio

import pytest

import langfx_web as lf
from langfx_web.errors import DeadlineExceededError, InvalidArgumentError, TemplateError
from langfx_web.messages import AIMessage, Message, UserMessage
from langfx_web.testing import Echo, ManualClock, StaticResponse, StaticSequence


async def test_a_call_gives_the_models_message() -> None:
    """To what the template renders to, with the variables of object and call."""
    greet = lf.LangFunc("Greet {{name}} in {{language}}.", vars={"language": "Dutch"})
    assert isinstance(greet, lf.Template)
    answer = await greet(vars={"name": "Ada"}, lm=Echo())
    assert isinstance(answer, AIMessage)
    assert answer.text == "Greet Ada in Dutch."
    with pytest.raises(TemplateError):
        await greet(lm=Echo())


async def test_a_class_may_bring_its_text() -> None:
    """Its docstring is not read."""

    class Greet(lf.LangFunc):
        """Greets."""

        template_str = "Hello {{name}}!"

    assert (await Greet(lm=Echo(), vars={"name": "Ada"})()).text == "Hello Ada!"


async def test_the_call_comes_before_the_object_and_that_before_the_model() -> None:
    """And none of it changes what is shared."""
    lm, other = StaticSequence(["a", "b", "c"], temperature=0.1, top_k=3), StaticResponse("d")
    ask = lf.LangFunc("Well?", lm=lm, temperature=0.2, extras={"a": 1, "b": {"c": 2}})
    await ask()
    await ask(temperature=0.3, extras={"b": {"d": 3}})
    await ask(temperature=None)
    sent = [request.options for request in lm.requests]
    assert [options.temperature for options in sent] == [0.2, 0.3, None]
    assert [options.top_k for options in sent] == [3, 3, 3]
    assert sent[1].extras == {"a": 1, "b": {"c": 2, "d": 3}}
    assert (await ask(lm=other)).text == "d"
    assert ask.sampling == {"temperature": 0.2, "extras": {"a": 1, "b": {"c": 2}}}
    assert (ask.lm, lm.options.temperature) == (lm, 0.1)


async def test_langfx_36_a_bad_call_of_a_function_sends_nothing() -> None:
    """No model anywhere, an unknown keyword, no time."""
    lm = StaticSequence([])
    with pytest.raises(InvalidArgumentError) as caught:
        await lf.LangFunc("hi")()
    assert caught.value.code == "no_model"
    with pytest.raises(TypeError):
        lf.LangFunc("hi", warmth=3)
    with pytest.raises(TypeError):
        await lf.LangFunc("hi", lm=lm)(warmth=3)
    with pytest.raises(DeadlineExceededError):
        await lf.LangFunc("hi", lm=lm)(timeout=0)
    assert lm.requests == []


class Shouted(lf.LangFunc):
    """Changes what goes in and what comes out."""

    def transform_input(self, message: Message) -> Message:
        return UserMessage(message.text.upper())

    def transform_output(self, message: AIMessage) -> AIMessage:
        return message.replace(parts=[message.text + "!"])


async def test_hooks_see_both_ends() -> None:
    """The message that is sent, and the answer."""
    assert (await Shouted("hello", lm=Echo())()).text == "HELLO!"


async def test_an_answer_can_be_streamed() -> None:
    """Unless a hook is to see the whole of it."""
    ask = lf.LangFunc("Say {{word}}", lm=Echo(chunk_size=2))
    chunks = [chunk async for chunk in ask.stream(vars={"word": "hi"})]
    assert [chunk.delta.text for chunk in chunks if not chunk.final] == ["Sa", "y ", "hi"]
    with pytest.raises(InvalidArgumentError) as caught:
        Shouted("hello", lm=Echo()).stream()
    assert caught.value.code == "invalid_argument"
    with pytest.raises(TypeError):
        ask.stream(warmth=3)


async def test_a_stream_has_its_time_too() -> None:
    """Waiting for a chunk ends with the deadline, and so does the request."""
    clock = ManualClock()
    chunks = lf.LangFunc("Say hi", lm=Echo(chunk_size=2, delay=1.0, clock=clock)).stream(timeout=2.5)

    async def read() -> list[str]:
        return [chunk.delta.text async for chunk in chunks]

    task = asyncio.create_task(read())
    await clock.advance(3.0)
    with pytest.raises(DeadlineExceededError):
        await task
    with pytest.raises(DeadlineExceededError):
        await anext(lf.LangFunc("Say hi", lm=Echo()).stream(timeout=0))
