"""Server-sent events from bytes: pure, in linear time, and the same for every way the bytes are cut.

Follows the event stream format of the HTML standard, with what gateways make of it: keep-alives sent as data, and an
`error` field in place of an event.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from langfx_web.errors import JSONTextError, TransportError
from langfx_web.json_text import loads

MAX_EVENT_BYTES = 32 * 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Nearly all events have this form, and one that stands for many is read much faster than line by line.
_USUAL_EVENT = re.compile(r"(?:event: ([^\n]+)\n)?data: (\{[^\n]*)\n\n")
_USUAL_EVENTS = re.compile(rb"(?:(?:event: [^\n]+\n)?data: \{[^\n]*\n\n)+")


class ServerEvent(NamedTuple):
    """One event: its name (empty where none was sent), its data, and the last id the stream gave."""

    event: str
    data: str
    id: str


class SSEDecoder:
    """Push bytes in, take events out; state is what has come of the event under way.

    `truncated` is set by `close` if the stream ended inside an event. An event over `max_event_bytes` raises
    `TransportError` (`event_too_large`), and what was held of it is let go.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.truncated = False
        self._max = max_event_bytes
        self._line = bytearray()
        self._after_cr = False
        self._first_line = True
        self._event = ""
        self._id = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that these bytes complete."""
        if self._after_cr and chunk:
            # The second half of a CRLF that was cut ends no line of its own.
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        events: list[ServerEvent] = []
        if b"\n" in chunk:
            if self._line:
                chunk = bytes(self._line) + chunk
                self._line.clear()
            if self._first_line:
                self._first_line = False
                chunk = chunk.removeprefix(_BYTE_ORDER_MARK)
            chunk = self._read_lines(chunk, events)
        self._line += chunk
        if len(self._line) + self._size > self._max:
            self._overflow()
        return events

    def close(self) -> list[ServerEvent]:
        """The event the stream ended in, if it is whole all the same: `[DONE]`, or data that is JSON."""
        last = bytes(self._line)
        self._line.clear()
        events: list[ServerEvent] = []
        if last:
            self._read(last.removeprefix(_BYTE_ORDER_MARK) if self._first_line else last, events)
        if self._data:
            data = b"\n".join(self._data).decode("utf-8", "replace")
            if data.strip().startswith("[DONE]") or _is_json(data):
                self._dispatch(events)
            else:
                self.truncated = bool(data.strip())
        self._reset()
        return events

    def _read_lines(self, text: bytes, events: list[ServerEvent]) -> bytes:
        """Read whole lines, and events in their usual form in one go; what is left is the beginning of a line."""
        position = 0
        while True:
            if not self._data and not self._event:
                position = self._read_usual(text, position, events)
            end = text.find(b"\n", position)
            if end < 0:
                return text[position:]
            self._read(text[position:end], events)
            position = end + 1

    def _read_usual(self, text: bytes, position: int, events: list[ServerEvent]) -> int:
        found = _USUAL_EVENTS.match(text, position)
        if found is None:
            return position
        usual = _USUAL_EVENT.findall(found.group().decode("utf-8", "replace"))
        if found.end() - position > self._max and any(len(data.encode()) > self._max for _, data in usual):
            self._overflow()
        events.extend([ServerEvent(name, data, self._id) for name, data in usual])
        return found.end()

    def _read(self, line: bytes, events: list[ServerEvent]) -> None:
        if line.startswith(b"data: "):
            self._data.append(line[6:])
            self._size += len(line)
        elif not line:
            if self._data:
                self._dispatch(events)
            self._event = ""
        elif not line.startswith(b":"):
            name, _, value = line.partition(b":")
            self._field(name, value.removeprefix(b" "))

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
            self._size += len(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"error":
            self._event = "error"
            self._data.append(value)
            self._size += len(value)
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")

    def _dispatch(self, events: list[ServerEvent]) -> None:
        if self._size > self._max:
            self._overflow()
        data = (self._data[0] if len(self._data) == 1 else b"\n".join(self._data)).decode("utf-8", "replace")
        if data.lstrip()[:1] not in ("", ":"):
            events.append(ServerEvent(self._event, data, self._id))
        self._data = []
        self._size = 0

    def _reset(self) -> None:
        self._line.clear()
        self._data = []
        self._size = 0
        self._event = ""

    def _overflow(self) -> None:
        self._reset()
        raise TransportError(f"one event is larger than {self._max} bytes", code="event_too_large")


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except JSONTextError:
        return False
    return True
