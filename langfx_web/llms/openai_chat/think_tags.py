"""Reasoning that a model writes into its answer: a leading `<think>…</think>`, taken apart while it streams."""

from __future__ import annotations

from typing import Literal

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkTags:
    """Push text in, take thought and visible text out; tags may be cut anywhere."""

    def __init__(self) -> None:
        self._state: Literal["start", "thought", "text"] = "start"
        self._held = ""

    def feed(self, text: str) -> tuple[str, str]:
        """What the next piece shows: thought, and visible text."""
        text, self._held = self._held + text, ""
        if self._state == "start":
            text = self._opened(text)
        if self._state == "thought":
            return self._split(text)
        return "", text

    def close(self) -> tuple[str, str]:
        """What was held back in case that it were a tag."""
        held, self._held = self._held, ""
        return (held, "") if self._state == "thought" else ("", held)

    def _opened(self, text: str) -> str:
        start = text.lstrip()
        if start.startswith(_OPEN):
            self._state = "thought"
            return start[len(_OPEN) :]
        if _OPEN.startswith(start):
            self._held = text
            return ""
        self._state = "text"
        return text

    def _split(self, text: str) -> tuple[str, str]:
        thought, tag, rest = text.partition(_CLOSE)
        if tag:
            self._state = "text"
            return thought, rest
        begun = next(size for size in range(len(_CLOSE) - 1, -1, -1) if text.endswith(_CLOSE[:size]))
        self._held = text[len(text) - begun :]
        return text[: len(text) - begun], ""
