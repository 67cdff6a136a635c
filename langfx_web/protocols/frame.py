"""A container while it is read, and what becomes of it: a tree to build a value from, or a partial value to show."""

from __future__ import annotations

from itertools import chain, count
from types import MappingProxyType
from typing import Any

from langfx_web.events import PartialObject
from langfx_web.json_text import Path
from langfx_web.protocols.text import Text
from langfx_web.schemas.tree import ObjectNode, SetNode

END = "\0"
"""Stands after the text; a zero byte in the text itself is refused before it is read."""

UNDECIDED = frozenset({"group", "brace"})
"""Kinds of brackets whose meaning shows only after their first member: `(1)` or `(1,)`, `{1}` or `{1: 2}`."""


class Frame:
    """A container that is still open.

    `kind` is object, dict, list, tuple, set, or one of `UNDECIDED`; `closer` is what ends it. Members by position are
    in `items`, members by name or key in `named`; `is_keyed` says that `key` belongs to the next member. `hush` counts
    the reasons why nothing of it is shown, `joined` is the text, and its path, that a bracketed string goes on with.
    """

    __slots__ = (
        "class_name",
        "closer",
        "hush",
        "is_keyed",
        "is_shown",
        "items",
        "joined",
        "key",
        "kind",
        "named",
        "names",
        "path",
    )

    def __init__(self, kind: str, closer: str, class_name: str | None = None, names: tuple[str, ...] = ()) -> None:
        self.kind = kind
        self.closer = closer
        self.class_name = class_name
        self.names = names
        self.items: list[Any] = []
        self.named: dict[Any, Any] = {}
        self.key: Any = None
        self.is_keyed = False
        self.path: Path = ()
        self.is_shown = False
        self.hush = 0
        self.joined: tuple[Text, Path | None] | None = None

    def add(self, value: Any) -> None:
        """Take the next member."""
        if self.is_keyed:
            self.named[self.key] = value
            self.is_keyed = False
        else:
            self.items.append(value)

    def ends_at(self, char: str) -> bool:
        """Whether the character ends it; a tuple without parentheses ends with the answer."""
        return char == self.closer or (char == ";" and self.closer == END)

    def step(self) -> str | int:
        """What leads to the next member in a path; an argument by position goes by its field's name."""
        if self.is_keyed:
            return self.key if isinstance(self.key, (str, int)) else str(self.key)
        place = len(self.items)
        return self.names[place] if place < len(self.names) else place


def tree(frame: Frame) -> Any:
    """The complete container as a tree, for a schema to build from."""
    match frame.kind:
        case "list":
            return frame.items
        case "tuple":
            return tuple(frame.items)
        case "set":
            return SetNode(tuple(frame.items))
        case "object" if frame.class_name is not None:
            return ObjectNode(frame.class_name, tuple(frame.items), frame.named)
    return frame.named


class PartialList(tuple[Any, ...]):
    """A list that was shown; a tuple that knows what it was."""

    __slots__ = ()
    kind = "list"


class PartialTuple(tuple[Any, ...]):
    """A tuple that was shown."""

    __slots__ = ()
    kind = "tuple"


class PartialSet(tuple[Any, ...]):
    """A set that was shown, in the order and with the doubles that it was written with."""

    __slots__ = ()
    kind = "set"


def partial(frame: Frame) -> Any:
    """The complete container as events show it: immutable, its parts shared with the events of its members."""
    match frame.kind:
        case "list":
            return PartialList(frame.items)
        case "tuple":
            return PartialTuple(frame.items)
        case "set":
            return PartialSet(frame.items)
        case "object" if frame.class_name is not None:
            fields: dict[Any, Any] = dict(zip(chain(frame.names, count(len(frame.names))), frame.items, strict=False))
            return PartialObject(frame.class_name, MappingProxyType(fields | frame.named))
    return MappingProxyType(frame.named)
