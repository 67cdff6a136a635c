"""What may be handed to a conversation: ids, cursors, prompts and the settings that go with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langfx_web.errors import InputTooLargeError, InvalidValueError, NotPortableError
from langfx_web.json_text import dumps, loads
from langfx_web.llms.media import check_size as check_media_size
from langfx_web.messages import Message, Part, UserMessage, codec
from langfx_web.stores.base import PREVIEW

MAX_INPUT = 8 * 1024 * 1024
"""UTF-8 bytes that an input, its context and its settings may have as JSON."""

MAX_SHOWN = 1024 * 1024
"""Characters of a prompt's text that a line shows at most, so that the line stays within what a store takes."""

Prompt: TypeAlias = str | Message | Iterable[Part | str | Mapping[str, Any]]
"""What a user says: a text, a user message, or its parts (plain ones too)."""

_SESSION_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_MESSAGE_ID = re.compile(r"[!-~]{1,256}")


def check_session_id(id: str) -> str:
    """A session's id as it is; `invalid_session_id` otherwise."""
    if not isinstance(id, str) or not _SESSION_ID.fullmatch(id) or id in (".", ".."):
        message = f"{id!r:.60} is no session id: use 1 to 128 letters, digits, '.', '_' and '-'"
        raise InvalidValueError(message, code="invalid_session_id")
    return id


def check_message_id(id: str) -> str:
    """A message's id as it is; `invalid_message_id` otherwise."""
    if not isinstance(id, str) or not _MESSAGE_ID.fullmatch(id):
        message = f"{id!r:.60} is no message id: use 1 to 256 printable ASCII characters without blanks"
        raise InvalidValueError(message, code="invalid_message_id")
    return id


def check_cursor(cursor: int) -> int:
    """A cursor as it is; `invalid_cursor` for anything but a non-negative int."""
    if not isinstance(cursor, int) or isinstance(cursor, bool) or cursor < 0:
        raise InvalidValueError(f"{cursor!r:.60} is no cursor: use an int from 0 on", code="invalid_cursor")
    return cursor


def plain_prompt(given: Prompt) -> str | dict[str, Any]:
    """The form in which a prompt is stored: a str as it is, else a plain user message, the bytes of media as base64.

    `invalid_input` where it is empty or not something a user can say, `invalid_image` and `image_too_large` where it
    has an image that could never be sent.
    """
    if isinstance(given, str):
        _check_said(UserMessage(given))
        return given
    if isinstance(given, (bytes, Mapping)):
        raise _invalid(f"a prompt cannot be a {type(given).__name__}")
    try:
        message = given if isinstance(given, Message) else UserMessage(*map(_part, given))
        if not isinstance(message, UserMessage):
            raise _invalid(f"a prompt cannot be a {type(message).__name__}")
        _check_said(message)
        copy: dict[str, Any] = loads(dumps(codec.encode(message)))
        return copy
    except (TypeError, NotPortableError) as error:
        raise _invalid(f"not a prompt: {error}") from error
    except InvalidValueError as error:
        raise _invalid(error.message) from error


def message_of(prompt: str | dict[str, Any]) -> UserMessage:
    """The message that a stored prompt is."""
    if isinstance(prompt, str):
        return UserMessage(prompt)
    message = codec.decode(prompt)
    if not isinstance(message, UserMessage):
        raise _invalid(f"a prompt cannot be a {type(message).__name__}")
    return message


def shown(prompt: str | dict[str, Any]) -> str:
    """What a `turn_start` shows of a prompt: a str up to a million characters, of parts the beginning of their text."""
    return prompt[:MAX_SHOWN] if isinstance(prompt, str) else message_of(prompt).text[:PREVIEW]


def check_size(*values: object) -> None:
    """Refuse an input whose JSON is over 8 MiB (`input_too_large`)."""
    try:
        size = sum(len(dumps(value).encode("utf-8")) for value in values)
    except NotPortableError as error:
        raise _invalid(f"not a prompt: {error}") from error
    except UnicodeEncodeError as error:
        raise _invalid("a prompt holds half of a surrogate pair, which has no UTF-8 form") from error
    if size > MAX_INPUT:
        raise InputTooLargeError(f"the input has {size} bytes; {MAX_INPUT} can be stored")


def _part(given: object) -> Any:
    return codec.decode_part(given) if isinstance(given, Mapping) else given


def _check_said(message: UserMessage) -> None:
    if not message.text.strip() and not message.modalities:
        raise _invalid("a prompt needs some text")
    for part in message.modalities:
        if part.source_ref is None:
            check_media_size(part)


def _invalid(message: str) -> InvalidValueError:
    return InvalidValueError(message, code="invalid_input")
