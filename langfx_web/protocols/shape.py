"""What a reader needs to know of a schema: the names that an answer may use, and how an answer may begin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from langfx_web.protocols.answer import compiled, compiled_start, python_start
from langfx_web.schemas.unknown import UNKNOWN

CONSTANTS: Mapping[str, Any] = {
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "None": None,
    "null": None,
    "UNKNOWN": UNKNOWN,
}
"""Names that are values, in both spellings that models use."""


class Wanted(Protocol):
    """What is read of a schema here: whether it is plain text, its names, what its root may be, and how to build."""

    @property
    def is_text(self) -> bool: ...

    @property
    def classes(self) -> Mapping[str, Any]:
        """The classes that an answer may call, by offered name."""

    @property
    def enums(self) -> Mapping[str, Any]:
        """The Enums of which it may name members."""

    @property
    def root_kinds(self) -> frozenset[str]:
        """What the root may be: some of object, dict, list, tuple, set, scalar."""

    def __hash__(self) -> int: ...

    def fields(self, name: str, /) -> tuple[str, ...]:
        """A class's fields in declared order, as arguments by position bind."""

    @property
    def python_type(self) -> str:
        """What a model is told of it in the python protocol."""

    def json_schema(self) -> dict[str, Any]:
        """What it is told in the JSON protocol."""

    def tree(self, value: Any, /) -> Any:
        """What a value of the type would be built from; nodes of a tree may stand among the values."""

    def plain(self, tree: Any, /) -> Any:
        """What reading the JSON of a tree's value gives."""

    def read_json(self, text: str, /, *, max_depth: int) -> tuple[Any] | None:
        """The typed value of one JSON document at once, in a tuple of one; None where its tree is to be built."""

    def build(self, tree: Any, /, *, protocol: str) -> Any:
        """The typed value of a tree; `output_mismatch` where it does not fit."""


_BRACKETS = {"list": "[", "dict": "{", "set": "{", "tuple": "("}


class Shape:
    """The closed table of names that a python answer may use, and the patterns of its beginning.

    `classes` has the field names of each class in declared order, `enums` the names of Enums.
    """

    __slots__ = ("classes", "enums", "finder", "start")

    def __init__(
        self, *, classes: Mapping[str, tuple[str, ...]], enums: frozenset[str], root_kinds: frozenset[str]
    ) -> None:
        self.classes = classes
        self.enums = enums
        brackets = "".join(sorted({_BRACKETS[kind] for kind in root_kinds if kind in _BRACKETS}))
        start = python_start(classes=classes, brackets=brackets)
        self.finder: re.Pattern[str] = compiled(start)
        self.start: re.Pattern[str] = compiled_start(start)

    def unknown(self, name: str) -> str:
        """What is said of a name that the schema does not have."""
        known = ", ".join(sorted([*self.classes, *self.enums])) or "none"
        return f"{name[:60]!r} is not a name of the wanted type; known: {known}"
