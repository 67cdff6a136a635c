"""The escapes of Python's string literals, one at a time; one that Python does not know stays as it is written."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|(?P<code>x[0-9a-fA-F]{2})|(?P<wide>u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
    r"|(?P<named>N\{[A-Za-z0-9 -]{1,100}\})|(?P<line>\r\n?|\n)|(?P<plain>.))",
    re.DOTALL,
)
_UNFINISHED = re.compile(
    r"\\(?:[0-7]{0,2}|x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|N(?:\{[A-Za-z0-9 -]{0,100})?|\r)\Z"
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"'}


def escaped(text: str, at: int, *, is_bytes: bool) -> tuple[str, int] | None:
    """What the escape at a backslash stands for, and where it ends; None while more text may belong to it."""
    if _UNFINISHED.match(text, at):
        return None
    match = _ESCAPE.match(text, at)
    assert match is not None
    return _meaning(match, is_bytes), match.end()


def _meaning(match: re.Match[str], is_bytes: bool) -> str:
    kind, written = str(match.lastgroup), match[0]
    if kind == "plain":
        return _PLAIN.get(written[1], written)
    if kind == "line":
        return ""
    if kind == "octal":
        return chr(int(written[1:], 8) & (0xFF if is_bytes else 0x1FF))
    if is_bytes and kind != "code":
        return written
    try:
        return written.encode("ascii").decode("unicode_escape")
    except ValueError:
        return written
