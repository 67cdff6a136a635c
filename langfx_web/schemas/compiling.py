"""Annotations → forms: one closed table of the classes and Enums that an answer may name."""

from __future__ import annotations

import copy
import inspect
import re
import sys
import types
import typing
from collections import abc
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from langfx_web.errors import SchemaError
from langfx_web.schemas import adapters, declared
from langfx_web.schemas.containers import DictForm, ListForm, Member, RecordForm, SelfForm, TupleForm, UnionForm
from langfx_web.schemas.declared import Path
from langfx_web.schemas.form import Form
from langfx_web.schemas.leaves import AnyForm, CodedForm, EnumForm, LiteralForm, ScalarForm, UnknownForm
from langfx_web.schemas.objects import ClassForm
from langfx_web.schemas.unknown import Unknown

_SCALARS = frozenset({int, float, bool, str, bytes, type(None)})
_REFUSED_NAMES = frozenset({"UNKNOWN", "true", "false", "null"})
_CALLED_NAMES = frozenset({"dict", "set"})
_CONTAINERS: Mapping[Any, type] = {
    list: list,
    abc.Sequence: list,
    abc.MutableSequence: list,
    tuple: tuple,
    set: set,
    abc.Set: set,
    abc.MutableSet: set,
    frozenset: frozenset,
    dict: dict,
    abc.Mapping: dict,
    abc.MutableMapping: dict,
}
"""What an answer has for each container."""

CODED: Mapping[str, str] = {
    "datetime.date": "date",
    "datetime.datetime": "date-time",
    "datetime.time": "time",
    "datetime.timedelta": "duration",
    "decimal.Decimal": "decimal",
    "uuid.UUID": "uuid",
    "ipaddress.IPv4Address": "ipv4",
    "ipaddress.IPv6Address": "ipv6",
    "ipaddress.IPv4Network": "ipv4network",
    "ipaddress.IPv6Network": "ipv6network",
    "ipaddress.IPv4Interface": "ipv4interface",
    "ipaddress.IPv6Interface": "ipv6interface",
    **dict.fromkeys((f"pathlib.{name}" for name in ("Path", "PurePath", "PosixPath", "PurePosixPath")), "path"),
    "re.Pattern": "regex",
}
"""Python's own types that JSON has as text, and the format of that text; the others pydantic is asked of."""


def coded_name(type_: Any) -> str:
    """The name of a type among those of `CODED`."""
    # Newer Pythons keep some of these in modules of another name.
    module = {"_pydatetime": "datetime", "_decimal": "decimal"}.get(type_.__module__, type_.__module__.split("._")[0])
    return f"{module}.{type_.__name__}"


class Compiled:
    """The form of a type, with the names that it offers in order of first use.

    `labels` are the names of TypedDicts and type aliases that contain themselves.
    """

    def __init__(self, type_: Any, *, subclasses: bool = True) -> None:
        self.classes: dict[str, ClassForm] = {}
        self.enums: dict[str, type[Enum]] = {}
        self.labels: dict[str, Form] = {}
        self.forms: dict[Any, ClassForm] = {}
        self._subclasses = subclasses
        self._families: list[tuple[type, list[type]]] = []
        self._records: dict[Any, RecordForm] = {}
        self._open: dict[Any, Form | None] = {}
        self.root = self._form(type_, ())

    @property
    def is_current(self) -> bool:
        """Whether no class has got a subclass since."""
        return all(type_.__subclasses__() == heirs for type_, heirs in self._families)

    def _form(self, type_: Any, path: Path) -> Form:
        if type_ in (None, type(None)):
            return ScalarForm(type(None))
        if type_ is Any:
            return AnyForm()
        if isinstance(type_, typing.NewType):
            return self._form(type_.__supertype__, path)
        origin, arguments = get_origin(type_), get_args(type_)
        if origin is Annotated:
            form = noted(self._form(arguments[0], path), declared.notes(type_.__metadata__), copied=True)
            form.has_more = True
            return form
        if type(origin or type_).__name__ == "TypeAliasType":
            return self._alias(type_, path)
        if origin is Literal:
            return self._literal(arguments, path)
        if origin in (Union, types.UnionType):
            return self._union(arguments, path)
        plain, qualifier = declared.qualified(type_)
        if qualifier:
            return self._form(plain, path)
        if not isinstance(origin or type_, type):
            raise _unsupported(type_, path)
        if origin is tuple and not arguments and isinstance(type_, types.GenericAlias):
            return TupleForm([])
        if (origin or type_) in _CONTAINERS:
            return self._container(_CONTAINERS[origin or type_], arguments, path)
        return self._named(type_, path)

    def _alias(self, type_: Any, path: Path) -> Form:
        """What the name of a type stands for; within itself it stands for its form."""
        if type_ in self._open:
            form = self._open[type_]
            if form is None:
                form = self._open[type_] = SelfForm(self._name(declared.spelled(type_), path))
                self.labels[form.name] = form
            return form
        self._open[type_] = None
        try:
            found = self._form(declared.meaning(type_, path), path)
            itself = self._open[type_]
        finally:
            del self._open[type_]
        if not isinstance(itself, SelfForm):
            return found
        if itself is found or itself in getattr(found, "arms", ()):
            raise _unsupported(type_, path)
        itself.form = found
        return itself

    def _literal(self, values: tuple[Any, ...], path: Path) -> Form:
        for value in values:
            if isinstance(value, Enum):
                self._enum(type(value), path)
        return LiteralForm(values)

    def _union(self, arms: tuple[Any, ...], path: Path) -> Form:
        told = [arm for arm in arms if not declared.is_skipped(getattr(arm, "__metadata__", ()))]
        forms = [self._form(arm, path) for arm in told]
        return forms[0] if len(forms) == 1 else UnionForm(forms)

    def _container(self, make: type, arguments: tuple[Any, ...], path: Path) -> Form:
        if make is dict:
            key, value = arguments or (Any, Any)
            return DictForm(self._form(key, path), self._form(value, path))
        if make is tuple and arguments and arguments[-1] is not Ellipsis:
            return TupleForm([self._form(item, path) for item in arguments])
        return ListForm(make, self._form(arguments[0], path) if arguments else AnyForm())

    def _named(self, type_: Any, path: Path) -> Form:
        if type_ is Unknown:
            return UnknownForm()
        if type_ in _SCALARS:
            return ScalarForm(type_)
        origin = get_origin(type_) or type_
        if issubclass(origin, Enum):
            return self._enum(type_, path)
        if declared.is_generic(type_):
            raise _unsupported(type_, path)
        if declared.is_record(origin):
            return self._record(type_, path)
        if declared.is_class(origin):
            return self._class(type_, path)
        is_pydantic = hasattr(type_, "__get_pydantic_core_schema__")
        if coded_name(type_) in CODED or (is_pydantic and adapters.text_schema(type_) is not None):
            return CodedForm(type_, is_number=type_.__name__ == "Decimal")
        raise _unsupported(type_, path)

    def _enum(self, type_: type[Enum], path: Path) -> EnumForm:
        if type_ not in self.enums.values():
            if not all(isinstance(member.value, (str, int, float, bytes, type(None))) for member in type_):
                raise _unsupported(type_, path)
            self.enums[self._name(type_.__name__, path)] = type_
        return EnumForm(type_)

    def _record(self, type_: Any, path: Path) -> RecordForm:
        if type_ in self._records:
            form = self._records[type_]
            if type_ in self._open and not form.label:
                form.label = self._name(declared.spelled(type_), path)
                self.labels[form.label] = form
            return form
        origin = get_origin(type_) or type_
        if type(origin).__module__ == "typing" and sys.version_info < (3, 12):
            raise SchemaError(f"{type_!r}: before Python 3.12 use typing_extensions.TypedDict", path=path)
        form = self._records[type_] = RecordForm(declared.spelled(type_))
        self._open[type_] = None
        for name, written in declared.hints(type_, path).items():
            hint, qualifier = declared.qualified(written)
            required = qualifier == "Required" or (name in origin.__required_keys__ and qualifier != "NotRequired")
            form.members[name] = Member(name, name, self._form(hint, (*path, name)), required, False)
        if getattr(origin, "__pydantic_config__", {}).get("extra") == "allow":
            form.rest = AnyForm()
        form.is_blurred = any(member.form.is_blurred for member in form.members.values())
        del self._open[type_]
        return form

    def _class(self, type_: Any, path: Path) -> ClassForm:
        if type_ in self.forms:
            return self.forms[type_]
        form = ClassForm(type_, self._name(declared.spelled(type_), path))
        if not inspect.isabstract(form.origin):
            self.classes[form.name] = form
            form.offered.append(form)
        self.forms[type_] = form
        for field in declared.fields(type_, path):
            form.members[field.name] = self._member(field, path)
        form.rest = self._rest(form.origin, path)
        if self._subclasses:
            self._families.append((form.origin, form.origin.__subclasses__()))
            for heir in self._heirs(type_):
                offered = self._class(heir, path)
                form.offered += [item for item in offered.offered if item not in form.offered]
        if not form.offered:
            raise SchemaError(f"{type_.__name__} is abstract and has no subclass", path=path)
        return form

    def _heirs(self, type_: Any) -> list[type]:
        given = get_args(type_)
        heirs = declared.heirs(get_origin(type_) or type_)
        if not given:
            return heirs
        variables = get_origin(type_).__parameters__
        return [heir for heir in heirs if given == tuple(map(declared.arguments(heir).get, variables))]

    def _member(self, field: declared.Field, path: Path) -> Member:
        path = (*path, field.name)
        if field.is_hidden and field.is_required:
            raise SchemaError(f"{'.'.join(path)} is hidden from the model and has no default", path=path)
        form = AnyForm() if field.is_hidden else noted(self._form(field.hint, path), field.notes)
        return Member(
            field.name, field.alias, form, field.is_required, field.is_hidden, field.default, field.is_init_only
        )

    def _rest(self, type_: type, path: Path) -> Form | None:
        if getattr(type_, "model_config", {}).get("extra") != "allow":
            return None
        hint = declared.hints(type_, path).get("__pydantic_extra__", Any)
        value = next((get_args(arm)[1] for arm in (hint, *get_args(hint)) if get_origin(arm) is dict), Any)
        return self._form(value, path)

    def _name(self, spelled: str, path: Path) -> str:
        name = re.sub(r"\W+", "_", spelled).strip("_")
        if name in _REFUSED_NAMES:
            raise SchemaError(f"a class cannot be named {name}", path=path)
        taken, place = {*self.classes, *self.enums, *self.labels, *_CALLED_NAMES}, 2
        first = name
        while name in taken:
            name, place = f"{first}_{place}", place + 1
        return name


def noted(form: Form, found: Mapping[str, Any], *, copied: bool = False) -> Form:
    """The form with notes; the one without them is left as it is, for it may be used elsewhere too."""
    if not found and not copied:
        return form
    form = copy.copy(form)
    form.notes = {**form.notes, **found}
    return form


def _unsupported(type_: Any, path: Path) -> SchemaError:
    where = f" at {'.'.join(path)}" if path else ""
    return SchemaError(f"{type_!r}{where} cannot be offered to a model", path=path)
