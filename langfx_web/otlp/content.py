"""Captured content in the JSON forms that the conventions for generative AI have for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langfx_web.errors import JSONTextError
from langfx_web.json_text import dumps, loads
from langfx_web.observation import (
    ObservedCall,
    ObservedMedia,
    ObservedMessage,
    ObservedPart,
    ObservedText,
    ObservedThought,
    ObservedTool,
)

_FINISH_REASONS = {"tool_calls": "tool_call"}
"""Our words for how an answer ended, where those of the conventions differ."""


def input_messages(messages: Sequence[ObservedMessage]) -> str:
    """What a model was asked, as `gen_ai.input.messages`."""
    return dumps([_message(message) for message in messages])


def output_messages(message: ObservedMessage, finish_reason: str | None) -> str:
    """What a model answered, as `gen_ai.output.messages`."""
    reason = "error" if finish_reason is None else _FINISH_REASONS.get(finish_reason, finish_reason)
    return dumps([_message(message) | {"finish_reason": reason}])


def system_instructions(text: str) -> str:
    """The instructions, as `gen_ai.system_instructions`."""
    return dumps([{"type": "text", "content": text}])


def tool_definitions(tools: Sequence[ObservedTool]) -> str:
    """The tools, as `gen_ai.tool.definitions`."""
    return dumps(
        [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": None if tool.input_schema is None else loads(tool.input_schema),
            }
            for tool in tools
        ]
    )


def _message(message: ObservedMessage) -> dict[str, Any]:
    parts = [_part(part) for part in message.parts]
    if message.call_id is not None:
        texts = [part.text for part in message.parts if isinstance(part, ObservedText)]
        answer = {"type": "tool_call_response", "id": message.call_id, "response": "".join(texts)}
        parts = [answer, *(_part(part) for part in message.parts if not isinstance(part, ObservedText))]
    return {"role": message.role, "parts": parts}


def _part(part: ObservedPart) -> dict[str, Any]:
    match part:
        case ObservedText(text=text):
            return {"type": "text", "content": text}
        case ObservedThought(text=text):
            return {"type": "reasoning", "content": text}
        case ObservedCall(call_id=id, name=name, arguments=arguments):
            return {"type": "tool_call", "id": id, "name": name, "arguments": _read(arguments)}
        case ObservedMedia(kind=kind, mime_type=mime, size=size):
            return {"type": "media", "modality": kind, "mime_type": mime, "size": size}


def _read(arguments: str) -> Any:
    """The arguments as a value; as text, where they were cut or never were JSON."""
    try:
        return loads(arguments)
    except JSONTextError:
        return arguments
