"""Reads request bodies with the types of the providers' own packages; runs in an environment that has those.

Bodies by wire come as JSON on standard input; what the types refuse of each goes out as lists of places.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsStreaming
from google.genai import types as gemini
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError


def strict(kind: Any) -> Callable[[Any], object]:
    """A check of a body against a typed dict, in which no name may stand that the type does not have."""
    kind.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return TypeAdapter(kind).validate_python


GEMINI: Mapping[str, Any] = {
    "contents": list[gemini.Content],
    "systemInstruction": gemini.Content,
    "tools": list[gemini.Tool],
    "toolConfig": gemini.ToolConfig,
    "generationConfig": gemini.GenerationConfig,
}
"""The fields of a body that we send. That package has no type of the whole; these refuse unknown names themselves."""

CHECKS: Mapping[str, Callable[[Any], object]] = {
    "anthropic": strict(MessageCreateParamsStreaming),
    "openai": strict(ResponseCreateParamsStreaming),
    "openai_chat": strict(CompletionCreateParamsStreaming),
}


def refused(wire: str, body: Mapping[str, Any]) -> list[str]:
    """The places of a body that the types do not take."""
    if wire != "gemini":
        return places(CHECKS[wire], body)
    unknown = [name for name in body if name not in GEMINI]
    known = {name: value for name, value in body.items() if name in GEMINI}
    return unknown + [
        f"{name}.{place}"
        for name, value in known.items()
        for place in places(TypeAdapter(GEMINI[name]).validate_python, value)
    ]


def places(check: Callable[[Any], object], value: Any) -> list[str]:
    """Where a check finds something to refuse."""
    try:
        exhaust(check(value))
    except ValidationError as error:
        return sorted({".".join(map(str, found["loc"])) for found in error.errors()})
    return []


def exhaust(read: object) -> None:
    """Go through all that was read: what is typed as an iterable is checked as it is iterated."""
    if isinstance(read, Mapping):
        read = read.values()
    if isinstance(read, Iterable) and not isinstance(read, (str, bytes, BaseModel)):
        for item in read:
            exhaust(item)


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    json.dump({wire: [refused(wire, body) for body in bodies] for wire, bodies in asked.items()}, sys.stdout)
