"""Forms of the author's classes: which of them a tree is, its fields, and making an instance, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, get_origin

from langfx_web.json_text import Path
from langfx_web.schemas.containers import (
    DictForm,
    ListForm,
    Member,
    RecordForm,
    SelfForm,
    TupleForm,
    UnionForm,
    fitted,
)
from langfx_web.schemas.form import Fit, Form, Reading, Source, best, is_same, validated
from langfx_web.schemas.leaves import AnyForm
from langfx_web.schemas.tree import ObjectNode

_TUPLES: Mapping[Source, Sequence[type]] = {"python": (tuple,), "json": (list,), "app": (list, tuple)}
"""What a NamedTuple may be written as, but for its constructor."""


class ClassForm(Form):
    """A pydantic model, dataclass or NamedTuple, and the subclasses that may stand for it.

    `rest` is the form of fields that are not known, where there may be some. A root model is what its one field is.
    """

    kind = "object"
    problem = "dict_type"

    def __init__(self, type_: Any, name: str) -> None:
        self.type = type_
        self.origin: type = get_origin(type_) or type_
        self.name = name
        self.members: dict[str, Member] = {}
        self.rest: Form | None = None
        self.offered: list[ClassForm] = []
        self.is_tuple = issubclass(self.origin, tuple)
        self.is_root = bool(getattr(self.origin, "__pydantic_root_model__", False))

    def kinds(self) -> frozenset[str]:
        if self.is_root:
            return frozenset({"object"}) | self.members["root"].form.kinds()
        return frozenset({"object", "tuple"} if self.is_tuple else {"object"})

    def takes_null(self) -> bool:
        return self.is_root and self.members["root"].form.takes_null()

    @cached_property
    def written(self) -> list[tuple[str, Any]]:
        """The fields that an instance is written with, each with a value that is left out.

        That is a default which no answer could give, such as a None that the type hides: it comes back by itself.
        """
        shown = [member for member in self.members.values() if not (member.is_hidden or member.is_init_only)]
        return [(member.name, ... if member.is_default_told else member.default) for member in shown]

    @property
    def alone(self) -> list[Form]:
        """The forms of this class and its subclasses, each without the others."""
        return [form._only for form in self.offered]

    @cached_property
    def _only(self) -> Form:
        return OneClass(self)

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        is_inner = reading.is_inner
        reading.is_inner = is_inner and self._is_one
        fit = self._fit(tree, path, reading)
        reading.is_inner = is_inner
        return fit

    def _fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        if isinstance(tree, ObjectNode):
            form = reading.classes.get(tree.class_name)
            if form is None or form not in self.offered:
                return self.wrong(tree, path, reading)
            given = form.bound(tree, path, reading)
            return None if given is None else form.built(given, path, reading)
        if self.is_tuple and type(tree) in _TUPLES[reading.source]:
            if len(tree) > len(self.members):
                return reading.refuse(path, f"{self.name} has {len(self.members)} fields")
            return self.built(dict(zip(self.members, tree, strict=False)), path, reading)
        if reading.is_python or not (isinstance(tree, dict) or self.is_root) or (self.is_tuple and not reading.is_app):
            return self.wrong(tree, path, reading)
        if reading.is_app and self.is_own(tree):
            return self.wrong(tree, path, reading)
        if len(self.offered) == 1:
            return self.offered[0].of_json(tree, path, reading)
        return best(self.alone, tree, path, reading)

    def of_json(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """The instance of exactly this class that a JSON value stands for."""
        if self.is_root:
            values, is_whole = self._fitted(self.members, {"root": tree}, path, reading)
            return self._made(values, path, reading) if is_whole else None
        if not isinstance(tree, dict):
            return self.wrong(tree, path, reading)
        if reading.is_app:
            tree = self._by_json_name(tree)
        values, is_whole = self._fitted(self._aliased, tree, path, reading)
        return self._made(values, path, reading) if is_whole else self._spoilt(values, path, reading)

    def _fitted(
        self, members: Mapping[str, Member], given: Mapping[Any, Any], path: Path, reading: Reading
    ) -> tuple[dict[str, Any], bool]:
        is_inner, reading.is_inner = reading.is_inner, not self._blurred
        found = fitted(members, given, path, reading, self.rest)
        reading.is_inner = is_inner
        return found

    @cached_property
    def _aliased(self) -> dict[str, Member]:
        found = {member.alias: member for member in self.members.values()}
        if self.rest is not None:
            # What may have further members must not set a field by its Python name.
            hidden = {name: Member(name, name, AnyForm(), False, True) for name in self.members if name not in found}
            found |= hidden
        return found

    def _by_json_name(self, tree: dict[Any, Any]) -> dict[Any, Any]:
        """The app may use either name of a field."""
        names = {member.name: member.alias for member in self.members.values() if member.alias not in tree}
        return {names.get(key, key): item for key, item in tree.items()}

    def bound(self, node: ObjectNode, path: Path, reading: Reading) -> dict[str, Any] | None:
        """The arguments of a constructor call by name."""
        if not node.positional:
            return node.fields
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

    def built(self, given: Mapping[str, Any], path: Path, reading: Reading) -> Fit | None:
        """The instance with these fields."""
        values, is_whole = self._fitted(self.members, given, path, reading)
        return self._made(values, path, reading) if is_whole else self._spoilt(values, path, reading)

    def _spoilt(self, values: dict[str, Any], path: Path, reading: Reading) -> Fit | None:
        """Say what else is wrong with the app's fields that are there; of an answer nothing is run in vain."""
        if not reading.is_app or reading.is_trial or self.is_root:
            return None
        before = len(reading.problems)
        validated(self.type, values, path, reading)
        place = len(path)
        found = [problem for problem in reading.problems[before:] if problem["path"][place : place + 1] != []]
        reading.problems[before:] = [problem for problem in found if problem["path"][place] in values]
        self._renamed(reading, before, place)
        return None

    @cached_property
    def _is_one(self) -> bool:
        """Whether nothing but this class can stand here, and pydantic takes its fields exactly as they are given."""
        is_alone = len(self.offered) == 1 and self.offered[0].type is self.type
        return is_alone and not (self.is_root or self.is_tuple or self._blurred)

    def _made(self, values: dict[str, Any], path: Path, reading: Reading) -> Fit | None:
        if reading.is_inner:
            return Fit(1, values)
        before = len(reading.problems)
        found = validated(self.type, values["root"] if self.is_root else values, path, reading)
        if found is None:
            self._renamed(reading, before, len(path))
            return None
        for name in self._blurred:
            # pydantic takes true for the constant 1; the form knew better.
            made = getattr(found[0], name, None)
            if name in values and made == values[name] and not is_same(made, values[name]):
                object.__setattr__(found[0], name, values[name])
        return Fit(1, found[0])

    @cached_property
    def _blurred(self) -> list[str]:
        return [] if self.is_tuple else [name for name, member in self.members.items() if member.form.is_blurred]

    def _renamed(self, reading: Reading, start: int, place: int) -> None:
        """pydantic knows fields by their Python names, whoever wrote JSON by others."""
        if reading.is_python:
            return
        for problem in reading.problems[start:]:
            problem["path"][place:] = aliased(self, problem["path"][place:])

    def is_own(self, tree: Any) -> bool:
        return any(type(tree) is form.origin for form in self.offered)

    def kept(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """The app's instance itself once all in it fits; another one where parts of it were not made yet."""
        reading.is_inner = False
        form = next(form for form in self.offered if type(tree) is form.origin)
        members = [member for member in form.members.values() if not (member.is_hidden or member.is_init_only)]
        given = {member.name: getattr(tree, member.name) for member in members}
        before = len(reading.problems)
        values: dict[str, Any] = {}
        for member in members:
            value = given[member.name]
            if value is member.default:
                # Nobody checks defaults, and None is one of many types that do not have it.
                values[member.name] = value
                continue
            fit = member.form.fit(value, (*path, member.name), reading)
            if fit is not None:
                values[member.name] = fit.value
        if len(reading.problems) > before:
            return None
        if len(members) < len(form.members):
            return Fit(1, tree)
        is_typed = values == given
        if is_typed and hasattr(form.origin, "__pydantic_validator__"):
            return Fit(1, tree)
        made = form._made(values, path, reading)
        return Fit(1, tree) if made is not None and is_typed else made


class OneClass(Form):
    """A class without its subclasses, as a JSON object is tried for each of them."""

    def __init__(self, form: ClassForm) -> None:
        self.form = form
        self.name = form.name
        self.members = form.members
        self.problem = form.problem

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        return self.form.of_json(tree, path, reading)


def aliased(form: Form, path: Sequence[Any]) -> list[Any]:
    """A path below a form with the JSON names of fields for the Python ones."""
    found: list[Any] = []
    for step in path:
        while isinstance(form, (UnionForm, SelfForm)):
            form = form.only or AnyForm() if isinstance(form, UnionForm) else form.form
        if isinstance(form, (ClassForm, RecordForm)) and step in form.members:
            found.append(form.members[step].alias)
            form = form.members[step].form
            continue
        found.append(step)
        match form:
            case ListForm():
                form = form.item
            case TupleForm():
                form = form.items[step]
            case DictForm():
                form = form.value
            case _:
                form = AnyForm()
    return found
