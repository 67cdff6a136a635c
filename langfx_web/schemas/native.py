"""A wanted type as providers take it for structured output, and their answers as the type has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langfx_web.schemas.compiling import Compiled
from langfx_web.schemas.documents import Document, Writer, whole

Place = tuple[str, ...]
"""Keywords, names and indices that lead to a part of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeSchema:
    """What a provider is told of a type.

    The root of `document` is an object: another one is `wrapped` in an object with one member, `value`. `nullable` has
    the places in it where null stands for the field's default.
    """

    document: Document
    wrapped: bool
    nullable: frozenset[Place]

    def decode(self, value: Any) -> Any:
        """The JSON value that the type reads: unwrapped, without the members that were left to their defaults.

        What does not fit the document is left for the type to refuse.
        """
        value = self._defaulted(value, [(self.document, ())])
        is_wrapping = self.wrapped and isinstance(value, dict) and value.keys() == {"value"}
        return value["value"] if is_wrapping else value

    def _defaulted(self, value: Any, schemas: list[tuple[Document, Place]]) -> Any:
        """The value, of which each of these parts of the document may be the schema."""
        if isinstance(value, list):
            return [self._defaulted(item, self._items(schemas, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        fitting = [(schema, place) for schema, place in self._arms(schemas) if _may_be(schema, value)]
        kept: dict[str, Any] = {}
        for name, member in value.items():
            inner = [(schema["properties"][name], (*place, "properties", name)) for schema, place in fitting]
            if member is not None or not any(place in self.nullable for _, place in inner):
                kept[name] = self._defaulted(member, inner)
        return kept

    def _items(self, schemas: list[tuple[Document, Place]], index: int) -> list[tuple[Document, Place]]:
        found = []
        for schema, place in self._arms(schemas):
            places = schema.get("prefixItems", [])
            if index < len(places):
                found.append((places[index], (*place, "prefixItems", str(index))))
            elif "items" in schema:
                found.append((schema["items"], (*place, "items")))
        return found

    def _arms(self, schemas: list[tuple[Document, Place]]) -> Iterator[tuple[Document, Place]]:
        """The schemas without unions and references, each once: a place says which it is."""
        pending, seen = schemas[::-1], set[Place]()
        while pending:
            schema, place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            if "$ref" in schema:
                name = schema["$ref"].removeprefix("#/$defs/")
                pending.append((self.document["$defs"][name], ("$defs", name)))
            elif "anyOf" in schema:
                pending += [(arm, (*place, "anyOf", str(index))) for index, arm in enumerate(schema["anyOf"])][::-1]
            else:
                yield schema, place


def _may_be(schema: Document, value: Mapping[str, Any]) -> bool:
    """Whether an object has only members of the schema, and those that are constant there have that value."""
    members = schema.get("properties", {})
    return all(
        name in members and member in members[name].get("enum", [members[name].get("const", member)])
        for name, member in value.items()
    )


def native(compiled: Compiled, *, strict: bool, description: str = "") -> NativeSchema:
    """The document of a type with an object for its root; `strict` as `Writer` says."""
    writer = Writer(compiled, strict=strict)
    root = writer.root(inline=True)
    is_object = root.get("type") == "object"
    if not is_object:
        properties = {"value": root}
        root = {"type": "object", "properties": properties, "required": ["value"], "additionalProperties": False}
    document = whole(root, writer.definitions, description)
    marked = {id(part) for part in writer.nullable}
    nullable = frozenset(place for part, place in _parts(document) if id(part) in marked)
    return NativeSchema(document=document, wrapped=not is_object, nullable=nullable)


def _parts(document: Document) -> Iterator[tuple[Any, Place]]:
    pending: list[tuple[Any, Place]] = [(document, ())]
    while pending:
        part, place = pending.pop()
        yield part, place
        if isinstance(part, dict):
            pending += [(inner, (*place, name)) for name, inner in part.items()]
        elif isinstance(part, list):
            pending += [(inner, (*place, str(index))) for index, inner in enumerate(part)]
