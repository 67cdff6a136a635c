"""The parts of a Gemini answer → deltas, one after another as they come."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from langfx_web.llms.delta import Boundary, CallEnd, CallStart, Delta, ThoughtEnd, ThoughtPiece, WholePart
from langfx_web.llms.gemini.partial_args import PartialArgs
from langfx_web.messages import Audio, Image, Mime, Video

REPLAY_TAG = "gemini-part-v1"
SIGNATURE = "thoughtSignature"


class Parts:
    """Reads the parts of one candidate; `origin` is noted in what goes back of them."""

    def __init__(self, origin: Mapping[str, Any]) -> None:
        self._origin = origin
        self._thought: io.StringIO | None = None
        self._calls = 0
        self._open: PartialArgs | None = None

    def read(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Take one part."""
        if len(part) == 1 and self._thought is None and part.get("text"):
            deltas.append(part["text"])
            return
        if part.get("thought"):
            self._think(part, deltas)
            return
        self._close_thought(None, deltas)
        if "functionCall" in part:
            self._call(part["functionCall"] or {}, part.get(SIGNATURE), deltas)
        elif "text" in part:
            self._say(part, deltas)
        elif "inlineData" in part:
            self._show(part, deltas)
        elif part:
            deltas += [Boundary(), self._kept({"block": dict(part)}, is_output=True)]

    def close(self, deltas: list[Delta]) -> None:
        """The answer is complete."""
        self._close_thought(None, deltas)
        self._close_call(deltas)

    def _say(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        text = part.get("text") or ""
        if SIGNATURE not in part:
            deltas += [text] if text else []
        elif text:
            # A signed part stays one of its own.
            deltas += [Boundary(), self._kept({"next": {SIGNATURE: part[SIGNATURE]}}), text, Boundary()]
        else:
            deltas += [Boundary(), self._kept({"block": dict(part)})]

    def _show(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        """A picture or a sound that the model made."""
        if SIGNATURE in part:
            deltas += [Boundary(), self._kept({"next": {SIGNATURE: part[SIGNATURE]}})]
        data, mime_type = part["inlineData"]["data"], part["inlineData"].get("mimeType") or "application/octet-stream"
        kind = next((kind for kind in (Image, Audio, Video) if mime_type.startswith(kind.type + "/")), Mime)
        deltas.append(WholePart(part=kind.from_base64(data, mime_type)))

    def _think(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        text = part.get("text") or ""
        if text:
            deltas.append(ThoughtPiece(text))
        if self._thought is None:
            self._thought = io.StringIO()
        self._thought.write(text)
        if SIGNATURE in part:
            self._close_thought(part[SIGNATURE], deltas)

    def _close_thought(self, signature: str | None, deltas: list[Delta]) -> None:
        if self._thought is None:
            return
        block: dict[str, Any] = {"text": self._thought.getvalue(), "thought": True}
        if signature is not None:
            block[SIGNATURE] = signature
        self._thought = None
        deltas.append(self._kept({"block": block}))

    def _call(self, call: Mapping[str, Any], signature: str | None, deltas: list[Delta]) -> None:
        if call.get("name"):
            self._close_call(deltas)
            if signature is not None:
                deltas.append(self._kept({"next": {SIGNATURE: signature}}))
            self._calls += 1
            deltas.append(CallStart(key=self._calls, id=call.get("id") or "", name=call["name"]))
            if not (call.get("willContinue") or "partialArgs" in call):
                deltas.append(CallEnd(key=self._calls, args=call.get("args") or {}))
                return
            self._open = PartialArgs()
        if self._open is not None:
            self._open.add(call.get("partialArgs") or ())
            if not call.get("willContinue"):
                self._close_call(deltas)

    def _close_call(self, deltas: list[Delta]) -> None:
        if self._open is not None:
            deltas.append(CallEnd(key=self._calls, args=self._open.whole()))
            self._open = None

    def _kept(self, payload: dict[str, Any], *, is_output: bool = False) -> ThoughtEnd:
        return ThoughtEnd(payload={**self._origin, **payload}, tag=REPLAY_TAG, is_output=is_output)
