"""Scripted models: real `LanguageModel`s without a provider, for tests and offline demos.

    lm = StaticMapping({"2 + 2?": "4", "2 + 3?": "5"}, chunk_size=1)
    assert await lf.query("{{a}} + {{b}}?", int, lm=lm, vars={"a": 2, "b": 3}) == 5
    assert len(lm.requests) == 1

A test gives one where a model goes, asks, and looks at `requests`. Nothing is invented: no usage, no score, no waiting
but what the test says.
"""

from __future__ import annotations

import inspect
import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import FakeExhaustedError, FakeMissError, InvalidArgumentError
from langfx_web.json_text import dumps
from langfx_web.llms import LanguageModel, ModelRequest
from langfx_web.llms.delta import (
    Boundary,
    CallEnd,
    CallStart,
    CallText,
    Delta,
    Finish,
    Info,
    TextPiece,
    ThoughtEnd,
    ThoughtPiece,
    UsageReport,
    WholePart,
)
from langfx_web.messages import AIMessage, Part, Text, Thought, ToolCall, UserMessage
from langfx_web.usage import Usage

Answer: TypeAlias = str | AIMessage | BaseException | Callable[[ModelRequest], Any]
"""A text, a whole message (calls, thoughts, usage, finish reason), an error to raise, or a function of the request.

A function, plain or async, gives one of the others.
"""

Value = TypeVar("Value")

_SHOWN = (TextPiece, ThoughtPiece, CallStart, CallText, CallEnd, WholePart)
_LABELLED = (
    r"(?:\A|\n\n)(?:REQUEST:\n((?:(?:  .*)?\n)*)\nOUTPUT PYTHON OBJECT|INPUT_OBJECT:\n((?:(?:  .*)?\n)*)\nJSON):\Z"
)
"""A typed query's request, in its two protocols."""


class ScriptedModel(LanguageModel):
    """What the fakes share: `requests` lists what they were asked, in order, each attempt of a retry by itself.

    `chunk_size` is the characters per chunk (None: one chunk per part), `delay` the seconds of `clock` before each of
    them. `fail_after=(chunks, error)` raises once so many chunks of an answer were shown, at the latest at its end.
    `usage` is what an answer costs whose message has no usage of its own; None is not known. `capabilities` names what
    the model cannot do, such as `{"native_schema": False}`; other options are those of every model.
    """

    def __init__(
        self,
        *,
        chunk_size: int | None = None,
        delay: float = 0.0,
        fail_after: tuple[int, BaseException] | None = None,
        usage: Usage | None = None,
        clock: Clock = SYSTEM_CLOCK,
        **options: Any,
    ) -> None:
        super().__init__(**{"model": type(self).__name__, **options}, clock=clock)
        if chunk_size is not None and chunk_size < 1:
            raise InvalidArgumentError(
                f"chunk_size must be 1 or more, not {chunk_size!r}", details={"option": "chunk_size"}
            )
        self.requests: list[ModelRequest] = []
        self._chunk_size = chunk_size
        self._delay = delay
        self._fail_after = fail_after
        self._usage = usage

    @abstractmethod
    def _answer(self, request: ModelRequest) -> Answer:
        """What to say to this request."""

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Delta | Sequence[Delta]]:
        self.requests.append(request)
        message = await self._message(request)
        deltas = _deltas(message, self._chunk_size, message.usage or self._usage)
        if self._chunk_size is None and not self._delay and self._fail_after is None:
            yield list(deltas)
            return
        shown = 0
        for delta in deltas:
            if self._fail_after is not None and (shown == self._fail_after[0] or isinstance(delta, Finish)):
                raise _anew(self._fail_after[1])
            if self._delay and isinstance(delta, (TextPiece, ThoughtPiece, CallText)):
                await self.clock.sleep(self._delay)
            shown += isinstance(delta, _SHOWN)
            yield delta

    async def _message(self, request: ModelRequest) -> AIMessage:
        answer = self._answer(request)
        if callable(answer):
            given = answer(request)
            answer = _checked(await given if inspect.isawaitable(given) else given, "what a function returned")
        if isinstance(answer, BaseException):
            raise _anew(answer)
        return AIMessage(answer) if isinstance(answer, str) else answer


class Echo(ScriptedModel):
    """Says what the user said last, after a prefix."""

    def __init__(self, prefix: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._prefix = prefix

    def _answer(self, request: ModelRequest) -> Answer:
        return self._prefix + _last_said(request)


class StaticResponse(ScriptedModel):
    """Always gives the same answer."""

    def __init__(self, response: Answer, **options: Any) -> None:
        super().__init__(**options)
        self._response = _scripted(response, "the response")

    def _answer(self, request: ModelRequest) -> Answer:
        return self._response


class StaticSequence(ScriptedModel):
    """Gives one answer after another; past the last one `FakeExhaustedError`, unless it is to `repeat`."""

    def __init__(self, responses: Sequence[Answer], *, repeat: bool = False, **options: Any) -> None:
        super().__init__(**options)
        # A text is a sequence of texts too, and hardly ever meant as one.
        if isinstance(responses, str):
            raise InvalidArgumentError(
                "a sequence takes a list of answers, not one text", details={"option": "responses"}
            )
        self._responses = [_scripted(given, f"response {place}") for place, given in enumerate(responses)]
        self._repeat = repeat

    @property
    def left_over(self) -> list[Answer]:
        """The answers that nobody has asked for yet."""
        return [] if self._repeat else self._responses[len(self.requests) :]

    def _answer(self, request: ModelRequest) -> Answer:
        return next_of(self._responses, len(self.requests), repeat=self._repeat)


class StaticMapping(ScriptedModel):
    """Answers by what the user said last; `FakeMissError`, which lists the known texts, if it is none of them.

    For a typed query that is the prompt alone, without the labels around it and the context before it.
    """

    def __init__(self, mapping: Mapping[str, Answer], **options: Any) -> None:
        super().__init__(**options)
        self._mapping = {said: _scripted(given, f"the answer to {said!r}") for said, given in mapping.items()}

    @property
    def left_over(self) -> list[str]:
        """The texts that nobody has said yet."""
        heard = {_said(request) for request in self.requests}
        return [said for said in self._mapping if said not in heard]

    def _answer(self, request: ModelRequest) -> Answer:
        said = _said(request)
        if said not in self._mapping:
            raise FakeMissError(said, known=tuple(self._mapping))
        return self._mapping[said]


def _last_said(request: ModelRequest) -> str:
    """The text of the last user message, "" without one."""
    return next((message.text for message in reversed(request.messages) if isinstance(message, UserMessage)), "")


def _said(request: ModelRequest) -> str:
    """The same, of a labelled request its body."""
    text = _last_said(request)
    found = re.search(_LABELLED, text)
    if found is None:
        return text
    lines = found[found.lastindex or 0].removesuffix("\n").split("\n")
    return "\n".join(line.removeprefix("  ") for line in lines)


def next_of(answers: Sequence[Value], number: int, *, repeat: bool) -> Value:
    """The answer to request `number` (from 1); `FakeExhaustedError` past the last one, unless they `repeat`."""
    if number > len(answers) and not (repeat and answers):
        raise FakeExhaustedError(f"request {number} came, and the script has {len(answers)} answers")
    return answers[(number - 1) % len(answers)]


def _scripted(answer: Answer, what: str) -> Answer:
    """The answer, if a script may hold it; `invalid_argument` for what is none."""
    return answer if callable(answer) and not isinstance(answer, type) else _checked(answer, what)


def _checked(answer: Any, what: str) -> str | AIMessage | BaseException:
    if not isinstance(answer, (str, AIMessage, BaseException)):
        shown = f"the class {answer.__name__}" if isinstance(answer, type) else f"a {type(answer).__name__}"
        raise InvalidArgumentError(
            f"{what} must be a str, an AIMessage or an error, and is {shown}", details={"option": what}
        )
    return answer


def _anew(error: BaseException) -> BaseException:
    """An error that may have been raised before, without the places where it was."""
    return error.with_traceback(None)


def _deltas(message: AIMessage, chunk_size: int | None, usage: Usage | None) -> Iterator[Delta]:
    for place, part in enumerate(message.parts):
        if place and isinstance(part, Text):
            # Without it, two texts in a row would be put together as one.
            yield Boundary()
        yield from _part_deltas(part, place, chunk_size)
    if message.response_id or message.model or message.metadata:
        yield Info(response_id=message.response_id, model=message.model, metadata=message.metadata)
    if usage is not None:
        yield UsageReport(usage=usage)
    reason: Any = message.finish_reason or ("tool_calls" if message.tool_calls else "stop")
    yield Finish(reason=reason, raw=message.raw_finish_reason or reason)


def _part_deltas(part: Part, place: int, chunk_size: int | None) -> Iterator[Delta]:
    match part:
        case Text(text=text):
            yield from map(TextPiece, _cut(text, chunk_size))
        case Thought():
            yield from map(ThoughtPiece, _cut(part.content, chunk_size))
            yield ThoughtEnd(payload=part.payload, tag=part.replay_compatibility or "")
        case ToolCall():
            text = dumps(part.args) if part.args is not None else part.raw_args or ""
            yield CallStart(key=place, id=part.id, name=part.name)
            yield from (CallText(key=place, text=piece) for piece in _cut(text, chunk_size))
            yield CallEnd(key=place)
        case _:
            yield WholePart(part=part)


def _cut(text: str, size: int | None) -> Iterator[str]:
    step = size or max(len(text), 1)
    return (text[start : start + step] for start in range(0, len(text), step))
