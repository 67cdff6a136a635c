"""The messages between page and worker as texts and buffers; the page's mirror is `worker/protocol.js`.

A post is a JSON array of messages plus buffers. Bytes travel as buffers: the message has null in their place and the
paths in `blobs`, in the order of the buffers over the whole post. Integers beyond ±(2^53-1) travel as decimal text,
their paths in `big`. Envelopes are checked here, in plain code, against a closed table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langfx_web import events
from langfx_web.errors import BridgeError, JSONTextError, NotPortableError
from langfx_web.json_text import Path, dumps, is_json, loads, plain, quoted, written

PROTOCOL = 1
MAX_TEXT = 24 * 2**20
MAX_BLOBS = 64 * 2**20
SAFE_INTEGER = 2**53 - 1

_NONE = type(None)
_ID: dict[str, tuple[type, ...]] = {"id": (int,)}
_SESSION: dict[str, tuple[type, ...]] = {**_ID, "agent": (str,), "session": (str,)}

# kind -> required fields, optional fields
COMMANDS: dict[str, tuple[dict[str, tuple[type, ...]], dict[str, tuple[type, ...]]]] = {
    "setup": (
        {**_ID, "protocol": (int,), "modules": (list,), "tools": (list,), "credentials": (bool,)},
        {
            "version": (str,),
            "store": (str, dict),
            "resume": (bool,),
            "provider": (list, dict),
            "packages": (list,),
            "wheels": (list,),
        },
    ),
    "call": ({**_ID, "target": (str,), "args": (dict, list)}, {}),
    "stream": ({**_ID, "target": (str,), "args": (dict, list)}, {}),
    "agent_check": ({**_ID, "agent": (str,)}, {}),
    "session_prompt": (
        {**_ID, "agent": (str,), "session": (str, _NONE), "input": (str, list, dict)},
        {
            "messageId": (str, _NONE),
            "model": (str, dict, _NONE),
            "instructions": (str, list, _NONE),
            "context": (dict, _NONE),
        },
    ),
    "session_cancel": (_SESSION, {"messageId": (str, _NONE)}),
    "session_stream": ({**_SESSION, "cursor": (int,)}, {}),
    "session_messages": (_SESSION, {}),
    "session_watch": (_SESSION, {}),
    "session_gates": (_SESSION, {}),
    "session_answer": ({**_SESSION, "gateId": (str,), "value": (object,)}, {}),
    "session_decline": ({**_SESSION, "gateId": (str,)}, {"reason": (str, _NONE)}),
    "cancel": (_ID, {}),
    "credit": ({**_ID, "items": (int,), "bytes": (int,)}, {}),
    "tool_result": ({**_ID, "value": (object,)}, {}),
    "tool_error": ({**_ID, "error": (dict,)}, {}),
    "credential_result": ({**_ID, "value": (str, dict)}, {}),
    "credential_error": ({**_ID, "error": (dict,)}, {}),
    "close": ({}, {"handoff": (bool,)}),
}
NOTES = frozenset({"cancel", "credit", "tool_result", "tool_error", "credential_result", "credential_error", "close"})
"""Kinds that get no end of their own; their ids name something else that has one."""

_DECIMAL = re.compile(r"-?[0-9]{1,4300}")
"""Python reads and writes no longer integers as text."""


# Not frozen, as frozen dataclasses take three times as long to make, and one of these is made per item of a stream.
@dataclass(slots=True)
class Portable:
    """A value ready to cross: its JSON text, where its big integers and bytes belong, and the bytes."""

    text: str
    big: Sequence[Path] = ()
    blobs: Sequence[Path] = ()
    buffers: Sequence[bytes] = ()

    @property
    def size(self) -> int:
        """Characters of text and bytes together."""
        return len(self.text) + (sum(map(len, self.buffers)) if self.buffers else 0)


def portable(value: Any) -> Portable:
    """Make a value ready to cross, an event in its plain form; `NotPortableError` has the path of what cannot."""
    # Most items of streams are texts, and short.
    if type(value) is str and len(text := quoted(value)) <= MAX_TEXT:
        return Portable(text)
    if type(value) in events.EVENTS:
        event, value = value, events.encode(value)
        if events.has_texts_only(event) and len(text := written(value)) <= MAX_TEXT:
            return Portable(text)
    if is_json(value, largest=SAFE_INTEGER) and len(text := dumps(value)) <= MAX_TEXT:
        return Portable(text)
    big: list[Path] = []
    blobs: list[Path] = []
    buffers: list[bytes] = []

    def leaf(item: object, path: Path) -> object:
        if isinstance(item, int):
            if -SAFE_INTEGER <= item <= SAFE_INTEGER:
                return item
            big.append(path)
            return _decimal(item, path)
        if isinstance(item, (bytes, bytearray, memoryview)):
            blobs.append(path)
            buffers.append(bytes(item))
            return None
        raise NotPortableError(
            f"a {type(item).__name__} at {'.'.join(map(str, path)) or 'the top'} cannot go to the page", path=path
        )

    text = dumps(plain(value, leaf=leaf))
    if len(text) > MAX_TEXT or sum(map(len, buffers)) > MAX_BLOBS:
        raise NotPortableError("the value is too large for one message", code="message_too_large")
    return Portable(text, big=big, blobs=blobs, buffers=buffers)


def _decimal(number: int, path: Path) -> str:
    try:
        return str(number)
    except ValueError:
        raise NotPortableError("an integer of more than 4300 digits cannot go to the page", path=path) from None


def with_paths(text: str, *, big: Sequence[Path] = (), blobs: Sequence[Path] = ()) -> str:
    """The text of a message, with the paths of its big integers and bytes added where it has any."""
    for name, paths in (("big", big), ("blobs", blobs)):
        if paths:
            text = f'{text[:-1]},"{name}":{dumps([list(path) for path in paths])}}}'
    return text


def read(text: str, buffers: Sequence[bytes]) -> Iterator[dict[str, Any] | BridgeError]:
    """The messages of a post, each checked, in order; one that breaks the protocol comes as its error.

    The error's `details["id"]` is the id of the command that it ends, where it is a command and has one.
    """
    try:
        messages = loads(text)
    except JSONTextError as error:
        yield BridgeError(f"a post is not JSON: {error}")
        return
    if not isinstance(messages, list):
        yield BridgeError("a post must be an array of messages")
        return
    left = iter(buffers)
    for message in messages:
        try:
            yield _checked(message, left)
        except BridgeError as error:
            error.details |= _address(message)
            yield error


def _checked(message: Any, buffers: Iterator[bytes]) -> dict[str, Any]:
    if not isinstance(message, dict):
        raise BridgeError("a message must be an object")
    _restore(message, buffers)
    kind = message.get("kind")
    if not isinstance(kind, str) or kind not in COMMANDS:
        raise BridgeError(f"there is no message of the kind {kind!r}")
    required, optional = COMMANDS[kind]
    for name, types in (required | optional).items():
        if name not in message:
            if name in required:
                raise BridgeError(f"{kind}: the field {name!r} is missing")
        elif not _is_a(message[name], types):
            raise BridgeError(f"{kind}: the field {name!r} is no {' or '.join(t.__name__ for t in types)}")
    if "id" in required and message["id"] <= 0:
        raise BridgeError(f"{kind}: an id must be a positive integer")
    return message


def _address(message: Any) -> dict[str, int]:
    if not isinstance(message, dict):
        return {}
    kind, id_ = message.get("kind"), message.get("id")
    if not isinstance(id_, int) or isinstance(id_, bool) or id_ <= 0 or (isinstance(kind, str) and kind in NOTES):
        return {}
    return {"id": id_}


def _is_a(value: object, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and not (isinstance(value, bool) and bool not in types and object not in types)


def _restore(message: dict[str, Any], buffers: Iterator[bytes]) -> None:
    """Put bytes and big integers where the message says they belong."""
    blobs, big = message.pop("blobs", []), message.pop("big", [])
    if not isinstance(blobs, list) or not isinstance(big, list):
        raise BridgeError("blobs and big must be lists of paths")
    # All of this message's buffers are taken before any is looked at, so that an error shifts no other message's.
    for path, data in [(path, next(buffers, None)) for path in blobs]:
        if data is None:
            raise BridgeError("a message names more buffers than came with it")
        holder, key = _place(message, path)
        holder[key] = data
    for path in big:
        holder, key = _place(message, path)
        if not isinstance(holder[key], str) or not _DECIMAL.fullmatch(holder[key]):
            raise BridgeError("a big integer must be decimal text")
        holder[key] = int(holder[key])


def _place(message: dict[str, Any], path: Any) -> tuple[Any, Any]:
    """The object or array that holds what a path leads to, and its key there."""
    if not isinstance(path, list) or not path:
        raise BridgeError("a path must be a list of keys and indices")
    holder: Any = message
    try:
        for step in path[:-1]:
            holder = holder[step]
        found = isinstance(holder, (dict, list)) and holder[path[-1]] is not ...
    except (KeyError, IndexError, TypeError):
        found = False
    if not found:
        raise BridgeError("a path leads to no place in its message")
    return holder, path[-1]
