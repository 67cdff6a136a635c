"""Forms of values with parts: lists, tuples, sets, dicts, TypedDicts, unions, and types that name themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from langfx_web.errors import JSONTextError
from langfx_web.json_text import Path, loads
from langfx_web.schemas.form import Fit, Form, Reading, best
from langfx_web.schemas.leaves import EnumForm, LiteralForm, ScalarForm
from langfx_web.schemas.tree import SetNode


class ListForm(Form):
    """A list, tuple of any length, set or frozenset of one type."""

    def __init__(self, make: type, item: Form) -> None:
        self.make = make
        self.item = item
        self.kind = "set" if make in (set, frozenset) else make.__name__
        self.name = f"a {make.__name__}"
        self.problem = f"{'frozen_set' if make is frozenset else make.__name__}_type"
        self.is_blurred = item.is_blurred
        self.has_more = item.has_more

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        items = self._items(tree, reading)
        if items is None:
            return self.wrong(tree, path, reading)
        is_inner = reading.is_inner
        if self.kind == "set":
            reading.is_inner = False  # what is not made yet has no hash
        found = [self.item.fit(item, (*path, index), reading) for index, item in enumerate(items)]
        reading.is_inner = is_inner
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

    def is_own(self, tree: Any) -> bool:
        return type(tree) is self.make and self.make is not list

    def kept(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        fit = self.fit(list(tree), path, reading)
        return None if fit is None else Fit(1, fit.value)


class TupleForm(Form):
    """A tuple with a type for each place."""

    kind = "tuple"
    problem = "tuple_type"

    def __init__(self, items: Sequence[Form]) -> None:
        self.items = items
        self.name = f"a tuple of {len(items)}"
        self.is_blurred = any(item.is_blurred for item in items)
        self.has_more = any(item.has_more for item in items)

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if type(tree) is not (tuple if reading.is_python else list) or len(tree) != len(self.items):
            return self.wrong(tree, path, reading)
        found = [form.fit(tree[index], (*path, index), reading) for index, form in enumerate(self.items)]
        values = [fit.value for fit in found if fit is not None]
        return Fit(1 if reading.is_python else 2, tuple(values)) if len(values) == len(found) else None

    def is_own(self, tree: Any) -> bool:
        return type(tree) is tuple and len(tree) == len(self.items)

    def kept(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        fit = self.fit(list(tree), path, reading)
        return None if fit is None else Fit(1, fit.value)


class DictForm(Form):
    """An open dict; in JSON its keys are read from their text."""

    kind = "dict"
    name = "a dict"
    problem = "dict_type"

    def __init__(self, key: Form, value: Form) -> None:
        self.key = key
        self.value = value
        self.is_blurred = value.is_blurred
        self.has_more = key.has_more or value.has_more

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
        if key is None and not reading.is_python and isinstance(name, str):
            try:
                key = self.key.fit(loads(name), path, trial)
            except JSONTextError:
                key = None
        if key is None:
            reading.problems += trial.problems[:1]
        return key


class Member(NamedTuple):
    """A field of an object: its Python name, its name in JSON, its form, and how it may be given.

    `default` is `...` where there is none, or only a call would tell it; instances do not keep what is `is_init_only`.
    """

    name: str
    alias: str
    form: Form
    is_required: bool
    is_hidden: bool
    default: Any = ...
    is_init_only: bool = False

    @property
    def is_default_told(self) -> bool:
        """Whether the default is known, and one that an answer could give."""
        return self.default is not ... and (self.default is not None or self.form.takes_null())


class RecordForm(Form):
    """A TypedDict: a dict with exactly its keys, unless it has `rest` for others; `label` names one with itself in."""

    kind = "dict"
    problem = "dict_type"
    has_more = True

    def __init__(self, name: str) -> None:
        self.name = f"a {name}"
        self.members: dict[str, Member] = {}
        self.rest: Form | None = None
        self.label = ""

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if not isinstance(tree, dict):
            return self.wrong(tree, path, reading)
        found, is_whole = fitted(self.members, tree, path, reading, self.rest)
        return Fit(1, found) if is_whole else None


def fitted(
    members: Mapping[str, Member], given: Mapping[Any, Any], path: Path, reading: Reading, rest: Form | None = None
) -> tuple[dict[str, Any], bool]:
    """The values of an object's members by Python name, and whether all is well: unknown, hidden and missing ones are
    problems.

    `rest` is the form of members that are not known, where there may be some.
    """
    before = len(reading.problems)
    found: dict[str, Any] = {}
    for key, tree in given.items():
        member = members.get(key)
        if member is None and rest is not None and isinstance(key, str):
            fit = rest.fit(tree, (*path, key), reading)
        elif member is None or member.is_hidden:
            reading.refuse((*path, str(key)), "there is no such field", "extra_forbidden")
            continue
        else:
            fit = member.form.fit(tree, (*path, key), reading)
        if fit is not None:
            found[key if member is None else member.name] = fit.value
    for key, member in members.items():
        if member.is_required and key not in given:
            reading.refuse((*path, key), "the field is missing", "missing")
    return found, len(reading.problems) == before


class UnionForm(Form):
    """One of several types; their order never matters. A `discriminator` is the field that tells them apart.

    `only` is the arm beside null, where there is no other.
    """

    def __init__(self, arms: Sequence[Form]) -> None:
        self.arms = arms
        self.name = " or ".join(dict.fromkeys(arm.name for arm in arms))
        self.problem = next((arm.problem for arm in arms if arm.problem != "none_required"), "kind")
        constants = [value for arm in arms if isinstance(arm, LiteralForm) for value in arm.values]
        self.is_blurred = any(arm.is_blurred for arm in arms) or any(type(value) in (int, bool) for value in constants)
        self.has_more = any(arm.has_more for arm in arms)
        some = [arm for arm in arms if not (isinstance(arm, ScalarForm) and arm.type is type(None))]
        self.only = some[0] if len(some) == 1 else None

    def kinds(self) -> frozenset[str]:
        return frozenset().union(*(arm.kinds() for arm in self.arms))

    def takes_null(self) -> bool:
        return any(arm.takes_null() for arm in self.arms)

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if self.only is not None:
            return Fit(1, None) if tree is None else self.only.fit(tree, path, reading)
        is_inner, reading.is_inner = reading.is_inner, False
        is_told = "discriminator" in self.notes and isinstance(tree, dict)
        fit = self._told(tree, path, reading) if is_told else best(self.arms, tree, path, reading)
        reading.is_inner = is_inner
        return fit

    @cached_property
    def _tags(self) -> tuple[str, list[tuple[Any, Form]]]:
        """The discriminator's name in JSON, and each of its values with the form that it stands for."""
        name, alias, found = self.notes["discriminator"], self.notes["discriminator"], []
        for form in (form for arm in self.arms for form in alternatives(arm)):
            member = getattr(form, "members", {}).get(name)
            if member is not None:
                alias = member.alias
                found += [(value, form) for value in constants(member.form)]
        return alias, found

    def _told(self, tree: dict[Any, Any], path: Path, reading: Reading) -> Fit | None:
        alias, tags = self._tags
        if alias not in tree:
            return reading.refuse((*path, alias), "the field is missing", "missing")
        given = tree[alias]
        chosen = [form for value, form in tags if type(value) is type(given) and value == given]
        if not chosen:
            values = ", ".join(dict.fromkeys(repr(value) for value, _ in tags))
            return reading.refuse((*path, alias), f"one of {values} is wanted", "union_tag_invalid")
        return best(chosen, tree, path, reading)


def alternatives(form: Form) -> list[Form]:
    """The forms of single objects that a union's arm stands for."""
    if isinstance(form, UnionForm):
        return [inner for arm in form.arms for inner in alternatives(arm)]
    return getattr(form, "alone", None) or [form]


def constants(form: Form) -> list[Any]:
    """The values in JSON that a discriminator's form has."""
    if isinstance(form, LiteralForm):
        return [getattr(value, "value", value) for value in form.values]
    return [member.value for member in form.type] if isinstance(form, EnumForm) else []


class SelfForm(Form):
    """A named type where it stands within itself; `form` is what the name means."""

    form: Form = ScalarForm(type(None))
    has_more = True

    def __init__(self, label: str) -> None:
        self.label = self.name = label

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        return self.form.fit(tree, path, reading)

    def kinds(self) -> frozenset[str]:
        return self.form.kinds()

    def takes_null(self) -> bool:
        return self.form.takes_null()
