"""What a protocol reads an answer into, and a schema builds its value from.

A tree is made of plain values (str, bytes, int, float, bool, None, `UNKNOWN`), `list`, `tuple` and `dict`, and of the
nodes below. JSON has lists and dicts only; whether a dict may become an object, and an array a tuple, is for the schema
to say, which is told the protocol. Nothing of the author's classes is touched.
"""

from __future__ import annotations

from typing import Any


class ObjectNode:
    """A constructor call: the name of a class of the schema, arguments by position, arguments by name."""

    __slots__ = ("class_name", "fields", "positional")

    def __init__(self, class_name: str, positional: tuple[Any, ...], fields: dict[str, Any]) -> None:
        self.class_name = class_name
        self.positional = positional
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectNode):
            return NotImplemented
        mine = (self.class_name, self.positional, self.fields)
        return mine == (other.class_name, other.positional, other.fields)

    def __hash__(self) -> int:
        return hash((self.class_name, self.positional, tuple(self.fields.items())))

    def __repr__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.fields.items()]
        return f"{self.class_name}({', '.join([*map(repr, self.positional), *named])})"


class SetNode:
    """A set as it was written: doubles are still there, and members need not be hashable."""

    __slots__ = ("items",)

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return self.items == other.items if isinstance(other, SetNode) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.items)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self.items))}}}" if self.items else "set()"


class EnumNode:
    """`Color.RED`: the name of an Enum of the schema, and that of a member, which it need not have."""

    __slots__ = ("enum_name", "member")

    def __init__(self, enum_name: str, member: str) -> None:
        self.enum_name = enum_name
        self.member = member

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EnumNode):
            return NotImplemented
        return (self.enum_name, self.member) == (other.enum_name, other.member)

    def __hash__(self) -> int:
        return hash((self.enum_name, self.member))

    def __repr__(self) -> str:
        return f"{self.enum_name}.{self.member}"


class MarkNode:
    """A word in the place of a value that is not there; only ever written, never read."""

    __slots__ = ("word",)

    def __init__(self, word: str) -> None:
        self.word = word

    def __eq__(self, other: object) -> bool:
        return self.word == other.word if isinstance(other, MarkNode) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.word)

    def __repr__(self) -> str:
        return self.word
