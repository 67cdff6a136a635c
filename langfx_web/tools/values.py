"""Values by dotted path: what an author knows of a tool, or keeps for the time of a turn."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from langfx_web.errors import InvalidValueError

_ABSENT: Any = object()


class Registry:
    """Values in nested dicts, found by paths such as `"limits.daily"`; deep copies go in and come out.

    A key that has dots itself is found by them, too. `invalid_registry` for what cannot be kept, or be set where it is
    read-only.
    """

    __slots__ = ("_read_only", "_values")

    def __init__(self, initial: Mapping[str, Any] | Registry | None = None, *, read_only: bool = False) -> None:
        values: Any = initial._values if isinstance(initial, Registry) else {} if initial is None else initial
        if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
            _refuse(f"it starts from an object by names, not from a {type(initial).__name__}")
        self._values: dict[str, Any] = _copied(dict(values))
        self._read_only = read_only

    def get(self, path: str, default: Any = None) -> Any:
        """The value at a path; the default where there is none."""
        found = _found(self._values, path)
        return default if found is _ABSENT else _copied(found)

    def set(self, path: str, value: Any) -> None:
        """Put a value at a path, and make the dicts on the way that are missing."""
        if self._read_only:
            _refuse("it is read-only")
        if not isinstance(path, str) or not path:
            _refuse(f"{path!r} is no path")
        *way, last = path.split(".")
        values = self._values
        for step in way:
            values = values.setdefault(step, {})
            if not isinstance(values, dict):
                _refuse(f"{path!r} leads through {step!r}, which holds a {type(values).__name__}")
        values[last] = _copied(value)

    def has(self, path: str) -> bool:
        """Whether there is a value at a path; None, 0, "" and False are values."""
        return _found(self._values, path) is not _ABSENT

    def keys(self) -> list[str]:
        """The paths of all values that are not themselves dicts with members."""
        return list(_leaves(self._values, ""))

    def all(self) -> dict[str, Any]:
        """All of it."""
        return dict(_copied(self._values))

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, Registry) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it can change

    def __repr__(self) -> str:
        return f"Registry({', '.join(self.keys())})"


def _found(values: Any, path: Any) -> Any:
    if not isinstance(values, dict) or not isinstance(path, str):
        return _ABSENT
    if path in values:
        return values[path]
    # What stands before the first dots that lead anywhere.
    for place, letter in enumerate(path):
        if letter == "." and (found := _found(values.get(path[:place]), path[place + 1 :])) is not _ABSENT:
            return found
    return _ABSENT


def _leaves(values: Mapping[str, Any], before: str) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except (TypeError, RecursionError) as error:
        raise InvalidValueError(f"a registry cannot keep this: {error}", code="invalid_registry") from error


def _refuse(why: str) -> NoReturn:
    raise InvalidValueError(f"a registry cannot do this: {why}", code="invalid_registry")
