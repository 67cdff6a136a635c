"""Ids that are made here: a prefix that says what is named, then 26 random letters and digits."""

from __future__ import annotations

import os

_ALPHABET = b"0123456789abcdefghijklmnopqrstuvwxyz"
# Of 256 bytes, 36 letters get seven each and the first four an eighth one: nobody guesses an id for that.
_LETTERS = bytes(_ALPHABET[byte % len(_ALPHABET)] for byte in range(256))


def new_id(prefix: str) -> str:
    """A new id: `ses_` a session, `msg_` a prompt, `cnl_` a cancel, `exe_` a tool call, `wkr_` a worker."""
    return prefix + os.urandom(26).translate(_LETTERS).decode()
