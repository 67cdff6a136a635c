"""Forms of values that have no parts: scalars, constants, types written as text, and anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import Any

from langfx_web.json_text import Path
from langfx_web.schemas import adapters
from langfx_web.schemas.form import Fit, Form, Reading, note, validated
from langfx_web.schemas.tree import EnumNode, ObjectNode, SetNode
from langfx_web.schemas.unknown import UNKNOWN

_PLAIN = frozenset({str, int, bool, type(None)})
_PROBLEMS = {str: "string_type", type(None): "none_required"}


def as_float(number: int) -> float | None:
    """The float nearest to an integer; None where it is not finite."""
    try:
        return float(number)
    except OverflowError:
        return None


class ScalarForm(Form):
    """int, float, bool, str, bytes or None."""

    def __init__(self, type_: type) -> None:
        self.type = type_
        self.name = "None" if type_ is type(None) else type_.__name__
        self.problem = _PROBLEMS.get(type_, f"{type_.__name__}_type")

    def is_plain(self, value: Any) -> bool:
        return type(value) is self.type and self.type in _PLAIN and not self.has_more

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if type(tree) is self.type and not (isinstance(tree, float) and not math.isfinite(tree)):
            return Fit(1, tree)
        if self.type is float and type(tree) is int and (number := as_float(tree)) is not None:
            return Fit(2, number)
        if self.type is bytes and type(tree) is str and not reading.is_python:
            return Fit(2, tree.encode())
        return self.wrong(tree, path, reading)

    def takes_null(self) -> bool:
        return self.type is type(None)


class UnknownForm(Form):
    """`lf.Unknown`."""

    name = "UNKNOWN"
    problem = "literal_error"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if tree is UNKNOWN or (tree == "UNKNOWN" and not reading.is_python):
            return Fit(0, UNKNOWN)
        return self.wrong(tree, path, reading)


class LiteralForm(Form):
    """One of some constants, members of Enums among them."""

    problem = "literal_error"

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self.name = f"one of {', '.join(map(repr, values))}"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        for value in self.values:
            if isinstance(value, Enum):
                is_it = member_of(type(value), tree, reading) is value
            else:
                is_it = type(tree) is type(value) and tree == value
            if is_it:
                return Fit(0, value)
        return self.wrong(tree, path, reading)

    def takes_null(self) -> bool:
        return None in self.values


class EnumForm(Form):
    """An Enum: `Color.RED` in python, or a member's value."""

    problem = "enum"

    def __init__(self, type_: type[Enum]) -> None:
        self.type = type_
        self.name = f"one of {', '.join(repr(member.value) for member in type_)}"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        member = member_of(self.type, tree, reading)
        if member is None:
            return self.wrong(tree, path, reading)
        return Fit(2 if type(tree) is type(member.value) else 0, member)

    def takes_null(self) -> bool:
        return any(member.value is None for member in self.type)


def member_of(type_: type[Enum], tree: Any, reading: Reading) -> Enum | None:
    """The member that a tree names, or has the value of, or is."""
    if isinstance(tree, EnumNode):
        return type_.__members__.get(tree.member) if reading.enums.get(tree.enum_name) is type_ else None
    if isinstance(tree, Enum):
        return tree if type(tree) is type_ else None
    return next((item for item in type_ if type(item.value) is type(tree) and item.value == tree), None)


class CodedForm(Form):
    """A type that JSON has as text, such as a date; a Decimal may be a number too."""

    def __init__(self, type_: Any, *, is_number: bool) -> None:
        self.type = type_
        self.is_number = is_number
        self.name = f"{getattr(type_, '__name__', 'a')} text"
        self.problem = f"{type_.__name__.lower()}_type"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        is_number = self.is_number and type(tree) in (int, float) and math.isfinite(tree)
        if type(tree) is not str and not is_number:
            return self.wrong(tree, path, reading)
        try:
            return Fit(2, adapters.from_text(self.type, tree))
        except ValueError as error:
            found = adapters.problems(error)
            if found is None:
                raise
            note(found, tree, path, reading)
            return None

    def is_own(self, tree: Any) -> bool:
        return isinstance(tree, self.type) or type(tree).__module__ != "builtins"

    def kept(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if isinstance(tree, self.type):
            return Fit(1 if type(tree) is self.type else 2, tree)
        # Some types of pydantic's have values of another, such as a date in the past.
        found = validated(self.type, tree, path, reading)
        return None if found is None else Fit(2, found[0])


class AnyForm(Form):
    """Any value that an answer can have, classes of the schema included."""

    name = "a value"

    def kinds(self) -> frozenset[str]:
        return frozenset({"object", "dict", "list", "tuple", "set", "scalar"})

    def takes_null(self) -> bool:
        return True

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if reading.is_app:
            return Fit(4, tree)
        before, is_inner = len(reading.problems), reading.is_inner
        reading.is_inner = False
        value = self._value(tree, path, reading)
        reading.is_inner = is_inner
        return Fit(4, value) if len(reading.problems) == before else None

    def _value(self, tree: Any, path: Path, reading: Reading) -> Any:
        if isinstance(tree, ObjectNode):
            fit = reading.classes[tree.class_name].fit(tree, path, reading)
            return None if fit is None else fit.value
        if isinstance(tree, EnumNode):
            member = member_of(reading.enums[tree.enum_name], tree, reading)
            return member if member is not None else self.wrong(tree, path, reading)
        if isinstance(tree, (list, tuple)):
            return type(tree)(self._value(item, (*path, index), reading) for index, item in enumerate(tree))
        if isinstance(tree, dict):
            return {key: self._value(item, (*path, str(key)), reading) for key, item in tree.items()}
        if isinstance(tree, SetNode):
            try:
                return {self._value(item, (*path, index), reading) for index, item in enumerate(tree.items)}
            except TypeError:
                return reading.refuse(path, "a set cannot hold these members")
        if tree is UNKNOWN or (isinstance(tree, float) and not math.isfinite(tree)):
            return self.wrong(tree, path, reading)
        return tree
