"""`Partial`: an object of which some fields are known, and what of it is missing."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from langfx_web.errors import InvalidArgumentError, SchemaMismatchError
from langfx_web.protocols import Protocol
from langfx_web.queries.marks import MISSING
from langfx_web.schemas import Schema
from langfx_web.schemas.declared import fields, is_class
from langfx_web.schemas.tree import MarkNode, ObjectNode

Path: TypeAlias = tuple[str | int, ...]


Value = TypeVar("Value")


class Partial(Generic[Value]):
    """An object of a class under way: `Partial(Trip, city="Oslo", days=[Partial(Day, number=1)])`.

    Values are as the class has them, `MISSING`, or further partial objects, also inside lists, tuples and dicts. A
    field without a default that is not given is missing; one with a default is left to whoever completes the object.
    A name that the class does not have is `invalid_argument`, and so, when the object is completed, is a value that
    it does not take.
    """

    __slots__ = ("given", "type")

    def __init__(self, type: type[Value], /, **given: Any) -> None:
        if not isinstance(type, builtins.type) or not is_class(type):
            raise _invalid("type", f"a partial object is one of a class with fields, not of {type!r}")
        known = {field.name: field for field in fields(type, ()) if not field.is_hidden}
        for name in given.keys() - known.keys():
            raise _invalid(name, f"{type.__name__} shows a model no field {name}; it has {', '.join(known)}")
        self.type = type
        self.given: dict[str, Any] = {
            name: given.get(name, MISSING) for name, field in known.items() if field.is_required or name in given
        }

    @property
    def missing(self) -> list[Path]:
        """The paths, in order, that lead to what is missing."""
        return list(_missing(self, ()))

    def __repr__(self) -> str:
        return f"Partial({self.type.__name__}, {', '.join(f'{name}={value!r}' for name, value in self.given.items())})"


def typed(value: Any) -> Any:
    """The same, with values of their types in the fields that have no gaps; `invalid_argument` names one that fails."""
    if isinstance(value, Partial):
        hints = {field.name: field.hint for field in fields(value.type, ())}
        return Partial(value.type, **{name: _typed(name, hints[name], item) for name, item in value.given.items()})
    return _each(value, typed) if _has_gaps(value) and value is not MISSING else value


def marked(value: Any, schema: Schema) -> Any:
    """What a protocol writes of a partial value: objects by their names, and marks where something is missing."""
    if value is MISSING:
        return MarkNode("MISSING")
    if isinstance(value, Partial):
        return _node(value, schema, {name: marked(item, schema) for name, item in value.given.items()})
    return _each(value, lambda item: marked(item, schema)) if _has_gaps(value) else value


def completed(value: Any, tree: Any, schema: Schema, protocol: Protocol) -> Any:
    """The tree that a model wrote, with everything that is given in its place; None where it wrote nothing."""
    if value is MISSING:
        return tree
    if isinstance(value, Partial):
        return _object(value, tree, schema, protocol)
    if not _has_gaps(value):
        return protocol.plain(value, schema)
    if isinstance(value, Mapping):
        members = tree if isinstance(tree, dict) else {}
        return {key: completed(item, members.get(key), schema, protocol) for key, item in value.items()}
    written = [*tree, *[None] * len(value)] if isinstance(tree, (list, tuple)) else [None] * len(value)
    found = [completed(item, part, schema, protocol) for item, part in zip(value, written, strict=False)]
    return tuple(found) if isinstance(tree, tuple) else found


def _object(partial: Partial[Any], tree: Any, schema: Schema, protocol: Protocol) -> Any:
    if protocol.name == "json":
        written = dict(tree) if isinstance(tree, dict) else {}
        return _filled(partial, written, schema.aliases(_name(partial.type, schema)), schema, protocol)
    node = tree if isinstance(tree, ObjectNode) else _node(partial, schema, {})
    written = {**dict(zip(schema.fields(node.class_name), node.positional, strict=False)), **node.fields}
    names = {name: name for name in partial.given}
    return ObjectNode(node.class_name, (), _filled(partial, written, names, schema, protocol))


def _filled(
    partial: Partial[Any], written: dict[str, Any], names: Mapping[str, str], schema: Schema, protocol: Protocol
) -> dict[str, Any]:
    for name, value in partial.given.items():
        if value is not MISSING:
            written[names[name]] = completed(value, written.get(names[name]), schema, protocol)
    return written


def _missing(value: Any, path: Path) -> Iterator[Path]:
    if value is MISSING:
        yield path
    elif isinstance(value, (Partial, Mapping)):
        members = value.given if isinstance(value, Partial) else value
        for name, item in members.items():
            yield from _missing(item, (*path, name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _missing(item, (*path, index))


def _has_gaps(value: Any) -> bool:
    """Whether anything in it is partial or missing."""
    if isinstance(value, Mapping):
        return any(map(_has_gaps, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_gaps, value))
    return value is MISSING or isinstance(value, Partial)


def _each(value: Any, make: Callable[[Any], Any]) -> Any:
    """A container with something made of each of its values."""
    if isinstance(value, Mapping):
        return {key: make(item) for key, item in value.items()}
    return tuple(map(make, value)) if isinstance(value, tuple) else list(map(make, value))


def _node(partial: Partial[Any], schema: Schema, members: dict[str, Any]) -> ObjectNode:
    return ObjectNode(_name(partial.type, schema), (), members)


def _name(type_: Any, schema: Schema) -> str:
    """What the schema calls a class."""
    for name, known in schema.classes.items():
        if known is type_:
            return name
    raise _invalid("partial", f"{type_.__name__} has no place in {schema.type.__name__}")


def _typed(name: str, hint: Any, value: Any) -> Any:
    if _has_gaps(value):
        return typed(value)
    try:
        return Schema.of(hint).validate(value)
    except SchemaMismatchError as error:
        raise _invalid(name, f"{name} does not fit: {error.message}") from error


def _invalid(option: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(why, details={"option": option})
