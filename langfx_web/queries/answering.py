"""Asking until an answer can be read: what is wrong with one is told to the model, so often as the caller allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import IncompleteGenerationError, InvalidArgumentError, MappingError, OutputLimitError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, ComplexMessage, Message, ToolCall, UserMessage
from langfx_web.schemas import pydantic_arrived
from langfx_web.usage import total

LONGEST_REASON = 1000
"""Characters that a model is told about what was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a whole answer becomes a value: `parse`, and what the caller does before and after it.

    A text that is itself the value is not typed, and need not wait for pydantic.
    """

    parse: Callable[[AIMessage], Any]
    is_typed: bool = True
    before: Callable[[AIMessage], AIMessage] | None = None
    after: Callable[[Any], Any] | None = None

    def read(self, answer: AIMessage) -> AIMessage:
        """The answer with its value as `.result`, made from itself; `MappingError` where any step raises."""
        hook = "postprocess_response"
        try:
            response = self.before(answer) if self.before else answer
            if not isinstance(response, AIMessage):
                raise TypeError(f"it returned a {type(response).__name__}, not an AIMessage")
            hook = "parse_result"
            value = self.parse(response)
            hook = "postprocess_result"
            value = self.after(value) if self.after else value
        except Exception as cause:
            raise MappingError.of(cause, answer, hook=hook) from cause
        return response.replace(result=value, source=answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """How often a model may correct itself, which one does it, and what the value is called in front of it."""

    autofix: int = 0
    lm: LanguageModel | None = None
    output_title: str = "JSON"

    def __post_init__(self) -> None:
        if not isinstance(self.autofix, int) or isinstance(self.autofix, bool) or self.autofix < 0:
            raise InvalidArgumentError(
                f"autofix must be an int of at least 0, not {self.autofix!r}", details={"option": "autofix"}
            )
        if self.lm is not None:
            refuse_other(self.lm, "autofix_lm")

    def request(self, error: MappingError) -> UserMessage:
        """What the model is told."""
        return UserMessage(
            f"That is not a valid {self.output_title}: {reason_of(error)}. "
            "Write the whole corrected value again and nothing else."
        )


def refuse_other(lm: object, option: str) -> None:
    """`invalid_argument` for what is no model, such as the name of one."""
    if not isinstance(lm, LanguageModel):
        raise InvalidArgumentError(
            f"{option} must be a model, such as lf.llms.Anthropic(…), not {type(lm).__name__}",
            details={"option": option},
        )


async def answered(
    lm: LanguageModel, message: Message, options: Mapping[str, Any], *, reading: Reading, repairs: Repairs
) -> AIMessage:
    """The first answer that can be read, with its value as `.result` and the cost of all requests as `.usage`.

    After the last repair the newest `MappingError` is raised. Errors of the model, and of hooks, are not repaired.
    """
    answers: list[AIMessage] = []
    while True:
        answer = finished(await lm(message, **options))
        answers.append(answer)
        if reading.is_typed:
            await pydantic_arrived()
        try:
            read = reading.read(answer)
        except MappingError as error:
            error.attempts = error.details["attempts"] = len(answers)
            error.cache_invalidation_error = await _evicted(lm, answer)
            if error.attempts > repairs.autofix or not can_repair(error):
                raise
            message = ComplexMessage(message, _without_calls(answer), repairs.request(error))
            lm = repairs.lm or lm
        else:
            return read if len(answers) == 1 else read.replace(usage=total(each.usage for each in answers))


def finished(answer: AIMessage) -> AIMessage:
    """The answer, unless the provider paused it: half an answer is never read (`incomplete_generation`)."""
    if answer.finish_reason == "pause":
        raise IncompleteGenerationError(
            "the answer was paused before its end",
            retryable=False,
            partial=answer,
            usage=answer.usage,
            finish_reason=answer.finish_reason,
            raw_finish_reason=answer.raw_finish_reason,
        )
    return answer


def reason_of(error: MappingError) -> str:
    """What was wrong with an answer, all of it as far as there is room, for the model that wrote it."""
    cause = error.cause
    problems = [f"{'.'.join(map(str, item['path'])) or 'value'}: {item['message']}" for item in error.problems]
    reason = "; ".join(problems) if len(problems) > 1 else str(cause)
    if error.offset is not None and error.excerpt:
        reason += f", at {error.excerpt[:80]!r}"
    return reason.rstrip(".")[:LONGEST_REASON]


def can_repair(error: MappingError) -> bool:
    """Whether telling the model of it can help."""
    return error.hook is None and not isinstance(error.cause, OutputLimitError)


def _without_calls(answer: AIMessage) -> AIMessage:
    """A call that nobody answers could not be sent back."""
    return answer.replace(parts=[part for part in answer.parts if not isinstance(part, ToolCall)])


async def _evicted(lm: LanguageModel, answer: AIMessage) -> Exception | None:
    """Remove the answer from the model's cache; what went wrong with that is told, and hides nothing."""
    key = answer.metadata.get("cache_key")
    if key is None:
        return None
    try:
        await lm.forget(key)
    except Exception as error:  # noqa: BLE001  # the caller is told of it
        return error
    return None
