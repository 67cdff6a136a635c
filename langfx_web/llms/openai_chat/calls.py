"""Tool calls of one choice, put together from fragments that servers label in many ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langfx_web.errors import JSONTextError, LMProtocolError
from langfx_web.json_text import loads
from langfx_web.llms.delta import CallEnd, CallStart, CallText, Delta, ThoughtEnd

LEGACY = "function_call"
"""The key of the one call that the wire had before it had lists of them."""


class Calls:
    """The calls of the choice with this index. `origin` is noted in what goes back with a call, under `tag`."""

    def __init__(self, index: int, *, origin: Mapping[str, Any], tag: str) -> None:
        self._index = index
        self._origin = origin
        self._tag = tag
        self._calls: list[_Call] = []
        self._by_key: dict[Any, _Call] = {}

    def read(self, entries: Sequence[Mapping[str, Any]], deltas: list[Delta]) -> None:
        """Take the fragments of one chunk."""
        for entry in entries:
            function = entry.get("function") or entry.get("custom") or {}
            call = self._call(entry, function)
            if call is not None:
                self._add(call, entry, function, deltas)

    def close(self, deltas: list[Delta], *, cut: bool) -> None:
        """The answer is complete; a call that never got its name is a protocol error, unless the answer was cut."""
        for call in self._calls:
            if call.name:
                deltas.append(CallEnd(key=call.key, args=call.args, index=self._index))
            elif not cut:
                raise LMProtocolError(f"tool call {call.key} ({call.id!r}) never got a name")

    def _call(self, entry: Mapping[str, Any], function: Mapping[str, Any]) -> _Call | None:
        """The call that a fragment belongs to, which may be new; None for a fragment that says nothing."""
        index, id, name = entry.get("index"), entry.get("id"), function.get("name")
        key = index if index is not None else id or None
        known = self._by_key.get(key) if key is not None else self._calls[-1] if self._calls else None
        if known is not None:
            return self._new(key, index) if known.is_followed(id, name) else known
        if id or name:
            return self._new(key, index)
        if not function.get("arguments"):
            return None
        if len(self._calls) > 1:
            raise LMProtocolError(f"arguments for tool call {key!r}, which is not open, while several others are")
        if not self._calls:
            return self._new(key, index)
        self._by_key[key] = self._calls[0]
        return self._calls[0]

    def _new(self, key: Any, index: Any) -> _Call:
        call = _Call(len(self._calls), index if isinstance(index, int) else None)
        self._calls.append(call)
        self._by_key[key] = call
        return call

    def _add(self, call: _Call, entry: Mapping[str, Any], function: Mapping[str, Any], deltas: list[Delta]) -> None:
        call.id = call.id or entry.get("id") or ""
        arguments = function.get("arguments", function.get("input"))
        if isinstance(arguments, Mapping):
            call.args = arguments
        elif arguments:
            call.pieces.append(arguments)
            if call.name:
                deltas.append(CallText(key=call.key, text=arguments, index=self._index))
        if not call.name and function.get("name"):
            call.name = function["name"]
            self._start(call, entry.get("extra_content"), deltas)

    def _start(self, call: _Call, extra: Any, deltas: list[Delta]) -> None:
        if extra:
            payload = {**self._origin, "next": {"extra_content": extra}}
            deltas.append(ThoughtEnd(payload=payload, tag=self._tag, index=self._index))
        deltas.append(CallStart(key=call.key, id=call.id, name=call.name, place=call.place, index=self._index))
        if call.pieces:
            deltas.append(CallText(key=call.key, text="".join(call.pieces), index=self._index))


class _Call:
    """One call under way."""

    def __init__(self, key: int, place: int | None) -> None:
        self.key = key
        self.place = place
        self.id = ""
        self.name = ""
        self.args: Mapping[str, Any] | None = None
        self.pieces: list[str] = []

    def is_followed(self, id: str | None, name: str | None) -> bool:
        """Whether a fragment under the same key begins another call."""
        if not name:
            return False
        if id:
            return bool(self.id) and id != self.id
        return bool(self.name) and self._is_whole()

    def _is_whole(self) -> bool:
        if self.args is not None:
            return True
        if not self.pieces or not self.pieces[-1].rstrip().endswith("}"):
            return False
        try:
            loads("".join(self.pieces))
        except JSONTextError:
            return False
        return True
