"""Text, thoughts and cache points; the other parts of messages, media and tool calls, have modules of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from langfx_web.errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class Text:
    """Words, exactly as they are said."""

    type: ClassVar[Literal["text"]] = "text"

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidValueError(f"text must be a str, not {type(self.text).__name__}", code="invalid_message")


@dataclass(frozen=True, slots=True)
class Thought:
    """A reasoning part: readable content, a provider's opaque continuation, or both.

    `payload` is a JSON value that goes back to the provider byte for byte; `replay_compatibility` is the tag of the
    wire it can go back on and is required with a payload. Content may be empty only where there is a payload.
    """

    type: ClassVar[Literal["thought"]] = "thought"

    content: str = ""
    payload: Any = None
    replay_compatibility: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if self.payload is None and not self.content:
            raise InvalidValueError("a thought needs content or a payload", code="invalid_message")
        if self.payload is not None and not self.replay_compatibility:
            raise InvalidValueError("a thought's payload needs a replay_compatibility tag", code="invalid_message")

    def __repr__(self) -> str:
        payload = "" if self.payload is None else f", payload=<{self.replay_compatibility}>"
        return f"Thought({self.content!r}{payload})"


@dataclass(frozen=True, slots=True)
class CachePoint:
    """A hint that the conversation up to here is worth caching at the provider; it is no text and says nothing.

    `ttl` is how long, in the provider's own words (`"5m"`, `"1h"`). Wires without such a hint leave it out.
    """

    type: ClassVar[Literal["cache_point"]] = "cache_point"

    ttl: str | None = None

    def __post_init__(self) -> None:
        if self.ttl is not None and not (isinstance(self.ttl, str) and self.ttl.strip()):
            raise InvalidValueError("a cache point's ttl must be a non-blank str", code="invalid_message")
