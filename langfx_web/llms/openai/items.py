"""One output item of a Responses answer under way: what it adds when it opens, and what its final form adds."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.errors import LMProtocolError
from langfx_web.llms.arguments import read_arguments
from langfx_web.llms.delta import (
    Boundary,
    CallEnd,
    CallStart,
    CallText,
    Delta,
    Info,
    RefusalText,
    ThoughtEnd,
    ThoughtPiece,
)
from langfx_web.llms.surrogates import whole

REPLAY_TAG = "openai-responses-reasoning-item-v1"

_OPAQUE_FIELDS = ("id", "phase", "status", "namespace")
"""Fields of a message or a call that go back with it."""


class Item:
    """The item with this `output_index`; `origin` is noted in what goes back of it."""

    def __init__(self, index: int, wire: Mapping[str, Any], origin: Mapping[str, Any]) -> None:
        self.index = index
        self.kind: str = wire.get("type") or "message"
        self.is_closed = False
        self.shown = io.StringIO()
        """What was shown of its text, or of its arguments."""
        self._wire = wire
        self._origin = origin
        self._refusal = io.StringIO()
        self._sections: dict[tuple[str, Any], io.StringIO] = {}

    def opened(self) -> list[Delta]:
        """The beginning of a message or of a call."""
        if self.kind not in ("message", "function_call"):
            return []
        deltas: list[Delta] = [Boundary()]
        following = {name: self._wire[name] for name in _OPAQUE_FIELDS if self._wire.get(name) is not None}
        if following:
            if "status" in following:
                # What goes back is of an item that has ended.
                following["status"] = "completed"
            deltas.append(self._thought({"next": following}))
        if self.kind == "function_call":
            deltas.append(CallStart(key=self.index, id=self._wire.get("call_id") or "", name=self._wire["name"]))
        return deltas

    def reasoned(self, text: str, kind: str, place: Any) -> list[Delta]:
        """A piece of readable reasoning; pieces of another kind or place begin a paragraph."""
        section = self._sections.get((kind, place))
        starts = section is None and bool(self._sections)
        if section is None:
            section = self._sections[(kind, place)] = io.StringIO()
        section.write(text)
        return [ThoughtPiece("\n\n" + text if starts else text)]

    def interrupted(self) -> list[Delta]:
        """Another item begins: reasoning that the server finishes only later stands here with what was streamed."""
        texts = [section.getvalue() for (kind, _), section in self._sections.items() if kind == "content_index"]
        if self.kind != "reasoning" or self.is_closed or not texts:
            return []
        self.is_closed = True
        content = [{"type": "reasoning_text", "text": text} for text in texts]
        return [self._thought({"block": {**self._wire, "content": content}})]

    def refused(self, text: str) -> list[Delta]:
        """Words of a refusal."""
        self._refusal.write(text)
        return [RefusalText(text=text)]

    def closed(self, wire: Mapping[str, Any] | None) -> list[Delta]:
        """What the item's final form adds to what has come of it; without one, it ends as it came."""
        self.is_closed = True
        wire = self._wire if wire is None else wire
        match self.kind:
            case "message":
                return [*self.settled(wire), *_noted(wire), Boundary()]
            case "function_call":
                return self._called(wire)
            case "reasoning":
                shown = [] if self._sections else [ThoughtPiece(text) for text in [_readable(wire)] if text]
                return [*shown, self._thought({"block": dict(wire)})]
        return [self._thought({"block": dict(wire)}, is_output=True)]

    def settled(self, wire: Mapping[str, Any]) -> list[Delta]:
        """Text and refusal that a message's final form has beyond what was shown."""
        text = "".join(part.get("text") or "" for part in _parts(wire, "output_text"))
        refusal = "".join(part.get("refusal") or "" for part in _parts(wire, "refusal"))
        deltas: list[Delta] = []
        if rest := self._rest(text, self.shown):
            deltas.append(rest)
            self.shown.write(rest)
        if rest := self._rest(refusal, self._refusal):
            deltas += self.refused(rest)
        return deltas

    def _rest(self, text: str, written: io.StringIO) -> str:
        if not text:
            return ""
        shown = whole(written.getvalue())
        if not text.startswith(shown):
            raise LMProtocolError(f"the final text of output item {self.index} is not the text that was streamed")
        return text[len(shown) :]

    def _called(self, wire: Mapping[str, Any]) -> list[Delta]:
        written = wire.get("arguments")
        if isinstance(written, Mapping):
            return [CallEnd(key=self.index, args=written)]
        shown = self.shown.getvalue()
        if not written or written == shown:
            return [CallEnd(key=self.index)]
        if written.startswith(shown):
            return [CallText(key=self.index, text=written[len(shown) :]), CallEnd(key=self.index)]
        return [CallEnd(key=self.index, args=read_arguments(written))]

    def _thought(self, payload: dict[str, Any], *, is_output: bool = False) -> ThoughtEnd:
        return ThoughtEnd(payload={**self._origin, **payload}, tag=REPLAY_TAG, is_output=is_output)


def _parts(wire: Mapping[str, Any], kind: str) -> Iterable[Mapping[str, Any]]:
    return (part for part in wire.get("content") or () if part.get("type") == kind)


def _readable(wire: Mapping[str, Any]) -> str:
    parts = [*(wire.get("summary") or ()), *(wire.get("content") or ())]
    return "\n\n".join(part["text"] for part in parts if part.get("text"))


def _noted(wire: Mapping[str, Any]) -> list[Delta]:
    """What a message's final form says beside its text."""
    notes: dict[str, Any] = {"citations": [], "logprobs": []}
    for part in _parts(wire, "output_text"):
        notes["citations"] += part.get("annotations") or []
        notes["logprobs"] += part.get("logprobs") or []
    notes = {name: found for name, found in notes.items() if found}
    return [Info(metadata=notes)] if notes else []
