"""`query`: one prompt, one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import LanguageModel
from langfx_web.messages import Message, SystemMessage
from langfx_web.templates import Template


async def query(
    prompt: str | Template | Message | Sequence[Message],
    *,
    lm: LanguageModel | None = None,
    vars: Mapping[str, Any] | None = None,
    system_message: str | None = None,
    **sampling: Any,
) -> str:
    """Ask a model and return the text of its answer.

    A str prompt is a template rendered with `vars`; a message, or several, is taken literally. `sampling` are the
    model's options. `no_model` without a model; errors of the template before anything is sent, then the model's own.
    """
    if lm is None:
        raise InvalidArgumentError("no model was given: pass lm=…", code="no_model", details={"option": "lm"})
    answer = await lm(conversation(prompt, vars=vars, system_message=system_message), **sampling)
    return answer.text


def conversation(
    prompt: str | Template | Message | Sequence[Message],
    *,
    vars: Mapping[str, Any] | None = None,
    system_message: str | None = None,
) -> Message:
    """The messages that a prompt stands for."""
    if isinstance(prompt, (str, Template)):
        message: Message = (prompt if isinstance(prompt, Template) else Template(prompt)).render(vars)
    elif vars:
        raise InvalidArgumentError("vars go with a template, and a message is literal", details={"option": "vars"})
    else:
        message = Message.of(prompt)
    return message if system_message is None else Message.of([SystemMessage(system_message), message])
