"""Media on their way to a model: what it cannot be shown is refused in a prompt and described in what came before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeAlias

from langfx_web.errors import ImageError, InvalidValueError, UnsupportedCapabilityError
from langfx_web.llms.request import Capabilities, ModelRequest
from langfx_web.messages import AIMessage, Image, Message, Modality, Part, Text, UserMessage

MAX_IMAGE = 3_932_160
"""Bytes that one image may have: 5 MiB as base64."""

MAX_FILE = 20 * 1024 * 1024
"""Bytes that any other inline part may have."""

Lacks: TypeAlias = Callable[[Modality], str | None]
"""What a model would need to be shown a part, and does not have; None where it can be shown."""

_MODALITIES = attrgetter("modalities")
_CAPABILITIES: Mapping[str, str] = {"image": "images", "audio": "audio", "video": "video", "pdf": "pdf"}


def lacking(part: Modality, capabilities: Capabilities) -> str | None:
    """The capability that a part needs and that is not there."""
    capability = _CAPABILITIES.get(part.type)
    return capability if capability is not None and not getattr(capabilities, capability) else None


def shown(request: ModelRequest, lacks: Lacks) -> ModelRequest:
    """The request with nothing in it that the model cannot be shown.

    In what the user says now this is an error: `unsupported_capability`, `image_too_large`, or `invalid_modality` for
    another part that is too large. Elsewhere, and where an application keeps the original under a `source_ref`, a line
    of text tells the model what was there. What a model made itself is left as it is.
    """
    if not any(map(_MODALITIES, request.messages)):
        return request
    return replace(request, messages=tuple(_shown(request.messages, lacks)))


def check_size(part: Modality) -> None:
    """Refuse an inline part that is larger than any model takes."""
    size = len(part.data or b"")
    if isinstance(part, Image) and size > MAX_IMAGE:
        raise ImageError(
            f"an image of {size} bytes: {MAX_IMAGE} can be sent", code="image_too_large", details={"size": size}
        )
    if size > MAX_FILE:
        raise InvalidValueError(f"a {part.type} of {size} bytes: {MAX_FILE} can be sent", code="invalid_modality")


def address(part: Modality) -> str:
    """Where a part is: its own address, or one that holds its bytes."""
    return part.uri if part.uri is not None else f"data:{part.mime_type};base64,{part.base64}"


def _shown(messages: Sequence[Message], lacks: Lacks) -> Iterator[Message]:
    answers = [place for place, message in enumerate(messages) if isinstance(message, AIMessage)]
    after = max(answers, default=-1)
    for place, message in enumerate(messages):
        if isinstance(message, AIMessage) or not message.modalities:
            yield message
            continue
        is_prompt = place > after and isinstance(message, UserMessage)
        yield message.replace(parts=[_sendable(part, lacks, is_prompt=is_prompt) for part in message.parts])


def _sendable(part: Part, lacks: Lacks, *, is_prompt: bool) -> Part:
    if not isinstance(part, Modality):
        return part
    missing = lacks(part)
    if missing is not None:
        if is_prompt:
            message = f"this model does not support {missing}"
            raise UnsupportedCapabilityError(message, details={"capability": missing})
        return _described(part, "which this model cannot be shown")
    if part.data is None and part.uri is None:
        return _described(part, "which the application keeps")
    try:
        check_size(part)
    except ValueError:
        if is_prompt and part.source_ref is None:
            raise
        return _described(part, "too large to be shown")
    return part


def _described(part: Modality, why: str) -> Text:
    facts = [part.mime_type or part.type]
    if part.data is not None:
        facts.append(f"{len(part.data)} bytes")
    if part.source_ref is not None:
        facts.append(f"source {part.source_ref!r}")
    return Text(f"[{part.type}: {', '.join(facts)}, {why}]")
