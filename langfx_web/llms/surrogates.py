"""Characters beyond U+FFFF that a stream cut into halves."""

from __future__ import annotations


def join_halves(held: str, text: str) -> tuple[str, str]:
    """Text that is whole, and a first half at its end that waits for the next piece; other halves become U+FFFD."""
    text = held + text
    if text.isascii():
        return text, ""
    held = ""
    if "\ud800" <= text[-1] <= "\udbff":
        text, held = text[:-1], text[-1]
    return whole(text), held


def whole(text: str) -> str:
    """The text with halves joined, and U+FFFD for those without a partner."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
