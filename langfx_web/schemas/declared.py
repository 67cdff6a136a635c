"""What an author wrote of a type: fields of classes, resolved annotations, notes beside them, subclasses.

pydantic is not loaded here: its classes are known by what they carry.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

from langfx_web.errors import SchemaError

CONSTRAINTS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
_NOTED = (*CONSTRAINTS, "description", "examples", "discriminator", "json_schema", "json_schema_extra")
_QUALIFIERS = frozenset({"NotRequired", "Required", "ReadOnly", "Final"})

Path = tuple[str, ...]
"""Names of fields that lead to a part of a type."""


class Field(NamedTuple):
    """A field of a class; `default` is `...` where only a call would tell it.

    `alias` is its name in JSON; `is_init_only` says that instances do not keep it.
    """

    name: str
    alias: str
    hint: Any
    notes: Mapping[str, Any]
    is_required: bool
    default: Any = ...
    is_hidden: bool = False
    is_init_only: bool = False


def notes(metadata: Iterable[Any]) -> dict[str, Any]:
    """What stands beside a type: constraints, description, examples, discriminator, a schema of its own."""
    found: dict[str, Any] = {}
    for whole in metadata:
        inner = getattr(whole, "metadata", None)
        for item in (whole, *(inner if isinstance(inner, (list, tuple)) else ())):
            for name in _NOTED:
                value = getattr(item, name, None)
                if value is not None:
                    found[name] = value
    return found


def is_skipped(metadata: Iterable[Any]) -> bool:
    """Whether the model is not told of what these stand beside."""
    return any(type(item).__name__ == "SkipJsonSchema" for item in metadata)


def qualified(hint: Any) -> tuple[Any, str]:
    """An annotation without what says how a key may be given, and that: NotRequired, Required, ReadOnly, Final."""
    name = getattr(get_origin(hint), "_name", "")
    return (get_args(hint)[0], name) if name in _QUALIFIERS else (hint, "")


def is_class(type_: Any) -> bool:
    """Whether it is a pydantic model, dataclass or NamedTuple of an author."""
    is_model = hasattr(type_, "model_fields") and not type_.__module__.startswith("pydantic.")
    return is_model or dataclasses.is_dataclass(type_) or (issubclass(type_, tuple) and hasattr(type_, "_fields"))


def is_record(type_: Any) -> bool:
    """Whether it is a TypedDict."""
    return hasattr(type_, "__required_keys__")


def is_generic(type_: Any) -> bool:
    """Whether it has type variables that nothing is put in for."""
    return bool(getattr(type_, "__parameters__", ()))


def heirs(type_: type) -> list[type]:
    """Direct subclasses in definition order; of several with one name the newest, generic ones by their own heirs."""
    subclasses: list[type] = type_.__subclasses__()
    newest = {heir.__name__: heir for heir in subclasses if not heir.__name__.startswith("_")}
    found: list[type] = []
    for heir in newest.values():
        if is_generic(heir):
            found += heirs(heir)
        elif is_class(heir):
            found.append(heir)
    return found


def arguments(type_: Any) -> dict[Any, Any]:
    """What stands for each type variable of a class, also where a base was given it."""
    origin = get_origin(type_) or type_
    found = dict(zip(getattr(origin, "__parameters__", ()), get_args(type_), strict=False))
    for base in getattr(origin, "__orig_bases__", ()):
        if get_origin(base) not in (None, Generic):
            inherited = {variable: bound(hint, found) for variable, hint in arguments(base).items()}
            found = inherited | found
    return found


def bound(hint: Any, given: Mapping[Any, Any]) -> Any:
    """An annotation with its type variables put in."""
    if isinstance(hint, TypeVar):
        return given.get(hint, hint)
    variables = getattr(hint, "__parameters__", ())
    if not given or not variables or isinstance(hint, type):
        return hint
    return hint[tuple(given.get(variable, variable) for variable in variables)]


def hints(type_: Any, path: Path) -> dict[str, Any]:
    """The resolved annotations of a class, type variables put in; `schema_unsupported` where a name is not known."""
    origin = get_origin(type_) or type_
    try:
        try:
            found = typing.get_type_hints(origin, include_extras=True)
        except NameError:
            # A class inside a function is found by no name, which keeps it from naming itself.
            found = typing.get_type_hints(origin, localns={origin.__name__: origin}, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise SchemaError(f"{type_!r} cannot be described: {error}", path=path) from error
    given = arguments(type_)
    return {name: bound(hint, given) for name, hint in found.items()}


def meaning(alias: Any, path: Path) -> Any:
    """What a type alias stands for, with type variables put in."""
    origin = get_origin(alias) or alias
    # Names in a text are those of the module that the alias is in, as they are for a class there.
    place = type(origin.__name__, (), {"__annotations__": {"value": origin.__value__}, "__module__": origin.__module__})
    given = dict(zip(origin.__type_params__, get_args(alias), strict=False))
    return bound(hints(place, path)["value"], given)


def fields(type_: Any, path: Path) -> list[Field]:
    """The fields of a model, dataclass or NamedTuple that a call of it takes, in declared order."""
    origin = get_origin(type_) or type_
    if hasattr(origin, "model_fields") or hasattr(origin, "__pydantic_fields__"):
        return _pydantic_fields(type_, path)
    known = hints(type_, path)
    if dataclasses.is_dataclass(origin):
        members = origin.__dataclass_fields__.values()
        return [_dataclass_field(item, known[item.name]) for item in members if _is_given(item, known[item.name])]
    defaults = origin._field_defaults
    return [
        _plain_field(name, known.get(name, Any), name not in defaults, defaults.get(name)) for name in origin._fields
    ]


def _pydantic_fields(type_: Any, path: Path) -> list[Field]:
    origin = get_origin(type_) or type_
    known: Mapping[str, Any] = {}
    if not getattr(origin, "__pydantic_complete__", True):
        if hasattr(origin, "model_rebuild"):
            origin.model_rebuild(raise_errors=False)
        else:
            known = hints(type_, path)
    given = arguments(type_)
    return [
        _field(name, bound(known.get(name, info.annotation), given), info)
        for name, info in origin.__pydantic_fields__.items()
        if info.init is not False
    ]


def _field(name: str, hint: Any, info: Any) -> Field:
    """A field that pydantic's `Field` tells of."""
    is_init_only = isinstance(hint, dataclasses.InitVar) or bool(info.init_var)
    return Field(
        name=name,
        alias=_alias(info) or name,
        hint=hint.type if isinstance(hint, dataclasses.InitVar) else hint,
        notes=notes([info]),
        is_required=info.is_required(),
        default=_made_by(info.default_factory) if info.default_factory else info.default,
        is_hidden=is_skipped((*info.metadata, *getattr(hint, "__metadata__", ()))),
        is_init_only=is_init_only,
    )


def _alias(info: Any) -> str | None:
    """The name that a value is read by: of several choices the first."""
    for alias in (info.validation_alias, *getattr(info.validation_alias, "choices", ()), info.alias):
        if isinstance(alias, str):
            return alias
    return None


def _dataclass_field(item: Any, hint: Any) -> Field:
    if hasattr(item.default, "default_factory"):
        return _field(item.name, hint, item.default)
    missing = dataclasses.MISSING
    default = _made_by(item.default_factory) if item.default is missing else item.default
    required = item.default is missing and item.default_factory is missing
    return _plain_field(item.name, hint, required, default)


def _is_given(item: Any, hint: Any) -> bool:
    return bool(item.init) and hint is not ClassVar and get_origin(hint) is not ClassVar


def _plain_field(name: str, hint: Any, is_required: bool, default: Any) -> Field:
    is_init_only = isinstance(hint, dataclasses.InitVar)
    hint, _ = qualified(hint.type if isinstance(hint, dataclasses.InitVar) else hint)
    beside = getattr(hint, "__metadata__", ()) if get_origin(hint) is Annotated else ()
    alias = next(filter(None, (_alias(item) for item in beside if hasattr(item, "validation_alias"))), name)
    return Field(name, alias, hint, notes(beside), is_required, default, is_skipped(beside), is_init_only)


def _made_by(factory: Any) -> Any:
    return factory() if factory in (list, dict) else ...


def docstring(type_: Any) -> str:
    """The author's own text; a dataclass without one has a generated text, a NamedTuple too."""
    origin = get_origin(type_) or type_
    text = inspect.cleandoc(origin.__dict__.get("__doc__") or "")
    is_generated = text.startswith(f"{origin.__name__}(")
    return "" if is_generated and (dataclasses.is_dataclass(origin) or issubclass(origin, tuple)) else text


def spelled(type_: Any) -> str:
    """A type's own name, with those of its arguments where it has some."""
    if get_origin(type_) is Annotated:
        return spelled(get_args(type_)[0])
    if get_origin(type_) in (Union, types.UnionType):
        return "_or_".join(map(spelled, get_args(type_)))
    if type_ is types.NoneType:
        return "None"
    inner = ", ".join(map(spelled, get_args(type_)))
    name = getattr(type_, "__name__", str(type_))
    return f"{name}[{inner}]" if inner else name


def description(found: Mapping[str, Any]) -> str:
    """The description among notes; "" without one."""
    text = found.get("description")
    return inspect.cleandoc(text) if isinstance(text, str) else ""
