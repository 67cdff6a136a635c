"""One choice of a Chat Completions answer, read chunk by chunk."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from langfx_web.llms.delta import (
    Delta,
    Failure,
    Finish,
    FinishReason,
    Info,
    RefusalText,
    TextPiece,
    ThoughtEnd,
    ThoughtPiece,
    WholePart,
)
from langfx_web.llms.openai_chat.calls import LEGACY, Calls
from langfx_web.llms.openai_chat.reasoning_details import merged
from langfx_web.llms.openai_chat.think_tags import ThinkTags
from langfx_web.messages import Image

REPLAY_TAG = "openai-chat-reasoning-v1"

_REASONS: dict[str | None, tuple[FinishReason, Failure | None]] = {
    None: ("stop", None),
    "stop": ("stop", None),
    "eos": ("stop", None),
    "tool_calls": ("tool_calls", None),
    "function_call": ("tool_calls", None),
    "length": ("length", None),
    "max_tokens": ("length", None),
    "content_filter": ("content_filter", None),
    "error": ("other", "unfinished"),
}


class Choice:
    """Reads what the chunks say of the choice with this index. `origin` is noted in payloads of thoughts."""

    def __init__(self, index: int, *, origin: Mapping[str, Any], think_tags: bool) -> None:
        self._index = index
        self._origin = origin
        self._tags = ThinkTags() if think_tags else None
        self._calls = Calls(index, origin=origin, tag=REPLAY_TAG)
        self._is_thinking = False
        self._reasoning = io.StringIO()
        self._details: list[Mapping[str, Any]] = []
        self._ended: str | None = None

    def read(self, wire: Mapping[str, Any], deltas: list[Delta]) -> None:
        """Take one chunk's choice, or a whole one of a document."""
        delta = wire.get("delta") or wire.get("message")
        if delta:
            self._read_delta(delta, deltas)
        if wire.get("logprobs"):
            tokens = wire["logprobs"].get("content")
            if tokens:
                deltas.append(Info(metadata={"logprobs": list(tokens)}, index=self._index))
        if wire.get("finish_reason"):
            self._ended = wire["finish_reason"]

    def close(self, deltas: list[Delta], *, complete: bool) -> None:
        """The body has ended; `complete` says that the server had said so."""
        if self._ended is None and not complete:
            return
        if self._tags is not None:
            self._show(*self._tags.close(), deltas)
        self._close_thought(deltas)
        reason, failure = _REASONS.get(self._ended, ("other", None))
        self._calls.close(deltas, cut=reason == "length")
        deltas.append(Finish(reason=reason, raw=self._ended, failure=failure, index=self._index))

    def _read_delta(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        content = delta.get("content")
        if len(delta) == 1 and type(content) is str and self._is_plain:
            if content:
                deltas.append(content)
            return
        if "reasoning" in delta or "reasoning_content" in delta or "reasoning_details" in delta:
            self._read_reasoning(delta, deltas)
        if content:
            self._read_content(content, deltas)
        if len(delta) > 1 or content is None:
            self._read_rare(delta, deltas)

    @property
    def _is_plain(self) -> bool:
        """Whether a piece of text is nothing but that."""
        return not (self._is_thinking or self._details or self._index) and self._tags is None

    def _read_content(self, content: Any, deltas: list[Delta]) -> None:
        if not isinstance(content, str):
            self._read_parts(content, deltas)
        elif self._tags is None:
            self._show("", content, deltas)
        else:
            self._show(*self._tags.feed(content), deltas)

    def _read_reasoning(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        content, plain = delta.get("reasoning_content"), delta.get("reasoning")
        if isinstance(content, str) and content:
            self._reasoning.write(content)
            plain = content
        details = delta.get("reasoning_details")
        if details:
            self._details += [detail for detail in details if isinstance(detail, Mapping)]
        if isinstance(plain, str) and plain:
            self._is_thinking = True
            deltas.append(ThoughtPiece(plain, self._index))

    def _read_parts(self, parts: Any, deltas: list[Delta]) -> None:
        """Content as a list: texts, pictures, and thoughts that hold texts."""
        for part in parts:
            if part.get("type") == "thinking":
                for inner in part.get("thinking") or ():
                    self._show(inner.get("text") or "", "", deltas)
            elif part.get("type") == "image_url":
                self._show_picture(part, deltas)
            else:
                self._show("", part.get("text") or "", deltas)

    def _show(self, thought: str, text: str, deltas: list[Delta]) -> None:
        if thought:
            deltas.append(ThoughtPiece(thought, self._index))
        if text:
            self._close_thought(deltas)
            deltas.append(TextPiece(text, self._index) if self._index else text)

    def _show_picture(self, part: Mapping[str, Any], deltas: list[Delta]) -> None:
        """A picture that the model made, in a data: URI or elsewhere."""
        self._close_thought(deltas)
        deltas.append(WholePart(part=Image.from_uri(part["image_url"]["url"]), index=self._index))

    def _read_rare(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        if delta.get("refusal"):
            deltas.append(RefusalText(text=delta["refusal"], index=self._index))
        for picture in delta.get("images") or ():
            self._show_picture(picture, deltas)
        if delta.get("annotations"):
            deltas.append(Info(metadata={"citations": list(delta["annotations"])}, index=self._index))
        legacy = delta.get(LEGACY)
        is_legacy = legacy and (legacy.get("name") or legacy.get("arguments"))
        calls = [{"index": LEGACY, "function": legacy}] if is_legacy else delta.get("tool_calls")
        if calls:
            self._close_thought(deltas)
            self._calls.read(calls, deltas)

    def _close_thought(self, deltas: list[Delta]) -> None:
        """Something else begins: the reasoning up to here is one thought, with what has to go back of it."""
        if not (self._is_thinking or self._details):
            return
        block: dict[str, Any] | None = None
        if self._details:
            block = {"reasoning_details": merged(self._details)}
        elif reasoning := self._reasoning.getvalue():
            block = {"reasoning_content": reasoning}
        if block is not None:
            payload = {**self._origin, "block": block}
            deltas.append(ThoughtEnd(payload=payload, tag=REPLAY_TAG, index=self._index))
        self._is_thinking = False
        self._reasoning, self._details = io.StringIO(), []
