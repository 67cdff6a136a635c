"""A model whose answers are data: what a tester writes in JSON, in Python or on a page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langfx_web import errors
from langfx_web.errors import InvalidArgumentError, LMError
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
from langfx_web.testing.models import next_of
from langfx_web.usage import Usage

ScriptedAnswer: TypeAlias = str | Mapping[str, Any]
"""A text, or an object of the fields of `Answer` in camelCase."""

_WORDS = re.compile(r"\s*\S+\s*")
_FINISH = ("stop", "length", "content_filter", "pause")
_ERRORS: dict[str, type[LMError]] = {
    kind.default_code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, LMError)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer to one request: a thought, then text, then tool calls, then how it ends.

    `pace` is milliseconds before each word. `tool_calls` have `name`, `input` and, if it matters, `id`. It ends with
    `finish` (`stop` unless told), with `error` (`{code, message, retryAfter?}`, after what came before it), or, with
    `cut`, as a stream that breaks off. `usage` has token counts by their names in results.
    """

    text: str = ""
    thought: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    pace: float = 0.0
    finish: str = "stop"
    error: Mapping[str, Any] | None = None
    cut: bool = False
    usage: Mapping[str, Any] | None = None

    @staticmethod
    def of(given: ScriptedAnswer, place: int) -> Answer:
        """Read an answer as it was written; `invalid_argument` names the place and what is wrong there."""
        fields = {"text": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else None
        if fields is None:
            raise _invalid(place, "must be a text or an object")
        if "toolCalls" in fields:
            fields["tool_calls"] = fields.pop("toolCalls")
        try:
            answer = Answer(**fields)
        except TypeError as error:
            raise _invalid(place, str(error).partition("__init__() ")[2] or str(error)) from None
        if not all(isinstance(call, Mapping) and call.get("name") for call in answer.tool_calls):
            raise _invalid(place, "each of toolCalls needs a name")
        if answer.finish not in _FINISH:
            raise _invalid(place, f"finish is one of {', '.join(_FINISH)}")
        return answer


class Script(LanguageModel):
    """Answers one request after another from a script; past its end `FakeExhaustedError`, unless it is to `repeat`.

    `requests` lists what it was asked, in order.
    """

    def __init__(self, answers: Sequence[ScriptedAnswer], *, repeat: bool = False, **options: Any) -> None:
        super().__init__(**{"model": "Script", **options})
        self.requests: list[ModelRequest] = []
        self._answers = [Answer.of(given, place) for place, given in enumerate(answers)]
        self._repeat = repeat

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        self.requests.append(request)
        number = len(self.requests)
        answer = next_of(self._answers, number, repeat=self._repeat)
        for delta in _deltas(answer, number):
            if answer.pace and isinstance(delta, (TextPiece, ThoughtPiece, CallText)):
                await self.clock.sleep(answer.pace / 1000)
            yield delta
        if answer.error is not None:
            raise _error(answer.error)
        if not answer.cut:
            reason: Any = "tool_calls" if answer.tool_calls and answer.finish == "stop" else answer.finish
            yield Finish(reason=reason, raw=reason)


def _deltas(answer: Answer, number: int) -> Iterator[Delta]:
    if answer.thought:
        yield from (ThoughtPiece(piece) for piece in _pieces(answer.thought, answer.pace))
        yield ThoughtEnd(payload=None, tag="")
    yield from (TextPiece(piece) for piece in _pieces(answer.text, answer.pace))
    for place, call in enumerate(answer.tool_calls, 1):
        yield CallStart(key=place, id=call.get("id") or f"call_{number}_{place}", name=call["name"])
        yield from (CallText(key=place, text=piece) for piece in _pieces(dumps(call.get("input") or {}), answer.pace))
        yield CallEnd(key=place)
    if answer.usage is not None:
        yield UsageReport(usage=Usage.from_plain(answer.usage))


def _pieces(text: str, pace: float) -> list[str]:
    """The words of a text, blanks with the word before them; without a pace, all in one."""
    if not pace:
        return [text] if text else []
    return _WORDS.findall(text) or ([text] if text else [])


def _error(given: Mapping[str, Any]) -> LMError:
    code = given.get("code", "lm_error")
    kind = _ERRORS.get(code, LMError)
    return kind(given.get("message") or f"scripted: {code}", code=code, retry_after=given.get("retryAfter"))


def _invalid(place: int, what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"scripted answer {place}: {what}", details={"option": "provider", "place": place})
