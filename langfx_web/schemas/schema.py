"""A wanted type: what a model is told of it, and how a plain JSON value becomes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cached_property
from typing import Any

from langfx_web.errors import OutputMismatchError, SchemaError, SchemaMismatchError
from langfx_web.json_text import dumps
from langfx_web.schemas import adapters
from langfx_web.schemas.compiling import Compiled
from langfx_web.schemas.direct import Direct, direct
from langfx_web.schemas.forms import Reading
from langfx_web.schemas.json_schema import check, portable, settle
from langfx_web.schemas.python_types import python_type


class Schema:
    """A Python type, or a JSON Schema document, that values are read into and written from.

    Nothing is loaded or built before first use. `validate` never converts between kinds: `"5"` is no int, `1` no bool.
    """

    def __init__(self, type_: Any, *, subclasses: bool = True) -> None:
        self.type = type_
        self._subclasses = subclasses

    @staticmethod
    def of(type_: Any) -> Schema:
        """A schema as it is, or the schema of a type."""
        return type_ if isinstance(type_, Schema) else Schema(type_)

    @staticmethod
    def from_json_schema(document: Mapping[str, Any]) -> DocumentSchema:
        """A schema whose values stay plain JSON."""
        return DocumentSchema(document)

    @cached_property
    def _adapter(self) -> adapters.Adapter:
        return adapters.adapter(self.type)

    @cached_property
    def _document(self) -> dict[str, Any]:
        try:
            return portable(self._adapter.json_schema(by_alias=True))
        except (TypeError, ValueError) as error:
            raise SchemaError(f"{self.type!r} has no JSON Schema: {error}") from error

    @property
    def is_text(self) -> bool:
        """Whether an answer is the value as it is written."""
        return self.type is str

    @cached_property
    def _compiled(self) -> Compiled:
        return Compiled(self.type, subclasses=self._subclasses)

    @property
    def classes(self) -> Mapping[str, type]:
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
        return python_type(self.type, self._compiled)

    @cached_property
    def _direct(self) -> Direct | None:
        return direct(self.type, self._compiled.forms)

    def read_json(self, text: str, *, max_depth: int) -> tuple[Any] | None:
        """The typed value of one JSON document at once, in a tuple of one.

        None says nothing of the text: the tree that a protocol reads is to be built then.
        """
        return None if self._direct is None else self._direct.read(text, max_depth=max_depth)

    def build(self, tree: Any, *, protocol: str) -> Any:
        """The typed value of a tree that a protocol read; `output_mismatch` with all problems where it does not fit."""
        compiled = self._compiled
        reading = Reading(is_python=protocol == "python", classes=compiled.classes, enums=compiled.enums)
        fit = compiled.root.fit(tree, (), reading)
        if fit is not None:
            try:
                return adapters.made(self.type, fit.value)
            except ValueError as error:
                reading.problems += adapters.problems(error) or []
        first = reading.problems[0]
        path = tuple(first["path"])
        where = f" at {'.'.join(map(str, path))}" if path else ""
        raise OutputMismatchError(f"{first['message']}{where}", path=path, problems=reading.problems)

    def json_schema(self) -> dict[str, Any]:
        """The portable JSON Schema: closed objects, no generated titles, recursion by local reference."""
        return self._document

    def validate(self, value: Any) -> Any:
        """The typed value of a plain JSON value; `SchemaMismatchError` with all problems."""
        value = settle(self._document, value)
        try:
            typed = self._adapter.validate_json(dumps(value), strict=True)
        except ValueError as error:
            found = adapters.problems(error)
            if found is None:
                raise
            raise _mismatch(found) from None
        extra = [problem for problem in check(self._document, value) if problem.type == "extra_forbidden"]
        if extra:
            raise _mismatch([problem.to_plain() for problem in extra])
        return typed

    def dump(self, value: Any) -> Any:
        """The plain JSON value of a typed one; `SchemaMismatchError` where it is not of this type."""
        try:
            typed = self._adapter.validate_python(value, strict=True)
            return self._adapter.dump_python(typed, mode="json", by_alias=True)
        except ValueError as error:
            found = adapters.problems(error)
            raise _mismatch(found or [{"type": "not_json", "path": [], "message": str(error)}]) from error


class DocumentSchema(Schema):
    """A JSON Schema document as a schema: values are checked and stay as they are."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        if not isinstance(document, Mapping):
            raise SchemaError(f"a JSON Schema must be an object, not {type(document).__name__}")
        super().__init__(dict)
        self._given = {keyword: value for keyword, value in document.items() if keyword != "$schema"}
        dumps(self._given)

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
        try:
            value = settle(self._given, value)
            found = check(self._given, value)
        except (TypeError, AttributeError, ValueError, re.error) as error:
            raise SchemaError(f"not a JSON Schema: {error}") from error
        if found:
            raise _mismatch([problem.to_plain() for problem in found])
        return value

    def dump(self, value: Any) -> Any:
        """The same as `validate`."""
        return self.validate(value)


def _mismatch(problems: list[dict[str, Any]], most: int = 10) -> SchemaMismatchError:
    lines = [f"{'.'.join(map(str, item['path'])) or 'value'}: {item['message']}" for item in problems[:most]]
    if len(problems) > most:
        lines.append(f"and {len(problems) - most} more")
    return SchemaMismatchError("\n".join(lines)[:2000], problems=problems)
