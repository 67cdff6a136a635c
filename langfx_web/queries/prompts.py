"""What a prompt stands for: a rendered template, a literal message, or a value written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langfx_web.errors import InvalidArgumentError
from langfx_web.messages import Message, Text, Thought, ToolCall
from langfx_web.templates import Template


def spoken(prompt: Any, *, vars: Mapping[str, Any] | None = None) -> Message:
    """The message, or transcript, that a prompt stands for.

    A str is a template, rendered with `vars`; a message, or several, is literal, and so are parts.
    """
    if isinstance(prompt, str):
        return Template(prompt).render(vars)
    if isinstance(prompt, Template):
        return prompt.render(vars)
    if vars:
        raise InvalidArgumentError("vars go with a template, and a message is literal", details={"option": "vars"})
    return Message.of(prompt)


def is_literal(prompt: Any) -> bool:
    """Whether it is a message, parts of one, or several messages."""
    if isinstance(prompt, (Message, Text, Thought, ToolCall)):
        return True
    if not isinstance(prompt, Sequence) or isinstance(prompt, (str, bytes)):
        return False
    return bool(prompt) and all(isinstance(item, Message) for item in prompt)
