"""What a caller may set for an answer, and what comes back: options, chunks, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

from langfx_web.events import ToolCallProgress
from langfx_web.llms import kinds
from langfx_web.messages import AIMessage, Part
from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    """How to answer; what is None is not sent. `extras` is merged into the wire's request body last."""

    temperature: float | None = None
    max_tokens: int | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] | None = None
    random_seed: int | None = None
    n: int = 1
    logprobs: bool | None = None
    top_logprobs: int | None = None
    reasoning_effort: str | None = None
    max_thinking_tokens: int | None = None
    thoughts: bool | None = None
    parallel_tool_calls: bool | None = None
    service_tier: str | None = None
    extras: Mapping[str, Any] | None = None

    def merged(self, changes: Mapping[str, Any]) -> SamplingOptions:
        """These options with some changed; None removes one, `extras` merge.

        An unknown name is a `TypeError`, a value of the wrong kind `invalid_argument`.
        """
        if not changes:
            return self
        unknown = sorted(changes.keys() - _NAMES)
        if unknown:
            raise TypeError(f"there is no option {unknown[0]!r}; the options are {', '.join(sorted(_NAMES))}")
        values = {name: kinds.sampling(name, value) for name, value in changes.items()}
        if values.get("n", 1) is None:
            values["n"] = 1
        if self.extras and values.get("extras"):
            values["extras"] = merge(self.extras, values["extras"])
        return replace(self, **values)


_NAMES = frozenset(item.name for item in fields(SamplingOptions))


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Both objects in one: objects under the same key merge, any other value of `changes` replaces."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


# Not frozen, as frozen dataclasses take three times as long to make, and one of these is made per delta of a stream.
@dataclass(slots=True)
class ChunkDelta:
    """What one chunk adds: exactly one of these, or nothing on a final chunk. A tool call is shown, not to be run."""

    text: str = ""
    thought: str = ""
    tool_call: ToolCallProgress | None = None
    part: Part | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a candidate ended, and its whole message."""

    message: AIMessage
    finish_reason: str
    raw_finish_reason: str | None
    usage: Usage | None


class Growing(Protocol):
    """An answer under way."""

    def message(self, count: int) -> AIMessage:
        """The message that its first so many entries make."""


_NOTHING = ChunkDelta()


class StreamChunk:
    """One step of a streamed answer. The final chunk of each candidate comes last, and only of a success."""

    __slots__ = ("_answer", "_count", "_delta", "_ending", "_index")

    def __init__(
        self, index: int, delta: ChunkDelta | None, answer: Growing, count: int, ending: Ending | None = None
    ) -> None:
        self._index = index
        self._delta = delta
        self._answer = answer
        self._count = count
        self._ending = ending

    @property
    def index(self) -> int:
        """The candidate this belongs to."""
        return self._index

    @property
    def delta(self) -> ChunkDelta:
        """What is new."""
        return self._delta or _NOTHING

    @property
    def aggregated(self) -> AIMessage:
        """The message up to this chunk; built when it is read."""
        return self._ending.message if self._ending else self._answer.message(self._count)

    @property
    def final(self) -> bool:
        """Whether this candidate is complete; only now may its tool calls run."""
        return self._ending is not None

    @property
    def finish_reason(self) -> str | None:
        """Why the answer ended, on the final chunk."""
        return self._ending.finish_reason if self._ending else None

    @property
    def raw_finish_reason(self) -> str | None:
        """The provider's own word for it, on the final chunk."""
        return self._ending.raw_finish_reason if self._ending else None

    @property
    def usage(self) -> Usage | None:
        """What the answer cost, on the final chunk."""
        return self._ending.usage if self._ending else None

    def __repr__(self) -> str:
        if self._ending:
            return f"StreamChunk({self._index}, final, {self._ending.finish_reason})"
        return f"StreamChunk({self._index}, {self._delta})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One candidate of a sampled answer."""

    response: AIMessage
    score: float | None = None
    logprobs: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingResult:
    """All candidates for one prompt. A kept answer is `is_cached`: it cost nothing now, and `cached_usage` once."""

    samples: Sequence[Sample]
    usage: Usage | None = None
    is_cached: bool = False
    cached_usage: Usage | None = None
    cache_key: str | None = None
    model: str | None = None
    response_id: str | None = None
