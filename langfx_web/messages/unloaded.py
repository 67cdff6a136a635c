"""Messages as records for people have them: what has bytes is named in their place."""

from __future__ import annotations

from typing import TypeVar

from langfx_web.messages.message import Message, Part
from langfx_web.messages.modality import Modality
from langfx_web.messages.parts import Text

Said = TypeVar("Said", bound=Message)


def without_bytes(message: Said) -> Said:
    """The message itself where it has no bytes of media, else one that says what kind of bytes and how many."""
    for part in message.parts:
        if isinstance(part, Modality) and part.data is not None:
            return message.replace(parts=[_named(part) for part in message.parts])
    return message


def _named(part: Part) -> Part:
    if not isinstance(part, Modality) or part.data is None:
        return part
    return Text(f"[{part.mime_type or part.type}, {len(part.data)} bytes]")
