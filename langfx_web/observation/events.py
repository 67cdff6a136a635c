"""What an observer is told; `type` follows from the class name: `ObservedModelFirstOutput` is `model.first_output`.

Fields that a docstring calls content are None unless the observer captures content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentCall:
    """The tool call that a run was made in: of an agent inside another agent's tool."""

    session_id: str | None
    turn_id: str | None
    run_id: str | None
    execution_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedCall:
    """A tool call that a model asked for: its own id of it, and ours, which the events of the tool carry."""

    call_id: str
    execution_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedText:
    """Visible text of a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedThought:
    """Readable reasoning of a message, without what its provider put beside it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCall:
    """A tool call in a message; `arguments` are JSON text, a beginning of it where the event is truncated."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedMedia:
    """An image or the like in a message: what it is and how large (None: not here), never its bytes."""

    kind: str
    mime_type: str | None
    size: int | None


ObservedPart: TypeAlias = ObservedText | ObservedThought | ObservedCall | ObservedMedia
"""What a message was made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedMessage:
    """A message as an observer sees it; `call_id` and `is_error` belong to the result of a tool."""

    role: str
    parts: tuple[ObservedPart, ...]
    call_id: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTool:
    """A tool as a model was told of it; `input_schema` is whole JSON text, None where it does not fit."""

    name: str
    description: str
    input_schema: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What all events have: when it was, and where.

    `turn_id` is the message id of the prompt. `run_id` is new for every prompt and every time that a turn is resumed;
    steps and requests are counted in it, from 1. `parent` is set for an agent inside a tool of another one.
    `content_truncated` says that captured content was cut or left out.
    """

    at: datetime
    session_id: str | None = None
    turn_id: str | None = None
    run_id: str | None = None
    parent: ParentCall | None = None
    content_truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTurnStart(Observed):
    """A run of a turn begins. Content: `input`, the prompt."""

    type: ClassVar[Literal["turn.start"]] = "turn.start"
    agent: str
    provider: str
    model: str
    input: ObservedMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTurnEnd(Observed):
    """A run of a turn is over. Content: `output`, the answer, and `error_message`."""

    type: ClassVar[Literal["turn.end"]] = "turn.end"
    stop_reason: str
    usage: Usage | None = None
    error_code: str | None = None
    error_message: str | None = None
    output: ObservedMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedStepStart(Observed):
    """A step begins."""

    type: ClassVar[Literal["step.start"]] = "step.start"
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedStepEnd(Observed):
    """A step is over: its calls have their results, or there were none."""

    type: ClassVar[Literal["step.end"]] = "step.end"
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedModelRequest(Observed):
    """A model is asked; what is tried again is still the same request. `options` are those that are set.

    Content: `messages` (the newest of them), `instructions`, `tools`.
    """

    type: ClassVar[Literal["model.request"]] = "model.request"
    step: int
    request: int
    provider: str
    model: str
    options: Mapping[str, Any]
    message_count: int
    tool_count: int
    messages: tuple[ObservedMessage, ...] | None = None
    instructions: str | None = None
    tools: tuple[ObservedTool, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedModelFirstOutput(Observed):
    """The first piece of an answer is here."""

    type: ClassVar[Literal["model.first_output"]] = "model.first_output"
    step: int
    request: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedModelEnd(Observed):
    """A request is over, with an answer or with an error; `tool_calls` are what the answer asks for.

    Content: `output`, the answer, and `error_message`.
    """

    type: ClassVar[Literal["model.end"]] = "model.end"
    step: int
    request: int
    model: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    tool_calls: tuple[RequestedCall, ...] = ()
    error_code: str | None = None
    error_message: str | None = None
    output: ObservedMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedToolStart(Observed):
    """A tool begins to run, for the second time at least where `rerun`. Content: `arguments`, JSON text."""

    type: ClassVar[Literal["tool.start"]] = "tool.start"
    step: int
    call_id: str
    execution_id: str
    name: str
    checksum: str
    rerun: bool = False
    arguments: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedToolEnd(Observed):
    """A tool that began has run, failed or was interrupted. Content: `result`, what the model is told."""

    type: ClassVar[Literal["tool.end"]] = "tool.end"
    step: int
    call_id: str
    execution_id: str
    name: str
    is_error: bool
    duration_ms: int
    error_code: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedToolResult(Observed):
    """A result entered the conversation, be it of a call that was run or of one that was refused. Content: `result`."""

    type: ClassVar[Literal["tool.result"]] = "tool.result"
    step: int
    call_id: str
    execution_id: str
    name: str
    is_error: bool
    error_code: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedWaitStart(Observed):
    """A person is asked. Content: `request`.

    `kind` is `approval` or `question` for a gate of ours, `app` where the application asks by its own means.
    """

    type: ClassVar[Literal["wait.start"]] = "wait.start"
    wait_id: str
    kind: str
    execution_id: str | None = None
    request: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedWaitEnd(Observed):
    """The question is settled: `outcome` is `answered`, `declined`, `timeout`, `cancelled` or `failed`.

    Content: `answer`, as JSON text, to a question of the application's own.
    """

    type: ClassVar[Literal["wait.end"]] = "wait.end"
    wait_id: str
    kind: str
    outcome: str
    execution_id: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedJournalRestore(Observed):
    """A stored conversation was read; records `first_seq` to `last_seq`, `cursor` is its last line."""

    type: ClassVar[Literal["journal.restore"]] = "journal.restore"
    first_seq: int
    last_seq: int
    cursor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedJournalCommit(Observed):
    """Records `first_seq` to `last_seq`, if that is not less, and the lines up to `cursor` are stored."""

    type: ClassVar[Literal["journal.commit"]] = "journal.commit"
    first_seq: int
    last_seq: int
    cursor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedJournalError(Observed):
    """Nothing more can be stored of what runs here."""

    type: ClassVar[Literal["journal.error"]] = "journal.error"
    error_code: str


ObservedEvent: TypeAlias = (
    ObservedTurnStart
    | ObservedTurnEnd
    | ObservedStepStart
    | ObservedStepEnd
    | ObservedModelRequest
    | ObservedModelFirstOutput
    | ObservedModelEnd
    | ObservedToolStart
    | ObservedToolEnd
    | ObservedToolResult
    | ObservedWaitStart
    | ObservedWaitEnd
    | ObservedJournalRestore
    | ObservedJournalCommit
    | ObservedJournalError
)
"""Everything that an observer is told, in the order of its happening."""
