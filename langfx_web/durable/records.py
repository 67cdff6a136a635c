"""The records of a conversation's journal, as values; `codec` has their bytes.

Every record says what happened, never what follows from it; that is `fold`'s. `cursor` is the last line before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.events import ErrorInfo
from langfx_web.llms import ModelSettings
from langfx_web.messages import AIMessage, Part
from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a session object says about the turns it starts, stored with their inputs; None leaves it to the agent."""

    model: ModelSettings | None = None
    instructions: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Something a user wants, stored before anything is done about it; `origin` is the worker that stored it.

    `nonce` tells two submissions of one message id apart. A prompt has its `prompt`; a cancel may have a `target`,
    without which it means the turn that is open.
    """

    kind: ClassVar[Literal["input"]] = "input"
    type: Literal["prompt", "cancel"]
    message_id: str
    origin: str
    nonce: str
    prompt: str | dict[str, Any] | None = None
    target: str | None = None
    context: dict[str, Any] | None = None
    settings: Settings = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A worker has become the only writer."""

    kind: ClassVar[Literal["claim"]] = "claim"
    holder: str
    epoch: int
    cursor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart:
    """A waiting prompt is being answered; `tools` is the fingerprint of the tools it may use."""

    kind: ClassVar[Literal["turn_start"]] = "turn_start"
    message_id: str
    model: str | None
    tools: str
    cursor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call of a reply, by the id the model gave it, with the promises of its tool at that time."""

    execution_id: str
    call_id: str
    idempotent: bool
    writes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's complete answer."""

    kind: ClassVar[Literal["reply"]] = "reply"
    step: int
    message: AIMessage
    calls: tuple[RecordedCall, ...] = ()
    cursor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStart:
    """These calls may have taken effect from now on."""

    kind: ClassVar[Literal["call_start"]] = "call_start"
    execution_ids: tuple[str, ...]
    cursor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """What the model is told of a call."""

    kind: ClassVar[Literal["call_result"]] = "call_result"
    execution_id: str
    parts: tuple[Part, ...]
    is_error: bool = False
    cursor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """A turn is over, or a waiting prompt will not be answered.

    `partial` is the text of a reply that did not come to its end, `results` answer the calls that had none.
    """

    kind: ClassVar[Literal["turn_end"]] = "turn_end"
    message_id: str
    stop_reason: str
    usage: Usage | None = None
    error: ErrorInfo | None = None
    partial: str = ""
    results: tuple[CallResult, ...] = ()
    cursor: int = 0


Record: TypeAlias = Input | Claim | TurnStart | Reply | CallStart | CallResult | TurnEnd
