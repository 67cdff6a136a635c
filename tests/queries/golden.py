"""Prompts as they are sent, kept as texts that people have read: `## role` before what it says, media as `[image/png]`.

Set `WRITE_GOLDENS=1` to write them anew, and read what has changed.
"""

from __future__ import annotations

import os
from pathlib import Path

from langfx_web.llms import ModelRequest
from langfx_web.messages import Message, Text

HOME = Path(__file__).parent / "goldens"


def shown(messages: tuple[Message, ...]) -> str:
    """The messages of a request as one text."""
    return "\n".join(f"## {message.role}\n{_said(message)}" for message in messages) + "\n"


def golden(name: str, request: ModelRequest) -> tuple[str, str]:
    """What was sent, and what should have been."""
    sent, path = shown(request.messages), HOME / f"{name}.txt"
    if os.environ.get("WRITE_GOLDENS"):
        path.write_text(sent, "utf-8")
    return sent, path.read_text("utf-8")


def _said(message: Message) -> str:
    return "".join(
        part.text if isinstance(part, Text) else f"[{getattr(part, 'mime_type', part.type)}]" for part in message.parts
    )
