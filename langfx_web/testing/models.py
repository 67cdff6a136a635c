"""Scripted models: real `LanguageModel`s without a provider, for tests and offline demos."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import FakeExhaustedError
from langfx_web.json_text import dumps
from langfx_web.llms import LanguageModel, ModelRequest
from langfx_web.llms.delta import (
    CallEnd,
    CallStart,
    CallText,
    Delta,
    Finish,
    TextPiece,
    ThoughtEnd,
    ThoughtPiece,
    UsageReport,
)
from langfx_web.messages import AIMessage, Text, Thought, ToolCall, UserMessage

Answer: TypeAlias = str | AIMessage | BaseException | Callable[[ModelRequest], Any]
"""A text, a whole message (calls, thoughts, usage, finish reason), an error to raise, or a function of the request."""


Value = TypeVar("Value")


class ScriptedModel(LanguageModel):
    """What the fakes share: `requests` lists what they were asked, in order.

    `chunk_size` is the characters per chunk (None: one chunk per part), `delay` the seconds before each chunk,
    `fail_after=(chunks, error)` raises in the middle of every answer. Usage is only what an answer's message has.
    """

    def __init__(
        self,
        *,
        chunk_size: int | None = None,
        delay: float = 0.0,
        fail_after: tuple[int, BaseException] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        **options: Any,
    ) -> None:
        super().__init__(**{"model": type(self).__name__, **options}, clock=clock)
        self.requests: list[ModelRequest] = []
        self._chunk_size = chunk_size
        self._delay = delay
        self._fail_after = fail_after

    @abstractmethod
    def _answer(self, request: ModelRequest) -> Answer:
        """What to say to this request."""

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        self.requests.append(request)
        answer = self._answer(request)
        if callable(answer) and not isinstance(answer, (str, AIMessage, BaseException)):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        message = AIMessage(answer) if isinstance(answer, str) else answer
        if not isinstance(message, AIMessage):
            raise TypeError(f"a scripted answer must be a str, an AIMessage or an error, not {message!r}")
        for number, delta in enumerate(_deltas(message, self._chunk_size)):
            if self._fail_after is not None and number == self._fail_after[0]:
                raise self._fail_after[1]
            if self._delay and isinstance(delta, (TextPiece, ThoughtPiece, CallText)):
                await self.clock.sleep(self._delay)
            yield delta


class Echo(ScriptedModel):
    """Says what the user said last, after a prefix."""

    def __init__(self, prefix: str = "", **options: Any) -> None:
        super().__init__(**options)
        self._prefix = prefix

    def _answer(self, request: ModelRequest) -> Answer:
        said = [message.text for message in request.messages if isinstance(message, UserMessage)]
        return self._prefix + (said[-1] if said else "")


class StaticResponse(ScriptedModel):
    """Always gives the same answer."""

    def __init__(self, response: Answer, **options: Any) -> None:
        super().__init__(**options)
        self._response = response

    def _answer(self, request: ModelRequest) -> Answer:
        return self._response


class StaticSequence(ScriptedModel):
    """Gives one answer after another; past the last one `FakeExhaustedError`, unless it is to `repeat`."""

    def __init__(self, responses: Sequence[Answer], *, repeat: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._responses = list(responses)
        self._repeat = repeat

    @property
    def left_over(self) -> list[Answer]:
        """The answers that nobody has asked for yet."""
        return [] if self._repeat else self._responses[len(self.requests) :]

    def _answer(self, request: ModelRequest) -> Answer:
        return next_of(self._responses, len(self.requests), repeat=self._repeat)


def next_of(answers: Sequence[Value], number: int, *, repeat: bool) -> Value:
    """The answer to request `number` (from 1); `FakeExhaustedError` past the last one, unless they `repeat`."""
    if number > len(answers) and not (repeat and answers):
        raise FakeExhaustedError(f"request {number} came, and the script has {len(answers)} answers")
    return answers[(number - 1) % len(answers)]


def _deltas(message: AIMessage, chunk_size: int | None) -> Iterator[Delta]:
    for index, part in enumerate(message.parts):
        if isinstance(part, Text):
            yield from (TextPiece(piece) for piece in _cut(part.text, chunk_size))
        elif isinstance(part, Thought):
            yield from (ThoughtPiece(piece) for piece in _cut(part.content, chunk_size))
            yield ThoughtEnd(payload=part.payload, tag=part.replay_compatibility or "")
        elif isinstance(part, ToolCall):
            text = part.raw_args if part.args is None else dumps(part.args)
            yield CallStart(key=index, id=part.id, name=part.name)
            yield from (CallText(key=index, text=piece) for piece in _cut(text or "", chunk_size))
            yield CallEnd(key=index)
    if message.usage is not None:
        yield UsageReport(usage=message.usage)
    reason: Any = message.finish_reason or ("tool_calls" if message.tool_calls else "stop")
    yield Finish(reason=reason, raw=message.raw_finish_reason or reason)


def _cut(text: str, size: int | None) -> Iterable[str]:
    if size is None:
        return [text] if text else []
    return (text[at : at + size] for at in range(0, len(text), size))
