"""Annotations → forms: one closed table of the classes and Enums that an answer may name."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from langfx_web.errors import SchemaError
from langfx_web.schemas import adapters
from langfx_web.schemas.forms import (
    AnyForm,
    ClassForm,
    CodedForm,
    DictForm,
    EnumForm,
    Form,
    ListForm,
    LiteralForm,
    Member,
    RecordForm,
    ScalarForm,
    TupleForm,
    UnionForm,
    UnknownForm,
)
from langfx_web.schemas.unknown import Unknown

_SCALARS = frozenset({int, float, bool, str, bytes, type(None)})
_RESERVED = frozenset({"UNKNOWN", "true", "false", "null"})


class Compiled:
    """The form of a type, with the names that it offers in order of first use."""

    def __init__(self, type_: Any, *, subclasses: bool = True) -> None:
        self.classes: dict[str, ClassForm] = {}
        self.enums: dict[str, type[Enum]] = {}
        self._subclasses = subclasses
        self._forms: dict[type, ClassForm] = {}
        self._records: dict[Any, RecordForm] = {}
        self.root = self._form(type_, ())

    def _form(self, type_: Any, path: tuple[str, ...]) -> Form:
        if type_ in (None, type(None)):
            return ScalarForm(type(None))
        if type_ is Any:
            return AnyForm()
        if isinstance(type_, typing.NewType):
            return self._form(type_.__supertype__, path)
        origin, arguments = get_origin(type_), get_args(type_)
        if origin is Annotated:
            return self._form(arguments[0], path)
        if type(type_).__name__ == "TypeAliasType":
            return self._form(type_.__value__, path)
        if origin is Literal:
            return LiteralForm(arguments)
        if origin in (Union, types.UnionType):
            return UnionForm([self._form(arm, path) for arm in arguments])
        if origin is not None or type_ in (list, dict, tuple, set, frozenset):
            return self._container(type_, origin or type_, arguments, path)
        if not isinstance(type_, type):
            raise _unsupported(type_, path)
        return self._named(type_, path)

    def _container(self, type_: Any, origin: Any, arguments: tuple[Any, ...], path: tuple[str, ...]) -> Form:
        if origin in (list, set, frozenset):
            return ListForm(origin, self._form(arguments[0], path) if arguments else AnyForm())
        if origin is dict:
            key, value = arguments or (Any, Any)
            return DictForm(self._form(key, path), self._form(value, path))
        if origin is tuple:
            if not arguments or arguments[-1] is Ellipsis:
                return ListForm(tuple, self._form(arguments[0], path) if arguments else AnyForm())
            return TupleForm([self._form(item, path) for item in arguments])
        raise _unsupported(type_, path)

    def _named(self, type_: type, path: tuple[str, ...]) -> Form:
        if type_ is Unknown:
            return UnknownForm()
        if type_ in _SCALARS:
            return ScalarForm(type_)
        if issubclass(type_, Enum):
            if type_ not in self.enums.values():
                self.enums[self._name(type_)] = type_
            return EnumForm(type_)
        if hasattr(type_, "__required_keys__"):
            return self._record(type_, path)
        if _is_class(type_):
            return self._class(type_, path)
        if adapters.is_text(type_):
            return CodedForm(type_, is_number=type_.__name__ == "Decimal")
        raise _unsupported(type_, path)

    def _record(self, type_: Any, path: tuple[str, ...]) -> RecordForm:
        if type_ not in self._records:
            form = self._records[type_] = RecordForm(type_.__name__)
            for name, hint in _hints(type_, path).items():
                member = self._form(hint, (*path, name))
                form.members[name] = Member(name, name, member, name in type_.__required_keys__, False)
        return self._records[type_]

    def _class(self, type_: type, path: tuple[str, ...]) -> ClassForm:
        if type_ in self._forms:
            return self._forms[type_]
        form = ClassForm(type_, self._name(type_))
        if not inspect.isabstract(type_):
            self.classes[form.name] = form
            form.offered.append(form)
        self._forms[type_] = form
        for name, alias, hint, is_required, is_hidden in _members(type_, path):
            member = AnyForm() if is_hidden else self._form(hint, (*path, name))
            form.members[name] = Member(name, alias, member, is_required, is_hidden)
        if self._subclasses:
            for heir in _heirs(type_):
                offered = self._class(heir, path)
                form.offered += [item for item in offered.offered if item not in form.offered]
        if not form.offered:
            raise SchemaError(f"{type_.__name__} is abstract and has no subclass", details={"path": list(path)})
        return form

    def _name(self, type_: type) -> str:
        name = re.sub(r"\W+", "_", type_.__name__).strip("_")
        if name in _RESERVED:
            raise SchemaError(f"a class cannot be named {name}", details={"path": []})
        taken, place = {*self.classes, *self.enums}, 2
        first = name
        while name in taken:
            name, place = f"{first}_{place}", place + 1
        return name


def _is_class(type_: type) -> bool:
    is_model = hasattr(type_, "model_fields") and type_.__module__ != "pydantic.main"
    return is_model or dataclasses.is_dataclass(type_) or (issubclass(type_, tuple) and hasattr(type_, "_fields"))


def _heirs(type_: type) -> list[type]:
    """Direct subclasses in definition order; of several with one name the newest."""
    heirs: list[type] = type_.__subclasses__()
    newest = {heir.__name__: heir for heir in heirs if not heir.__name__.startswith("_")}
    return [heir for heir in newest.values() if _is_class(heir)]


def _members(type_: Any, path: tuple[str, ...]) -> list[tuple[str, str, Any, bool, bool]]:
    """Name, alias, annotation, whether it must be given, whether it is hidden; in declared order."""
    if hasattr(type_, "model_fields"):
        return [
            (name, info.alias or name, info.annotation, info.is_required(), _is_hidden(info.metadata))
            for name, info in type_.model_fields.items()
        ]
    hints = _hints(type_, path)
    if dataclasses.is_dataclass(type_):
        missing = dataclasses.MISSING
        return [
            (
                item.name,
                item.name,
                hints[item.name],
                item.default is missing and item.default_factory is missing,
                _is_hidden(getattr(hints[item.name], "__metadata__", ())),
            )
            for item in dataclasses.fields(type_)
            if item.init
        ]
    return [(name, name, hints.get(name, Any), name not in type_._field_defaults, False) for name in type_._fields]


def _hints(type_: Any, path: tuple[str, ...]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(type_, include_extras=True)
    except (NameError, TypeError) as error:
        raise SchemaError(f"{type_!r} cannot be described: {error}", details={"path": list(path)}) from error


def _is_hidden(metadata: Any) -> bool:
    return any(type(item).__name__ == "SkipJsonSchema" for item in metadata)


def _unsupported(type_: Any, path: tuple[str, ...]) -> SchemaError:
    where = f" at {'.'.join(path)}" if path else ""
    return SchemaError(f"{type_!r}{where} cannot be offered to a model", details={"path": list(path)})
