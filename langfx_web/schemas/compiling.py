"""Annotations → forms: one closed table of the classes and Enums that an answer may name."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

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
        self.forms: dict[type, ClassForm] = {}
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
            for name, hint in hints(type_, path).items():
                member = self._form(hint, (*path, name))
                form.members[name] = Member(name, name, member, name in type_.__required_keys__, False)
        return self._records[type_]

    def _class(self, type_: type, path: tuple[str, ...]) -> ClassForm:
        if type_ in self.forms:
            return self.forms[type_]
        form = ClassForm(type_, self._name(type_))
        if not inspect.isabstract(type_):
            self.classes[form.name] = form
            form.offered.append(form)
        self.forms[type_] = form
        for field in fields(type_, path):
            member = AnyForm() if field.is_hidden else self._form(field.hint, (*path, field.name))
            form.members[field.name] = Member(field.name, field.alias, member, field.is_required, field.is_hidden)
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


class Field(NamedTuple):
    """A field of a class as its author wrote it; `default` is `...` where only a call would tell it."""

    name: str
    alias: str
    hint: Any
    metadata: tuple[Any, ...]
    is_required: bool
    default: Any = ...
    description: str | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether the model is not told of it."""
        parts = (*self.metadata, *getattr(self.hint, "__metadata__", ()))
        return any(type(part).__name__ == "SkipJsonSchema" for part in parts)


def fields(type_: Any, path: tuple[str, ...]) -> list[Field]:
    """The fields of a model, dataclass or NamedTuple, in declared order."""
    if hasattr(type_, "model_fields"):
        return [_model_field(name, info) for name, info in type_.model_fields.items()]
    known = hints(type_, path)
    if dataclasses.is_dataclass(type_):
        return [_dataclass_field(item, known[item.name]) for item in dataclasses.fields(type_) if item.init]
    defaults = type_._field_defaults
    return [
        Field(name, name, known.get(name, Any), (), name not in defaults, defaults.get(name)) for name in type_._fields
    ]


def _model_field(name: str, info: Any) -> Field:
    default = _made_by(info.default_factory) if info.default_factory else info.default
    required = info.is_required()
    return Field(name, info.alias or name, info.annotation, tuple(info.metadata), required, default, info.description)


def _dataclass_field(item: Any, hint: Any) -> Field:
    missing = dataclasses.MISSING
    default = _made_by(item.default_factory) if item.default is missing else item.default
    required = item.default is missing and item.default_factory is missing
    return Field(item.name, item.name, hint, (), required, default)


def _made_by(factory: Any) -> Any:
    return factory() if factory in (list, dict) else ...


def hints(type_: Any, path: tuple[str, ...]) -> dict[str, Any]:
    """The resolved annotations of a class."""
    try:
        return typing.get_type_hints(type_, include_extras=True)
    except (NameError, TypeError) as error:
        raise SchemaError(f"{type_!r} cannot be described: {error}", details={"path": list(path)}) from error


def _unsupported(type_: Any, path: tuple[str, ...]) -> SchemaError:
    where = f" at {'.'.join(path)}" if path else ""
    return SchemaError(f"{type_!r}{where} cannot be offered to a model", details={"path": list(path)})
