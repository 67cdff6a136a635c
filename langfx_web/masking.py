"""Keys in texts that go further than they should: replaced by `***`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEY_SHAPED = re.compile(r"(?i:bearer)\s+[^\s\"',;]+|\bsk-[A-Za-z0-9_\-*.]{4,}|\bAIza[A-Za-z0-9_\-]{4,}")

SHORTEST_SECRET = 6
"""Characters below which a known secret is left alone: it would hide ordinary words."""


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, and without anything that is shaped like a key."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return _KEY_SHAPED.sub("***", text)


def said_by(error: BaseException) -> str:
    """What an exception says of itself, masked; the empty text where even that fails."""
    try:
        return masked(str(error))
    except Exception:  # noqa: BLE001  # a class of the app's own may do anything
        return ""
