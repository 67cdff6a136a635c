"""What a model is asked: the conversation, tools, schema and options; and what may be asked of which model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeAlias

from langfx_web.errors import InvalidArgumentError, LMInputError, UnsupportedCapabilityError
from langfx_web.llms import kinds
from langfx_web.llms.sampling import SamplingOptions
from langfx_web.messages import (
    AIMessage,
    ComplexMessage,
    Message,
    Part,
    SystemMessage,
    ToolCall,
    ToolChoice,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)

Prompt: TypeAlias = str | Message | Part | Sequence[Any]
"""A str (literal text), a message, a transcript, or a sequence of messages or of parts."""

THOUGHTS_DROPPED = "thoughts_dropped"
"""In a message's metadata: the provider took the conversation only without some of its thoughts."""

# Each request looks through the whole conversation: what is true of nearly all messages is asked of them in C.
_SAID = frozenset({SystemMessage, UserMessage, AIMessage, ToolMessage})
_METADATA = attrgetter("metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a model can take and give; the sizes in tokens, None where not known."""

    images: bool = True
    pdf: bool = True
    audio: bool = True
    video: bool = True
    tools: bool = True
    native_schema: bool = True
    candidates: bool = True
    prefill: bool = True
    thoughts: bool = True
    context_window: int | None = None
    max_output_tokens: int | None = None
    efforts: Sequence[str] | None = None
    fast: bool | None = None
    ultrafast: bool | None = None

    def __post_init__(self) -> None:
        checks = {"context_window": kinds.count, "max_output_tokens": kinds.count, "efforts": kinds.words}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None or item.default is not None:
                checks.get(item.name, kinds.flag)(item.name, value)

    def updated(self, changes: Capabilities | Mapping[str, Any] | None) -> Capabilities:
        """These with some changed; an unknown name is a `TypeError`."""
        if changes is None or isinstance(changes, Capabilities):
            return changes or self
        unknown = sorted(kinds.fields("capabilities", changes).keys() - {item.name for item in fields(self)})
        if unknown:
            raise TypeError(f"there is no capability {unknown[0]!r}")
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request, the same for every wire. `drop_thoughts` asks the wire to send it so that thoughts may be lost."""

    messages: tuple[Message, ...]
    tools: tuple[ToolDeclaration, ...] = ()
    tool_choice: ToolChoice | None = None
    schema: Mapping[str, Any] | None = None
    options: SamplingOptions = field(default_factory=SamplingOptions)
    drop_thoughts: bool = False

    def __post_init__(self) -> None:
        for tool in self.tools:
            if not isinstance(tool, ToolDeclaration):
                raise kinds.wrong("tools", "ToolDeclarations", tool)
        if self.schema is not None:
            kinds.fields("schema", self.schema)
        if self.tool_choice is not None:
            kinds.text("tool_choice", self.tool_choice)
        names = {tool.name for tool in self.tools}
        if self.tool_choice not in {None, "auto", "none", "any", *names}:
            raise InvalidArgumentError(
                f"tool_choice is {self.tool_choice!r}, which is not among the tools given",
                details={"option": "tool_choice"},
            )


def transcript(prompt: Prompt) -> tuple[Message, ...]:
    """The messages of a prompt in any of its forms."""
    if isinstance(prompt, (list, tuple)) and prompt and set(map(type, prompt)) <= _SAID:
        return tuple(prompt)
    message = Message.of(prompt)
    return message.messages if isinstance(message, ComplexMessage) else (message,)


def thoughts_were_dropped(messages: Sequence[Message]) -> bool:
    """Whether this conversation was once taken only without some of its thoughts."""
    return any(metadata.get(THOUGHTS_DROPPED) is True for metadata in filter(None, map(_METADATA, messages)))


def check(request: ModelRequest, capabilities: Capabilities) -> None:
    """Refuse what the model cannot do (`unsupported_capability`), and a conversation that no wire takes."""
    wanted = {
        "tools": bool(request.tools),
        "native_schema": request.schema is not None,
        "candidates": request.options.n > 1,
        "prefill": bool(request.messages) and isinstance(request.messages[-1], AIMessage),
    }
    for name, needed in wanted.items():
        if needed and not getattr(capabilities, name):
            raise UnsupportedCapabilityError(f"this model does not support {name}", details={"capability": name})
    check_order(request.messages)


def check_order(messages: Sequence[Message]) -> None:
    """Each call is answered before anybody else speaks, and each tool result answers an open call."""
    # All of a long conversation is looked at before each request, and hardly ever is anything out of its place.
    if not _stand_in_call_order(messages):
        _check_answers(messages)
    if not any(message.role != "system" for message in messages):
        raise LMInputError("there is nothing to answer: the conversation has no message but system ones")


def _stand_in_call_order(messages: Sequence[Message]) -> bool:
    """Whether the results of each answer's calls are right behind it, in the order of the calls."""
    calls: Sequence[ToolCall] = ()
    told = 0
    for message in messages:
        if not isinstance(message, ToolMessage):
            if told < len(calls):
                return False
            calls, told = message.tool_calls, 0
        elif told < len(calls) and calls[told].id == message.call_id:
            told += 1
        else:
            return False
    return told == len(calls)


def _check_answers(messages: Sequence[Message]) -> None:
    """The same whatever the order of the results, and with a word for what is wrong."""
    open_calls: dict[str, str] = {}
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if open_calls.pop(message.call_id, None) is None:
                raise LMInputError(f"message {place} answers {message.call_id!r}, which is no open tool call")
            continue
        if open_calls:
            raise LMInputError(f"{_named(open_calls)} without a result before message {place} ({message.role})")
        open_calls = {call.id: call.name for call in message.tool_calls}
    if open_calls:
        raise LMInputError(f"{_named(open_calls)} without a result at the end of the conversation")


def _named(calls: Mapping[str, str]) -> str:
    return "tool calls " + ", ".join(f"{name!r} ({id!r})" for id, name in calls.items())


def results_in_call_order(messages: Sequence[Message]) -> list[Message]:
    """The conversation with the results of each step in the order of the calls they answer."""
    ordered: list[Message] = []
    order: list[str] = []
    for _, run in groupby(messages, key=lambda message: isinstance(message, ToolMessage)):
        group = list(run)
        results = [message for message in group if isinstance(message, ToolMessage)]
        if results:
            results.sort(key=lambda result: order.index(result.call_id))
            ordered += results
        else:
            ordered += group
            order = [call.id for call in group[-1].tool_calls]
    return ordered
