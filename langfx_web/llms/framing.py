"""The JSON values of an answer's body: events of a stream, one document, or an array of chunks.

What a body is shows in its first character, not in its content type: those lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from langfx_web.errors import IncompleteGenerationError, JSONTextError, LMProtocolError, TransportError
from langfx_web.json_text import loads
from langfx_web.transport.sse import ServerEvent, SSEDecoder

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

DONE: Final = object()
"""Stands for the text `[DONE]` among an answer's events."""

_BLANK = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Framing:
    """Push bytes in, take JSON values out. `kind` says what they are, as soon as that is known."""

    def __init__(self) -> None:
        self.kind: Literal["events", "document", "array"] | None = None
        self._events = SSEDecoder()
        self._start = b""
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """The values of these bytes, read one by one: a broken one raises only when its turn comes."""
        if self.kind is None:
            chunk = self._start + chunk
            self._start = b"" if self._decide(chunk) else chunk
            if self.kind is None:
                return iter(())
        if self.kind == "events":
            return map(_value, self._events.feed(chunk))
        self._size += len(chunk)
        if self._size > MAX_DOCUMENT_BYTES:
            self._pieces.clear()
            raise TransportError(f"the answer is larger than {MAX_DOCUMENT_BYTES} bytes", code="body_too_large")
        self._pieces.append(chunk)
        return iter(())

    def close(self) -> Iterator[Any]:
        """The values that only the end completes; a body that ends inside one is `incomplete_generation`."""
        if self.kind == "events":
            yield from map(_value, self._events.close())
            if self._events.truncated:
                raise IncompleteGenerationError("the answer was cut off inside an event")
        elif self.kind is not None:
            try:
                document = loads(b"".join(self._pieces).removeprefix(_BYTE_ORDER_MARK))
            except JSONTextError as error:
                raise IncompleteGenerationError("the answer is cut off, or no JSON") from error
            if self.kind == "array" and isinstance(document, list):
                yield from document
            else:
                yield document

    def _decide(self, chunk: bytes) -> bool:
        if _BYTE_ORDER_MARK.startswith(chunk):
            return False
        first = chunk.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANK)[:1]
        if first == b"<":
            raise LMProtocolError("the answer is a web page; is base_url the address of the API?")
        if first:
            self.kind = "document" if first == b"{" else "array" if first == b"[" else "events"
        return bool(first)


def _value(event: ServerEvent) -> Any:
    data = event.data
    if data[0] != "{" and data.lstrip().startswith("[DONE]"):
        return DONE
    try:
        value = loads(data)
    except JSONTextError as error:
        raise LMProtocolError(f"an event of the stream is no JSON: {error}") from error
    if event.event == "error" and not (isinstance(value, dict) and ("error" in value or value.get("type") == "error")):
        return {"error": value}
    return value
