"""A wanted type: what a model is told of it, and how values become it."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from langfx_web.deferred import later
from langfx_web.errors import NotPortableError, OutputMismatchError, SchemaError, SchemaMismatchError
from langfx_web.json_text import check_value, dumps, is_json, plain
from langfx_web.schemas import adapters
from langfx_web.schemas.json_schema import check, settle

if TYPE_CHECKING:
    from langfx_web.schemas import compiling, declared, direct, documents, native, python_types, reading, written
    from langfx_web.schemas.form import Source
else:
    # A worker that only has tools of pages needs none of these.
    compiling = later("langfx_web.schemas.compiling")
    declared = later("langfx_web.schemas.declared")
    direct = later("langfx_web.schemas.direct")
    documents = later("langfx_web.schemas.documents")
    native = later("langfx_web.schemas.native")
    python_types = later("langfx_web.schemas.python_types")
    reading = later("langfx_web.schemas.reading")
    written = later("langfx_web.schemas.written")


class Arguments(NamedTuple):
    """The arguments of a call, once they fit: the value, and its JSON form, which shares nothing with it."""

    value: Any
    plain: Any


class Schema:
    """A Python type that values are read into and written from; `schema_unsupported` says where it cannot be.

    `name` and `description` are for the model, and are those of the type unless given. With `subclasses=False` a class
    stands for itself alone. Building looks at annotations; pydantic is loaded when the first value is made.
    """

    def __init__(
        self, type_: Any, *, name: str | None = None, description: str | None = None, subclasses: bool = True
    ) -> None:
        self.type = type_
        self._name = name
        self._description = description
        self._subclasses = subclasses
        self._look()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def _look(self) -> None:
        """Refuse the type at once where it cannot be offered to a model."""
        _ = self._compiled

    @staticmethod
    def of(type_: Any) -> Schema:
        """A schema as it is, or the schema of a type: the last 256 are kept, until a class gets a new subclass."""
        return type_ if isinstance(type_, Schema) else _KEPT.schema(type_)

    @staticmethod
    def from_json_schema(document: Mapping[str, Any]) -> DocumentSchema:
        """A schema whose values stay plain JSON."""
        return DocumentSchema(document)

    @cached_property
    def name(self) -> str:
        """A name of letters, digits and `_`, at most 64."""
        return self._name or re.sub(r"[^A-Za-z0-9_]+", "_", declared.spelled(self.type)).strip("_")[:64] or "value"

    @property
    def description(self) -> str | None:
        """What the model is told of the whole value."""
        return self._description or declared.description(self._compiled.root.notes) or None

    @property
    def is_text(self) -> bool:
        """Whether an answer is the value as it is written."""
        return self.type is str

    @cached_property
    def _compiled(self) -> compiling.Compiled:
        return compiling.Compiled(self.type, subclasses=self._subclasses)

    @cached_property
    def _adapter(self) -> adapters.Adapter:
        return adapters.adapter(self.type)

    @cached_property
    def classes(self) -> Mapping[str, Any]:
        """The classes that an answer may call, by the name that it knows them by."""
        return {name: form.type for name, form in self._compiled.classes.items()}

    @property
    def enums(self) -> Mapping[str, type[Enum]]:
        """The Enums of which a python answer may name members."""
        return self._compiled.enums

    @property
    def root_kinds(self) -> frozenset[str]:
        """What the value itself may be: some of object, dict, list, tuple, set, scalar."""
        return self._compiled.root.kinds()

    def fields(self, name: str) -> tuple[str, ...]:
        """The fields of an offered class in declared order, without those that are hidden from the model."""
        members = self._compiled.classes[name].members.values()
        return tuple(member.name for member in members if not member.is_hidden)

    def aliases(self, name: str) -> dict[str, str]:
        """The JSON name of each field of an offered class."""
        members = self._compiled.classes[name].members.values()
        return {member.name: member.alias for member in members if not member.is_hidden}

    @cached_property
    def python_type(self) -> str:
        """What a model is told of the type in the python protocol: an annotation, and the classes that it names."""
        return python_types.python_type(self._compiled, self.description or "")

    @cached_property
    def _direct(self) -> direct.Direct | None:
        return direct.direct(self.type, self._compiled.forms)

    def read_json(self, text: str, *, max_depth: int) -> tuple[Any] | None:
        """The typed value of one JSON document at once, in a tuple of one.

        None says nothing of the text: the tree that a protocol reads is to be built then.
        """
        return None if self._direct is None else self._direct.read(text, max_depth=max_depth)

    @cached_property
    def _document(self) -> documents.Document:
        return documents.portable(self._compiled, self._description or "")

    def json_schema(self) -> dict[str, Any]:
        """The portable JSON Schema: closed objects, no generated titles, recursion by local reference."""
        return self._document

    def native(self, strict: bool = True) -> native.NativeSchema:
        """The schema as providers take it for structured output.

        With `strict` every field is asked for, and null stands for a default; what has no such form is
        `schema_unsupported` with its path.
        """
        return native.native(self._compiled, strict=strict, description=self._description or "")

    def build(self, tree: Any, *, protocol: str) -> Any:
        """The typed value of a tree that a protocol read; `output_mismatch` with all problems where it does not fit."""
        value, problems = self._read(tree, "python" if protocol == "python" else "json")
        if problems:
            path = tuple(problems[0]["path"])
            where = f" at {'.'.join(map(str, path))}" if path else ""
            raise OutputMismatchError(f"{problems[0]['message']}{where}", path=path, problems=problems)
        return value

    def validate(self, value: Any) -> Any:
        """The typed value of plain data or of the app's own values, kinds never converted.

        An instance that fits stays as it is. `SchemaMismatchError` has all problems.
        """
        typed, problems = self._read(value, "app")
        if problems:
            raise _mismatch(problems)
        return typed

    def _read(self, tree: Any, source: Source) -> tuple[Any, list[dict[str, Any]]]:
        return reading.read(self._compiled, lambda: self._adapter, tree, source)

    def dump(self, value: Any) -> Any:
        """The plain JSON value of a typed one; `SchemaMismatchError` where it is not of this type."""
        if self._compiled.root.is_plain(value):
            return value
        typed = self.validate(value)
        try:
            form = written.written(typed, self._compiled)
            if not is_json(form):
                check_value(form)
        except NotPortableError as error:
            raise _mismatch([{"type": "not_json", "path": list(error.path), "message": str(error)}]) from error
        except (SchemaError, ValueError, RecursionError) as error:
            raise _mismatch([{"type": "not_json", "path": [], "message": str(error)}]) from error
        return form

    def read_arguments(self, given: Mapping[str, Any]) -> Arguments:
        """The value of a call's arguments; `SchemaMismatchError` has all problems.

        What wires cannot tell apart is settled by the schema, and nothing else converted.
        """
        value = self.validate(settle(self.json_schema(), plain(given)))
        return Arguments(value, self.dump(value))

    def tree(self, value: Any) -> Any:
        """The tree that a value of the type would be built from; nodes of it may stand among the values."""
        return written.tree_of(value, self._compiled)

    def plain(self, tree: Any) -> Any:
        """What reading the JSON of a tree's value gives."""
        return written.plain_of(tree, self._compiled)


class DocumentSchema(Schema):
    """A JSON Schema document as a schema: values are checked and stay as they are."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        if not isinstance(document, Mapping):
            raise SchemaError(f"a JSON Schema must be an object, not {type(document).__name__}")
        super().__init__(dict)
        self._given = {keyword: value for keyword, value in document.items() if keyword != "$schema"}
        dumps(self._given)

    def _look(self) -> None:
        """A document is looked at when a value is checked against it."""

    def read_json(self, text: str, *, max_depth: int) -> tuple[Any] | None:
        """None: values are checked against the document."""
        return None

    def json_schema(self) -> dict[str, Any]:
        """The document as it was given."""
        return self._given

    def validate(self, value: Any) -> Any:
        """The value itself, once it fits; `SchemaMismatchError` with all problems.

        `SchemaError` where the document is no schema.
        """
        found = check(self._given, value)
        if found:
            raise _mismatch([problem.to_plain() for problem in found])
        return value

    def dump(self, value: Any) -> Any:
        """The same as `validate`."""
        return self.validate(value)

    def read_arguments(self, given: Mapping[str, Any]) -> Arguments:
        """The arguments themselves, settled, once they fit."""
        value = self.validate(settle(self._given, plain(given)))
        return Arguments(value, plain(value))


class Kept:
    """The schemas of the types that were asked for last."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._schemas: OrderedDict[Any, Schema] = OrderedDict()

    def schema(self, type_: Any) -> Schema:
        """The schema of a type; types that are equal but not written alike have one each."""
        key = (_hashable(type_), repr(type_))
        schema = self._schemas.get(key)
        if schema is None or not schema._compiled.is_current:
            schema = self._schemas[key] = Schema(type_)
            if len(self._schemas) > self._most:
                self._schemas.popitem(last=False)
        self._schemas.move_to_end(key)
        return schema


def _hashable(type_: Any) -> Any:
    try:
        hash(type_)
    except TypeError:
        return id(type_)  # the schema keeps the type, so that nothing else gets its id
    return type_


_KEPT = Kept()


def _mismatch(problems: list[dict[str, Any]], most: int = 10) -> SchemaMismatchError:
    lines = [f"{'.'.join(map(str, item['path'])) or 'value'}: {item['message']}" for item in problems[:most]]
    if len(problems) > most:
        lines.append(f"and {len(problems) - most} more")
    return SchemaMismatchError("\n".join(lines)[:2000], problems=problems)
