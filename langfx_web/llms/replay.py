"""Which thoughts of a conversation go back to a provider: the thought alone decides, never its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langfx_web.messages import Thought


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a wire takes back: payloads with one of these `tags`, of its `host` and, unless None, of this `model`.

    The tag `plain-text` stands for readable thoughts, sent as text.
    """

    tags: frozenset[str]
    host: str
    model: str | None = None

    def payload(self, thought: Thought) -> Mapping[str, Any] | None:
        """The payload to send, or None where it stays behind."""
        payload = thought.payload
        if thought.replay_compatibility not in self.tags or not isinstance(payload, Mapping):
            return None
        if payload.get("host") != self.host or self.model not in (None, payload.get("model")):
            return None
        return payload

    def words(self, thought: Thought) -> str:
        """The text to send in place of a payload; usually none."""
        if "plain-text" in self.tags and thought.content.strip() and self.payload(thought) is None:
            return f"<thought>{thought.content}</thought>"
        return ""
