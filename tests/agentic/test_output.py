"""Agents that end with a value: asked for in one of two ways, read strictly, asked for again while steps remain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from langfx_web import Agent, Limits, Schema
from langfx_web.errors import (
    HookError,
    InvalidValueError,
    MappingError,
    OutputForbiddenError,
    OutputLimitError,
    OutputMismatchError,
)
from langfx_web.messages import AIMessage
from langfx_web.testing import Echo, StaticSequence
from langfx_web.usage import Usage
from tests.agentic.trial import agent, calls, double, loop_of, run


@dataclass
class Answer:
    total: int
    note: str = ""


WRITTEN = "```python\noutput = Answer(\n  total=8\n)\n```"


async def test_invoke_gives_a_value() -> None:
    """Read from the last answer; with `returns_message` it is beside the text, with the cost of the run."""
    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    replies = [calls(("double", {"n": 4}), usage=usage), AIMessage(WRITTEN, usage=usage)]
    assert await agent(StaticSequence(replies), output=Answer).invoke(prompt="4?") == Answer(total=8)
    message = await agent(StaticSequence(replies), output=Answer).invoke(prompt="4?", returns_message=True)
    assert (message.text, message.result, message.usage.total_tokens) == (WRITTEN, Answer(total=8), 4)


async def test_the_system_message_says_how_to_write_it() -> None:
    """After the author's instructions, in the words of a typed query."""
    lm = StaticSequence([WRITTEN])
    await agent(lm, output=Answer, instructions="Be exact.").invoke(prompt="4?")
    (request,) = lm.requests
    assert request.schema is None
    assert request.messages[0].text == (
        "Be exact.\n\n"
        "When you have finished, answer with the OUTPUT PYTHON OBJECT and nothing else: one Python value of the "
        "OUTPUT PYTHON TYPE.\n"
        "Use only literals and calls of the classes listed with that type. The text is read as data and never run.\n\n"
        "OUTPUT PYTHON TYPE:\n"
        "  Answer\n\n"
        "  ```python\n"
        "  class Answer:\n"
        "    total: int\n"
        "    note: str = ''\n"
        "  ```"
    )


async def test_a_model_that_knows_schemas_is_given_the_schema() -> None:
    """Where the agent has no tools, and the type has such a form; the system message says nothing of it."""
    lm = StaticSequence(['{"total": 8, "note": null}'])
    assert await Agent(lm=lm, output=Answer).invoke(prompt="4?") == Answer(total=8)
    assert lm.requests[0].schema["required"] == ["total", "note"]
    assert [message.role for message in lm.requests[0].messages] == ["user"]
    lm = StaticSequence(['{"value": [1, 2]}'])
    assert await Agent(lm=lm, output=list[int]).invoke(prompt="?") == [1, 2]
    open_map = StaticSequence(["{'a': 1}"])
    assert await Agent(lm=open_map, output=dict[str, int]).invoke(prompt="?") == {"a": 1}
    plain = StaticSequence(["8"], capabilities={"native_schema": False})
    assert await Agent(lm=plain, output=int).invoke(prompt="?") == 8
    assert [lm.requests[0].schema for lm in (open_map, plain)] == [None, None]


async def test_text_is_any_text() -> None:
    """`str` asks for nothing."""
    lm = StaticSequence(["hello"])
    assert await agent(lm, output=str).invoke(prompt="?") == "hello"
    assert [message.role for message in lm.requests[0].messages] == ["user"]


async def test_a_model_is_shown_its_mistake_while_steps_remain() -> None:
    """Each new attempt is a step; tools may be used again before it."""
    lm = StaticSequence(["Answer(total='x')", calls(("double", {"n": 4})), WRITTEN])
    loop = loop_of(agent(lm, output=Answer))
    await run(loop)
    assert loop.outcome.message.result == Answer(total=8)
    shown = lm.requests[1].messages[-1]
    assert shown.role == "user"
    assert shown.text.startswith("That is not a valid OUTPUT PYTHON OBJECT: ")
    assert shown.text.endswith(". Write the whole corrected value again and nothing else.")
    assert "total" in shown.text
    assert lm.requests[1].messages[-2].text == "Answer(total='x')"


async def test_with_the_last_step_the_newest_mistake_is_the_error() -> None:
    """Which counts the attempts."""
    lm = StaticSequence(["Answer(total='x')", "Answer(total=1.5)"])
    with pytest.raises(MappingError) as caught:
        await agent(lm, output=Answer, limits=Limits(max_steps=2)).invoke(prompt="?")
    assert (caught.value.attempts, len(lm.requests)) == (2, 2)
    assert isinstance(caught.value.cause, OutputMismatchError)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [("__import__('os').system('x')", OutputForbiddenError), ("[" * 70 + "]" * 70, OutputLimitError)],
)
async def test_an_answer_is_read_and_never_run(answer: str, cause: type[Exception]) -> None:
    """What is over a limit is not asked for again."""
    lm = StaticSequence([answer, answer])
    with pytest.raises(MappingError) as caught:
        await Agent(lm=lm, output=list[Any], tools=[double], limits=Limits(max_steps=2)).invoke(prompt="?")
    assert isinstance(caught.value.cause, cause)
    assert len(lm.requests) == (1 if cause is OutputLimitError else 2)


async def test_the_end_of_a_stream_has_the_value() -> None:
    """Or the error."""
    events = [event async for event in agent([WRITTEN], output=Answer).stream(prompt="?")]
    assert events[-1].output == Answer(total=8)
    some = agent(["nothing"], output=Answer, limits=Limits(max_steps=1))
    events = [event async for event in some.stream(prompt="?")]
    assert (events[-1].output, events[-1].error.code) == (None, "mapping_failed")


async def test_a_hook_that_stops_the_run_gives_the_value_too() -> None:
    """Its text is read; without one, and with one that cannot be read, there is none."""

    def stop(step: Any) -> None:
        step.stop("Answer(total=1)")

    assert await agent(Echo(), output=Answer, before_step=stop).invoke(prompt="?") == Answer(total=1)
    with pytest.raises(MappingError):
        await agent(Echo(), output=Answer, before_step=lambda step: step.stop()).invoke(prompt="?")


async def test_a_hook_keeps_the_task_when_it_changes_the_instructions() -> None:
    """It sees and replaces the author's own words only."""
    seen = []

    def before(step: Any) -> None:
        seen.append(step.instructions)
        step.instructions = "Be kind."

    lm = StaticSequence([WRITTEN])
    await agent(lm, output=Answer, instructions="Be exact.", before_step=before).invoke(prompt="?")
    assert seen == ["Be exact."]
    assert lm.requests[0].messages[0].text.startswith("Be kind.\n\nWhen you have finished,")


async def test_a_stored_turn_keeps_the_text() -> None:
    """And its last answer was read before the turn ended; else the turn has failed."""
    good = agent(["Answer(total='x')", WRITTEN], output=Answer)
    turn = good.session("s").prompt("4?")
    assert (await turn.result).stop_reason == "end_turn"
    assert (await good.session("s").messages())[-1].text == WRITTEN
    assert await turn.output == Answer(total=8)
    bad = agent(["nothing"], output=Answer, limits=Limits(max_steps=1))
    turn = bad.session("s").prompt("4?")
    result = await turn.result
    assert (result.stop_reason, result.error and result.error.code) == ("error", "mapping_failed")
    with pytest.raises(MappingError):
        await turn.output


def test_a_type_that_cannot_be_one_is_refused() -> None:
    """When the agent is made."""
    with pytest.raises(InvalidValueError) as caught:
        Agent(lm=Echo(), output=print)
    assert caught.value.code == "invalid_agent"
    assert Agent(lm=Echo(), output=Schema(Answer)).output is not None
    assert issubclass(HookError, Exception)
