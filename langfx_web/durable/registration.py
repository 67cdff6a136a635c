"""What a conversation remembers of each message id: kept as the text of a unique key, decided in the store's append."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langfx_web.durable.codec import error_to_plain, json_bytes
from langfx_web.errors import JournalInvalidError, JSONTextError
from langfx_web.events import ErrorInfo, TurnEnd
from langfx_web.json_text import loads
from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn ended: `epoch` is its last writer's, `lines` how many lines it has in all."""

    stop_reason: str
    usage: Usage | None = None
    error: ErrorInfo | None = None
    epoch: int
    lines: int

    def as_event(self, *, repeated: bool | None = None) -> TurnEnd:
        """The event that shows it."""
        return TurnEnd(stop_reason=self.stop_reason, usage=self.usage, error=self.error, repeated=repeated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """An input of a conversation: its type, the submission it came with, and what has become of it.

    `cursor` is a line before the turn's first: the last one when the prompt was stored, then the very last before it.
    """

    type: str
    nonce: str
    cursor: int = 0
    outcome: Outcome | None = None

    def to_text(self) -> str:
        """The text that a store keeps."""
        plain: dict[str, Any] = {"type": self.type, "nonce": self.nonce, "cursor": self.cursor}
        if self.outcome is not None:
            plain["outcome"] = {
                "stop_reason": self.outcome.stop_reason,
                "usage": self.outcome.usage and self.outcome.usage.to_plain(),
                "error": self.outcome.error and error_to_plain(self.outcome.error),
                "epoch": self.outcome.epoch,
                "lines": self.outcome.lines,
            }
        return json_bytes(plain).decode("utf-8")

    @staticmethod
    def from_text(text: str) -> Registration:
        """Read the form of `to_text`; `journal_invalid` for anything else."""
        try:
            plain = loads(text)
            outcome = plain.get("outcome")
            return Registration(
                type=plain["type"],
                nonce=plain["nonce"],
                cursor=plain["cursor"],
                outcome=None if outcome is None else _outcome(outcome),
            )
        except (JSONTextError, AttributeError, KeyError, TypeError) as error:
            raise JournalInvalidError(f"what is stored of a message id cannot be read: {error}") from error


def _outcome(plain: dict[str, Any]) -> Outcome:
    return Outcome(
        stop_reason=plain["stop_reason"],
        usage=None if plain["usage"] is None else Usage.from_plain(plain["usage"]),
        error=None if plain["error"] is None else ErrorInfo(**plain["error"]),
        epoch=plain["epoch"],
        lines=plain["lines"],
    )
