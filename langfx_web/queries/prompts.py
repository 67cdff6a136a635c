"""What a prompt stands for: a rendered template, a literal message, or a value written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langfx_web.errors import InvalidArgumentError
from langfx_web.messages import Message, Part, UserMessage
from langfx_web.protocols import Protocol
from langfx_web.queries.written import written
from langfx_web.templates import Template


def spoken(prompt: Any, *, protocol: Protocol, vars: Mapping[str, Any] | None = None) -> Message:
    """The message, or transcript, that a prompt stands for.

    A str is a template, rendered with `vars`; a message is literal, and so are several, and parts. Any other value is
    written as the protocol writes values.
    """
    if isinstance(prompt, str):
        return Template(prompt).render(vars)
    if isinstance(prompt, Template):
        return prompt.render(vars)
    if vars:
        raise InvalidArgumentError("vars go with a template; this prompt is literal", details={"option": "vars"})
    return Message.of(prompt) if _is_literal(prompt) else UserMessage(written(prompt, protocol))


def _is_literal(prompt: Any) -> bool:
    if isinstance(prompt, (Message, Part)):
        return True
    if not isinstance(prompt, Sequence) or isinstance(prompt, (str, bytes)) or not prompt:
        return False
    if all(isinstance(item, Message) for item in prompt):
        return True
    return any(isinstance(item, Part) for item in prompt) and all(isinstance(item, (str, Part)) for item in prompt)
