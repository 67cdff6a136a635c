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
