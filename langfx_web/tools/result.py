"""What a tool's value is for the model: a text, or texts and media in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from langfx_web.errors import InvalidValueError, ToolOutputError
from langfx_web.json_text import dumps, plain
from langfx_web.masking import said_by
from langfx_web.messages import Modality, Text
from langfx_web.schemas import Schema

MAX_MEDIA = 8
MAX_MEDIA_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool wants the model to be told: a text, or texts and media in order, and whether it reports a failure."""

    content: str | Sequence[str | Modality]
    is_error: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.content, str) and not _are_parts(self.content):
            raise InvalidValueError("the content of a result must be a str, or a list of str and media")

    @property
    def parts(self) -> tuple[str | Modality, ...]:
        """The content in order."""
        return (self.content,) if isinstance(self.content, str) else tuple(self.content)


def result_of(value: Any, schema: Schema | None, *, tool: str) -> ToolResult:
    """What the model is told of a value; without a schema it may be any that has a JSON form.

    A text is as it is, media are shown, anything else is written as JSON. `ToolOutputError` where that cannot be done.
    """
    match value:
        case ToolResult():
            result = value
        case Text():
            result = ToolResult(value.text)
        case Modality():
            result = ToolResult([value])
        case list() | tuple() if _are_parts(value) and any(isinstance(item, Modality) for item in value):
            result = ToolResult(value)
        case _:
            return ToolResult(_text_of(value, schema, tool))
    _check_media([part for part in result.parts if isinstance(part, Modality)], tool)
    return result


def _text_of(value: Any, schema: Schema | None, tool: str) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise ToolOutputError("the tool ran, but its result is bytes, which are no text", tool=tool)
    try:
        written = plain(value) if schema is None else schema.dump(value)
        return written if isinstance(written, str) else dumps(written)
    except Exception as error:  # an author's serializer may raise anything
        why = said_by(error) if isinstance(error, ValueError) else type(error).__name__
        raise ToolOutputError(f"the tool ran, but its result cannot be passed on: {why}", tool=tool) from error


def _check_media(media: Sequence[Modality], tool: str) -> None:
    size = sum(len(part.data or b"") for part in media)
    if len(media) > MAX_MEDIA or size > MAX_MEDIA_BYTES:
        raise ToolOutputError(
            f"the tool ran, but its {len(media)} media of {size} bytes are more than {MAX_MEDIA} of 8 MiB together",
            tool=tool,
        )


def _are_parts(value: object) -> TypeGuard[Sequence[str | Modality]]:
    return isinstance(value, (list, tuple)) and all(isinstance(item, (str, Modality)) for item in value)
