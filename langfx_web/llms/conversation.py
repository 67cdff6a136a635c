"""What wires ask of a conversation: what is blank is left out, leading system messages stand apart, ids fit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from langfx_web.errors import LMInputError
from langfx_web.messages import Message, Modality, SystemMessage, Text, UserMessage


def leading_system(messages: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """The system messages that a conversation begins with, and the rest of it."""
    start = next(place for place, message in enumerate(messages) if not isinstance(message, SystemMessage))
    return messages[:start], messages[start:]


def refuse_blank_end(messages: Sequence[Message]) -> None:
    """A last user message that says nothing is `invalid_request`."""
    last = messages[-1]
    if isinstance(last, UserMessage) and not is_said(last):
        raise LMInputError("the last user message is blank")


def is_said(message: Message) -> bool:
    """Whether a message holds anything but blank text."""
    return any(isinstance(part, Modality) or (isinstance(part, Text) and part.text.strip()) for part in message.parts)


def texts(message: Message) -> list[str]:
    """The texts of a message that are not blank."""
    return [part.text for part in message.parts if isinstance(part, Text) and part.text.strip()]


def fitting_id(id: str, pattern: re.Pattern[str], *, prefix: str = "lf_", digits: int = 32) -> str:
    """An id that a wire accepts, the same for a call and its result: itself, or made of its hash."""
    if pattern.fullmatch(id):
        return id
    return prefix + hashlib.sha256(id.encode("utf-8", "replace")).hexdigest()[:digits]
