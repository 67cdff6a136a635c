"""What a model's answer is made of while it arrives: the vocabulary of the one streaming hook.

A plain str is visible text of the first candidate. Everything else is one of the small values here. `index` is the
candidate a delta belongs to, `key` names a tool call within the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from langfx_web.messages import Part
from langfx_web.usage import Usage

FinishReason: TypeAlias = Literal["stop", "tool_calls", "pause", "length", "content_filter", "malformed", "other"]

Failure: TypeAlias = Literal["context", "unfinished"]
"""Why an ending is a failure where its finish reason does not say so: no room left, or a word for unfinished work."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Visible text."""

    text: str
    index: int = 0


@dataclass(frozen=True, slots=True)
class ThoughtPiece:
    """Readable reasoning."""

    text: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtEnd:
    """The reasoning under way is complete: its opaque payload, and the tag of the wire that can take it back.

    `is_output` marks an opaque item that is no reasoning, such as a server's tool result: an answer of it is not empty.
    """

    payload: Any
    tag: str
    is_output: bool = False
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStart:
    """A tool call begins; sent once its name is known. An empty id is replaced by one made of the answer.

    `place` is for wires that number calls: the message lists them in this order, whichever came first.
    """

    key: str | int
    id: str
    name: str
    place: int | None = None
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """A piece of a tool call's argument text."""

    key: str | int
    text: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnd:
    """A tool call is complete; `args` where the wire has them as an object, else they are read from the text."""

    key: str | int
    args: Mapping[str, Any] | None = None
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WholePart:
    """A part that came in one piece."""

    part: Part
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """What follows is a part of its own, even if it is of the same kind."""

    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalText:
    """Words of a refusal."""

    text: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """What the request has cost so far; the last report counts."""

    usage: Usage


class WireUsage:
    """A report in a wire's own words, which `read` turns into a usage if it is the last: some come with each piece."""

    __slots__ = ("_read", "_wire")

    def __init__(self, wire: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Usage]) -> None:
        self._wire = wire
        self._read = read

    @property
    def usage(self) -> Usage:
        """What the request has cost so far."""
        return self._read(self._wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """Facts about the answer; of `metadata` the last value counts, lists are joined.

    With an `index`, the metadata is of that candidate alone.
    """

    response_id: str | None = None
    model: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """A candidate has ended; an answer without one was cut. `raw` is the provider's own word."""

    reason: FinishReason
    raw: str | None = None
    failure: Failure | None = None
    index: int = 0


@dataclass(frozen=True, slots=True)
class Resent:
    """The request had to be sent once more within this attempt."""


Delta: TypeAlias = (
    str
    | TextPiece
    | ThoughtPiece
    | ThoughtEnd
    | CallStart
    | CallText
    | CallEnd
    | WholePart
    | Boundary
    | RefusalText
    | UsageReport
    | WireUsage
    | Info
    | Finish
    | Resent
)
