"""The one place that reads and writes JSON text: strict RFC 8259, finite numbers, bounded nesting.

CPython's `json` takes and writes NaN and Infinity, and its nesting is bounded only by the C stack, which in a browser's
worker ends the interpreter (some 6,000 levels in Chromium, fewer elsewhere). Nesting is therefore counted first.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from datetime import date, time
from enum import Enum
from typing import Any, NoReturn, TypeAlias

from langfx_web.errors import JSONTextError, NotPortableError

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices that lead from a value to a part of it."""

MAX_DEPTH = 200
"""Levels of lists and objects that a text or value may have."""

_SAFE_DIGITS = 300
"""Characters of a number; an integer of no more is finite as a float."""

quoted: Callable[[str], str] = json.encoder.encode_basestring
"""A text as JSON has it."""

_AS_ROUND = bytes.maketrans(b"[{]}", b"(())")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def loads(text: str | bytes | bytearray, *, max_depth: int = MAX_DEPTH) -> Any:
    """Read one JSON document; `JSONTextError` (`json_invalid`, `json_too_deep`) on anything else.

    NaN, the infinities and numbers too large for a float are refused.
    """
    try:
        if not isinstance(text, str):
            text = str(text, "utf-8")
        if len(text) > max_depth:
            check_depth(text, max_depth)
        if text[:1] == "{":
            value, end = _read_value(text, 0)
            if end == len(text):
                return value
        # With blanks around it, or refused with what follows the document.
        return _DECODER.decode(text)
    except JSONTextError:
        raise
    except (ValueError, RecursionError) as error:
        raise JSONTextError(f"not JSON: {error}") from error
    except StopIteration as error:
        raise JSONTextError(f"not JSON: a value is missing at character {error.value}") from error


def read_prefix(text: str) -> tuple[Any, int]:
    """The JSON value that a text begins with, and where it ends; `JSONTextError` without one, and for a doubled key.

    For texts that models write: raw control characters in strings are read, and so are NaN, the infinities and numbers
    too large for a float, none of which is finite. The caller counts nesting first.
    """
    try:
        return _LENIENT.raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise JSONTextError(f"not JSON: {error}") from error


def is_unambiguous(text: str) -> bool:
    """Whether every reader takes a JSON text for the same: no member is given twice, each number is finite as a float.

    The text is known to be JSON, perhaps with NaN or infinities, and its nesting to be bounded.
    """
    objects: list[list[tuple[str, Any]]] = []
    numbers: list[str] = []
    # Each hook is C code, and nothing is built.
    decoder = json.JSONDecoder(
        object_pairs_hook=objects.append,
        parse_int=numbers.append,
        parse_float=numbers.append,
        parse_constant=numbers.append,
    )
    decoder.raw_decode(text)
    if sum(map(len, objects)) > sum(map(len, map(dict, objects))):
        return False
    return max(map(len, numbers), default=0) <= _SAFE_DIGITS and all(map(math.isfinite, map(float, numbers)))


def unescaped(text: str) -> str:
    """What a part of a JSON string stands for; it is known to have whole and good escapes, and no quote without one."""
    return _read_string(text + '"', 0, False)[0]


def dumps(value: object, *, max_depth: int = MAX_DEPTH) -> str:
    """Write a JSON value compactly, without ASCII escaping; `NotPortableError` has the path of what has no form."""
    if not is_json(value, max_depth):
        check_value(value, max_depth=max_depth)
    return _ENCODER.encode(value)


def is_json(value: Any, levels: int = MAX_DEPTH, *, largest: float = math.inf) -> bool:
    """Whether a value is of JSON's own types all through, with no integer beyond ±`largest`: most are, and are small.

    One that is not may still have a form, as subclasses of these types do.
    """
    kind = type(value)
    if kind is str:
        return True
    if kind is dict or kind is list:
        if not levels:
            return False
        for member in value.values() if kind is dict else value:
            if not is_json(member, levels - 1, largest=largest):
                return False
        return kind is list or all(type(key) is str for key in value)
    if kind is int:
        return bool(abs(value) <= largest)
    return kind is bool or value is None or (kind is float and math.isfinite(value))


def check_depth(text: str, max_depth: int = MAX_DEPTH) -> None:
    """Refuse (`json_too_deep`) a text whose brackets outside strings nest deeper than `max_depth`."""
    if text.count("[") + text.count("{") <= max_depth:
        return
    # Without escapes, every other piece between quotes is outside of strings.
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    brackets = outside.encode("utf-8", "surrogatepass").translate(_AS_ROUND, _NO_BRACKETS)
    # Each round takes away the innermost pairs of everything, which is one level.
    depth = 0
    while b"()" in brackets and depth <= max_depth:
        brackets = brackets.replace(b"()", b"")
        depth += 1
    if depth + brackets.count(b"(") > max_depth:
        raise JSONTextError(f"nested more than {max_depth} levels deep", code="json_too_deep")


def check_value(value: object, *, path: Path = (), max_depth: int = MAX_DEPTH) -> None:
    """Refuse (`NotPortableError`, with its path) the first part of a value that JSON has no form for.

    Codes: `not_portable` for a wrong kind, a non-text key, a number that is not finite or a cycle; `message_too_deep`.
    """
    pending: list[tuple[object, Path]] = [(value, path)]
    while pending:
        item, path = pending.pop()
        if item is None or isinstance(item, (bool, int, str)):
            continue
        if isinstance(item, float):
            if not math.isfinite(item):
                raise NotPortableError(f"{_where(path)} is {item}, which JSON cannot write", path=path)
        elif len(path) >= max_depth and isinstance(item, (dict, list, tuple)):
            if _is_cyclic(value):
                raise NotPortableError(f"{_where(path[:8])} contains itself", path=path[:8])
            raise NotPortableError(f"nested more than {max_depth} levels deep", path=path[:8], code="message_too_deep")
        elif isinstance(item, dict):
            for key, member in item.items():
                if not isinstance(key, str):
                    raise NotPortableError(f"{_where(path)} has the key {key!r}, which is not a str", path=path)
                pending.append((member, (*path, key)))
        elif isinstance(item, (list, tuple)):
            pending.extend((member, (*path, index)) for index, member in enumerate(item))
        else:
            raise NotPortableError(f"{_where(path)} is a {type(item).__name__}, which has no JSON form", path=path)


class PlainForm:
    """A value with a plain form of its own, as all that a session shows has: `plain` takes that."""

    __slots__ = ()

    def to_plain(self) -> dict[str, Any]:
        """A JSON value."""
        raise NotImplementedError


def plain(value: object, *, leaf: Callable[[object, Path], object] | None = None, max_depth: int = MAX_DEPTH) -> Any:
    """A new JSON value made of Python data.

    Dataclasses and pydantic models become objects, Enums their value, tuples lists, dates and times ISO text; what is a
    `PlainForm` says itself what it becomes.

    `leaf` may replace a value that is none of these (bytes, say) or an int; it returns what stands there instead, or
    raises. `NotPortableError` has the path of what has no form.
    """

    def convert(item: object, path: Path) -> object:
        if item is None or (isinstance(item, (bool, str)) and not isinstance(item, Enum)):
            return item
        if isinstance(item, Enum):
            return convert(item.value, path)
        if isinstance(item, int):
            return item if leaf is None else leaf(item, path)
        if isinstance(item, float):
            check_value(item, path=path)
            return item
        if isinstance(item, (date, time)):
            return item.isoformat()
        if len(path) >= max_depth:
            # Recursion this deep is a cycle or too much; both are refused by the same check.
            raise NotPortableError(f"nested more than {max_depth} levels deep", path=path[:8], code="message_too_deep")
        if isinstance(item, (list, tuple)):
            return [convert(member, (*path, index)) for index, member in enumerate(item)]
        if isinstance(item, dict):
            return {_key(key, path): convert(member, (*path, key)) for key, member in item.items()}
        if isinstance(item, PlainForm):
            return convert(item.to_plain(), path)
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            return {f.name: convert(getattr(item, f.name), (*path, f.name)) for f in dataclasses.fields(item)}
        if hasattr(item, "model_dump") and not isinstance(item, type):
            return convert(item.model_dump(mode="python"), path)
        if leaf is not None:
            return leaf(item, path)
        raise NotPortableError(f"{_where(path)} is a {type(item).__name__}, which has no JSON form", path=path)

    try:
        return convert(value, ())
    except NotPortableError as error:
        if error.code == "message_too_deep" and _is_cyclic(value):
            raise NotPortableError("the value contains itself", path=error.path) from None
        raise


def _key(key: object, path: Path) -> str:
    if not isinstance(key, str):
        raise NotPortableError(f"{_where(path)} has the key {key!r}, which is not a str", path=path)
    return key


def _is_cyclic(value: object) -> bool:
    above: set[int] = set()

    def visit(item: object, depth: int) -> bool:
        if isinstance(item, dict):
            members = list(item.values())
        elif isinstance(item, (list, tuple)):
            members = list(item)
        elif dataclasses.is_dataclass(item) and not isinstance(item, type):
            members = [getattr(item, f.name) for f in dataclasses.fields(item)]
        else:
            return False
        if id(item) in above:
            return True
        if depth > MAX_DEPTH:
            return False
        above.add(id(item))
        found = any(visit(member, depth + 1) for member in members)
        above.discard(id(item))
        return found

    return visit(value, 0)


def camel(name: str) -> str:
    """A Python name as it is spelled in our JSON: `stop_reason` is `stopReason`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _where(path: Path) -> str:
    return "the value" if not path else "the value at " + ".".join(str(step) for step in path)


def _refuse_constant(word: str) -> NoReturn:
    raise JSONTextError(f"not JSON: {word} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JSONTextError(f"not JSON: the number {text[:20]} is too large")
    return number


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a key is given twice")
    return found


# Made once: `json.loads` and `json.dumps` with options make one for each text, which costs more than a small text.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_LENIENT = json.JSONDecoder(strict=False, object_pairs_hook=_once)
_read_value = _DECODER.scan_once  # type: ignore[attr-defined]  # what `raw_decode` calls
_read_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]  # C
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
written: Callable[[object], str] = _ENCODER.encode
"""`dumps` of a value that is known to have a form, without looking at it first."""
