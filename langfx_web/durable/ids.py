"""Ids that are made here: a prefix that says what is named, then 26 random letters and digits."""

from __future__ import annotations

import secrets

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


def new_id(prefix: str) -> str:
    """A new id: `ses_` a session, `msg_` a prompt, `cnl_` a cancel, `exe_` a tool call, `wkr_` a worker."""
    return prefix + "".join(secrets.choice(_ALPHABET) for _ in range(26))
