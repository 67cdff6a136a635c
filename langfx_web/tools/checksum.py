"""The checksum of a call: equal calls of one tool have equal checksums, in Python and in JavaScript.

SHA-256 over canonical JSON: no blanks, keys sorted by UTF-16 code units, non-ASCII raw, numbers as JavaScript prints
them; integers beyond 2^53 keep all digits.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from types import NoneType
from typing import Any

from langfx_web.json_text import quoted
from langfx_web.messages import ToolCall

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_EASY = frozenset({str, int, bool, NoneType})
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def checksum(tool: str, args: Any) -> str:
    """64 hex digits for the tool's name and its arguments as the model gave them."""
    text = f'{{"args":{canonical_json(args)},"tool":{_text(tool)}}}'
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def call_checksum(call: ToolCall) -> str:
    """The checksum of a call; arguments that could not be read count as their text."""
    return checksum(call.name, call.raw_args if call.args is None else call.args)


def canonical_json(value: Any) -> str:
    """The one text that a JSON value has here."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    is_list = isinstance(value, (list, tuple))
    if _EASY.issuperset(map(type, value if is_list else value.values())):
        text = _ENCODER.encode(value)
        if text.isascii():  # else there may be keys that sort in another way, and halves of characters
            return text
    if is_list:
        return f"[{','.join(map(canonical_json, value))}]"
    members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{_text(key)}:{canonical_json(member)}" for key, member in members) + "}"


def _text(text: str) -> str:
    if text.isascii():
        return quoted(text)
    # json escapes control characters as JSON.stringify does, but leaves surrogates alone.
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted(joined))


def _number(number: float) -> str:
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    if number < 0:
        return f"-{_number(-number)}"
    mantissa, _, exponent = f"{number!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """The digits with the decimal point behind the `point`-th, as ECMAScript's Number::toString places it."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits[0] + (f".{digits[1:]}" if count > 1 else "")
    return f"{mantissa}e{point - 1:+d}"
