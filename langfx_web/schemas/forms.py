"""Wanted types as forms: what a value of the type may look like, and building it from a tree without conversions.

The kind of each part is checked before anything else, and never converted; pydantic then applies constraints and
validators, once per object, from the inside out. Of the arms of a union the one of the best rank wins:
0 a constant, 1 the exact kind, 2 a conversion, 3 an open dict, 4 anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from langfx_web.errors import JSONTextError
from langfx_web.json_text import Path, loads
from langfx_web.schemas import adapters
from langfx_web.schemas.tree import EnumNode, ObjectNode, SetNode
from langfx_web.schemas.unknown import UNKNOWN


class Fit(NamedTuple):
    """A value that fits, and how well."""

    rank: int
    value: Any


class Reading:
    """One answer being built: its protocol, the names it may use, and what does not fit in it."""

    def __init__(self, *, is_python: bool, classes: Mapping[str, ClassForm], enums: Mapping[str, type[Enum]]) -> None:
        self.is_python = is_python
        self.classes = classes
        self.enums = enums
        self.problems: list[dict[str, Any]] = []

    def refuse(self, path: Path, message: str, type_: str = "kind") -> Fit | None:
        """Note a problem, and return None: the part that has it does not fit."""
        self.problems.append({"type": type_, "path": list(path), "message": message})
        return None

    def trial(self) -> Reading:
        """The same reading with no problems yet."""
        return Reading(is_python=self.is_python, classes=self.classes, enums=self.enums)


class Form:
    """A wanted type. `kind` is what its value is as a root: object, dict, list, tuple, set or scalar."""

    kind = "scalar"
    name = ""

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """The value of a tree; None where it does not fit, which `reading` then says."""
        raise NotImplementedError

    def kinds(self) -> frozenset[str]:
        """What a root of this form may be."""
        return frozenset({self.kind})

    def wrong(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """Say that the tree is of another kind, and return None."""
        return reading.refuse(path, f"{self.name} is wanted, not {kind_of(tree)}")


def kind_of(tree: Any) -> str:
    """What a tree is, in the words of an answer's author."""
    if isinstance(tree, ObjectNode):
        return f"a {tree.class_name}"
    if isinstance(tree, EnumNode):
        return repr(tree)
    if tree is None or tree is UNKNOWN or isinstance(tree, bool):
        return repr(tree)
    if isinstance(tree, float) and not math.isfinite(tree):
        return "a number that is not finite"
    return "a set" if isinstance(tree, SetNode) else f"a {type(tree).__name__}"


class ScalarForm(Form):
    """int, float, bool, str, bytes or None."""

    def __init__(self, type_: type) -> None:
        self.type = type_
        self.name = "None" if type_ is type(None) else type_.__name__

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if type(tree) is self.type and not (isinstance(tree, float) and not math.isfinite(tree)):
            return Fit(1, tree)
        if self.type is float and type(tree) is int and abs(tree) < 1 << 1023:
            return Fit(2, float(tree))
        if self.type is bytes and type(tree) is str and not reading.is_python:
            return Fit(2, tree.encode())
        return self.wrong(tree, path, reading)


class UnknownForm(Form):
    """`lf.Unknown`."""

    name = "UNKNOWN"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if tree is UNKNOWN or (tree == "UNKNOWN" and not reading.is_python):
            return Fit(0, UNKNOWN)
        return self.wrong(tree, path, reading)


class LiteralForm(Form):
    """One of some constants, members of Enums among them."""

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


class EnumForm(Form):
    """An Enum: `Color.RED` in python, or a member's value."""

    def __init__(self, type_: type[Enum]) -> None:
        self.type = type_
        self.name = f"one of {', '.join(repr(member.value) for member in type_)}"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        member = member_of(self.type, tree, reading)
        if member is None:
            return self.wrong(tree, path, reading)
        return Fit(0 if isinstance(tree, EnumNode) else 2, member)


def member_of(type_: type[Enum], tree: Any, reading: Reading) -> Enum | None:
    """The member that a tree names, or has the value of."""
    if isinstance(tree, EnumNode):
        return type_.__members__.get(tree.member) if reading.enums.get(tree.enum_name) is type_ else None
    return next((item for item in type_ if type(item.value) is type(tree) and item.value == tree), None)


class CodedForm(Form):
    """A type that JSON has as text, such as a date; a Decimal may be a number too."""

    def __init__(self, type_: Any, *, is_number: bool) -> None:
        self.type = type_
        self.is_number = is_number
        self.name = f"{getattr(type_, '__name__', 'a')} text"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        is_number = self.is_number and type(tree) in (int, float) and math.isfinite(tree)
        if type(tree) is not str and not is_number:
            return self.wrong(tree, path, reading)
        found = _validated(self.type, tree, path, reading)
        return None if found is None else Fit(2, found[0])


class ListForm(Form):
    """A list, tuple of any length, set or frozenset of one type."""

    def __init__(self, make: type, item: Form) -> None:
        self.make = make
        self.item = item
        self.kind = "set" if make in (set, frozenset) else make.__name__
        self.name = f"a {make.__name__}"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        items = self._items(tree, reading)
        if items is None:
            return self.wrong(tree, path, reading)
        found = [self.item.fit(item, (*path, index), reading) for index, item in enumerate(items)]
        values = [fit.value for fit in found if fit is not None]
        if len(values) < len(found):
            return None
        try:
            return Fit(1 if reading.is_python or self.make is list else 2, self.make(values))
        except TypeError:
            return reading.refuse(path, "a set cannot hold these members")

    def _items(self, tree: Any, reading: Reading) -> Sequence[Any] | None:
        if not reading.is_python:
            return tree if isinstance(tree, list) else None
        if self.kind == "set":
            return tree.items if isinstance(tree, SetNode) else None
        return tree if type(tree) is self.make and isinstance(tree, (list, tuple)) else None


class TupleForm(Form):
    """A tuple with a type for each place."""

    kind = "tuple"

    def __init__(self, items: Sequence[Form]) -> None:
        self.items = items
        self.name = f"a tuple of {len(items)}"

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if type(tree) is not (tuple if reading.is_python else list) or len(tree) != len(self.items):
            return self.wrong(tree, path, reading)
        found = [form.fit(tree[index], (*path, index), reading) for index, form in enumerate(self.items)]
        values = [fit.value for fit in found if fit is not None]
        return Fit(1 if reading.is_python else 2, tuple(values)) if len(values) == len(found) else None


class DictForm(Form):
    """An open dict; in JSON its keys are read from their text."""

    kind = "dict"
    name = "a dict"

    def __init__(self, key: Form, value: Form) -> None:
        self.key = key
        self.value = value

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if not isinstance(tree, dict):
            return self.wrong(tree, path, reading)
        before = len(reading.problems)
        found: dict[Any, Any] = {}
        for name, member in tree.items():
            step = (*path, name if isinstance(name, (str, int)) else repr(name))
            key = self._key(name, step, reading)
            value = self.value.fit(member, step, reading)
            if key is not None and value is not None:
                found[key.value] = value.value
        return Fit(3, found) if len(reading.problems) == before else None

    def _key(self, name: Any, path: Path, reading: Reading) -> Fit | None:
        trial = reading.trial()
        key = self.key.fit(name, path, trial)
        if key is None and not reading.is_python:
            try:
                key = self.key.fit(loads(name), path, trial)
            except JSONTextError:
                key = None
        if key is None:
            reading.problems += trial.problems[:1]
        return key


class Member(NamedTuple):
    """A field of an object: its Python name, its name in JSON, its form, and how it may be given."""

    name: str
    alias: str
    form: Form
    is_required: bool
    is_hidden: bool


class RecordForm(Form):
    """A TypedDict: a dict with exactly its keys."""

    kind = "dict"

    def __init__(self, name: str) -> None:
        self.name = f"a {name}"
        self.members: dict[str, Member] = {}

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if not isinstance(tree, dict):
            return self.wrong(tree, path, reading)
        found = fitted(self.members, tree, path, reading)
        return None if found is None else Fit(1, found)


def fitted(
    members: Mapping[str, Member], given: Mapping[Any, Any], path: Path, reading: Reading
) -> dict[str, Any] | None:
    """The values of an object's members by Python name; unknown, hidden and missing ones are problems."""
    before = len(reading.problems)
    found: dict[str, Any] = {}
    for key, tree in given.items():
        member = members.get(key)
        if member is None or member.is_hidden:
            reading.refuse((*path, str(key)), "there is no such field", "extra_forbidden")
            continue
        fit = member.form.fit(tree, (*path, key), reading)
        if fit is not None:
            found[member.name] = fit.value
    for key, member in members.items():
        if member.is_required and key not in given:
            reading.refuse((*path, key), "the field is missing", "missing")
    return found if len(reading.problems) == before else None


class ClassForm(Form):
    """A pydantic model, dataclass or NamedTuple, and the subclasses that may stand for it."""

    kind = "object"

    def __init__(self, type_: type, name: str) -> None:
        self.type = type_
        self.name = name
        self.members: dict[str, Member] = {}
        self.offered: list[ClassForm] = []
        self.is_tuple = issubclass(type_, tuple)

    def kinds(self) -> frozenset[str]:
        return frozenset({"object", "tuple"} if self.is_tuple else {"object"})

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if isinstance(tree, ObjectNode):
            form = reading.classes.get(tree.class_name)
            if form is None or form not in self.offered:
                return self.wrong(tree, path, reading)
            given = form._bound(tree, path, reading)
            return None if given is None else form._built(given, path, reading)
        if self.is_tuple and type(tree) is (tuple if reading.is_python else list):
            if len(tree) > len(self.members):
                return reading.refuse(path, f"{self.name} has {len(self.members)} fields")
            return self._built(dict(zip(self.members, tree, strict=False)), path, reading)
        if not isinstance(tree, dict) or reading.is_python:
            return self.wrong(tree, path, reading)
        return best(self.offered, tree, path, reading, lambda form: form._of_json)

    def _of_json(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        names = {member.alias: member for member in self.members.values()}
        values = fitted(names, tree, path, reading)
        return None if values is None else self._made(values, path, reading)

    def _bound(self, node: ObjectNode, path: Path, reading: Reading) -> dict[str, Any] | None:
        names = [name for name, member in self.members.items() if not member.is_hidden]
        if len(node.positional) > len(names):
            reading.refuse(path, f"{self.name} has {len(names)} fields, {len(node.positional)} are given")
            return None
        given = dict(zip(names, node.positional, strict=False))
        doubled = given.keys() & node.fields.keys()
        if doubled:
            reading.refuse((*path, min(doubled)), "the field is given by position and by name")
            return None
        return given | node.fields

    def _built(self, given: Mapping[str, Any], path: Path, reading: Reading) -> Fit | None:
        values = fitted(self.members, given, path, reading)
        return None if values is None else self._made(values, path, reading)

    def _made(self, values: dict[str, Any], path: Path, reading: Reading) -> Fit | None:
        found = _validated(self.type, values, path, reading)
        return None if found is None else Fit(1, found[0])


class UnionForm(Form):
    """One of several types; their order never matters."""

    def __init__(self, arms: Sequence[Form]) -> None:
        self.arms = arms
        self.name = " or ".join(arm.name for arm in arms)

    def kinds(self) -> frozenset[str]:
        return frozenset().union(*(arm.kinds() for arm in self.arms))

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        return best(self.arms, tree, path, reading, lambda form: form.fit)


def best(forms: Sequence[Any], tree: Any, path: Path, reading: Reading, of: Any) -> Fit | None:
    """The fit of the best rank; different values of one rank are a mismatch that names their forms."""
    if len(forms) == 1:
        return of(forms[0])(tree, path, reading)  # type: ignore[no-any-return]  # both are `fit`
    chosen: Fit | None = None
    chosen_form: Any = None
    nearest: list[dict[str, Any]] | None = None
    for form in forms:
        trial = reading.trial()
        fit = of(form)(tree, path, trial)
        if fit is None:
            if nearest is None or _nearness(trial.problems) > _nearness(nearest):
                nearest = trial.problems
        elif chosen is None or fit.rank < chosen.rank:
            chosen, chosen_form = fit, form
        elif fit.rank == chosen.rank and not _is_same(fit.value, chosen.value):
            return reading.refuse(path, f"it fits both {chosen_form.name} and {form.name}", "ambiguous")
    if chosen is None:
        reading.problems += nearest or []
    return chosen


def _nearness(problems: list[dict[str, Any]]) -> tuple[int, int]:
    return max((len(problem["path"]) for problem in problems), default=0), -len(problems)


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one) == repr(other) and one == other


class AnyForm(Form):
    """Any value that an answer can have, classes of the schema included."""

    name = "a value"

    def kinds(self) -> frozenset[str]:
        return frozenset({"object", "dict", "list", "tuple", "set", "scalar"})

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        before = len(reading.problems)
        value = self._value(tree, path, reading)
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


def _validated(type_: Any, value: Any, path: Path, reading: Reading) -> tuple[Any] | None:
    """The value as pydantic takes it, constraints and validators applied, in a tuple of one."""
    try:
        return (adapters.made(type_, value),)
    except ValueError as error:
        found = adapters.problems(error)
        if found is None:
            raise
        for problem in found:
            reading.problems.append({**problem, "path": [*path, *problem["path"]]})
        return None
