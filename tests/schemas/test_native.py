"""What providers are told of a type, and their answers as the type has them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from langfx_web.errors import OutputMismatchError, SchemaError, SchemaMismatchError
from langfx_web.schemas import Schema
from langfx_web.schemas.native import NativeSchema


@dataclass
class Inner:
    x: int
    y: int | None = None
    z: int = 3


@dataclass
class Outer:
    inner: Inner
    items: list[Inner] = field(default_factory=list)
    note: str | None = None
    label: str = "none"


@dataclass
class Open:
    extra: dict[str, int] = field(default_factory=dict)


@dataclass
class Deep:
    opens: list[Open]


@dataclass
class NoFields:
    pass


class Free(BaseModel):
    anything: Any


class More(BaseModel):
    model_config = ConfigDict(extra="allow")


class HasMore(BaseModel):
    more: More


class Search(BaseModel):
    query: str
    limit: int = 10
    tag: str | None = None
    note: str | None


class Node(BaseModel):
    value: int = 0
    children: list[Node] = []


def objects(document: Any) -> list[dict[str, Any]]:
    """Every object schema in a document."""
    members = document.values() if isinstance(document, dict) else document if isinstance(document, list) else []
    found = [document] if isinstance(document, dict) and "properties" in document else []
    return found + [inner for member in members for inner in objects(member)]


def test_langfx_13_strict_documents_are_closed_and_ask_for_every_field() -> None:
    """Also below `$defs`; a field with a default may be null, one that may be null already stays as it is."""
    native = Schema(Outer).native(strict=True)
    found = objects(native.document)
    assert len(found) == 2
    for schema in found:
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
    assert native.document["properties"]["label"] == {
        "default": "none",
        "anyOf": [{"type": "string"}, {"type": "null"}],
    }
    assert native.document["properties"]["note"] == {"default": None, "anyOf": [{"type": "string"}, {"type": "null"}]}
    assert not native.wrapped
    assert native.nullable == {
        ("properties", "items"),
        ("properties", "label"),
        ("$defs", "Inner", "properties", "z"),
    }


def test_bug_048_defaults_come_back_for_null() -> None:
    """At every depth, and only where the document says so."""
    schema = Schema(Outer)
    native = schema.native(strict=True)
    sent = {"inner": {"x": 1, "y": None, "z": None}, "items": [{"x": 2, "y": 5, "z": 6}], "note": None, "label": None}
    decoded = native.decode(sent)
    assert decoded == {"inner": {"x": 1, "y": None}, "items": [{"x": 2, "y": 5, "z": 6}], "note": None}
    assert schema.build(decoded, protocol="json") == Outer(Inner(1), [Inner(2, 5, 6)])
    assert native.decode(sent | {"items": None})["inner"] == {"x": 1, "y": None}
    assert "items" not in native.decode(sent | {"items": None})


@pytest.mark.parametrize(
    ("type_", "path"),
    [
        (Open, ("extra",)),
        (Deep, ("opens", "extra")),
        (Free, ("anything",)),
        (HasMore, ("more",)),
        (dict[str, int], ()),
        (list[Any], ()),
        (list, ()),
    ],
)
def test_langfx_13_what_no_strict_document_can_say_is_refused_with_its_path(type_: Any, path: tuple[str, ...]) -> None:
    """Open maps, free values, objects with further fields; the document that is not strict has them."""
    with pytest.raises(SchemaError) as caught:
        Schema(type_).native(strict=True)
    assert (caught.value.code, caught.value.path) == ("schema_unsupported", path)
    native = Schema(type_).native(strict=False)
    assert native.document["type"] == "object"
    assert native.nullable == frozenset()


def test_langfx_13_a_class_without_fields_is_an_object_without_properties() -> None:
    """Strict or not."""
    expected = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    assert Schema(NoFields).native(strict=True) == NativeSchema(document=expected, wrapped=False, nullable=frozenset())
    assert Schema(NoFields).native(strict=False).document == expected


@pytest.mark.parametrize("type_", [int, list[Inner], Inner | None, Literal["a", "b"], tuple[int, str]])
def test_langfx_13_a_root_that_is_no_object_is_wrapped(type_: Any) -> None:
    """In an object with one member, which decoding takes away again."""
    native = Schema(type_).native(strict=True)
    assert native.wrapped
    assert list(native.document["properties"]) == ["value"]
    assert native.document["required"] == ["value"]
    assert native.document["additionalProperties"] is False
    assert native.decode({"value": 7}) == 7
    assert native.decode({"value": [{"x": 1, "y": 2, "z": None}]}) in (
        [{"x": 1, "y": 2}],
        [{"x": 1, "y": 2, "z": None}],
    )
    assert native.decode(7) == 7
    assert native.decode({"other": 7}) == {"other": 7}


def test_langfx_14_null_means_the_default_only_where_we_made_it_so() -> None:
    """A null in a field of its own type is that; in one that is asked for it is a mismatch."""
    schema = Schema(Search)
    native = schema.native(strict=True)
    assert native.nullable == {("properties", "limit")}
    decoded = native.decode(json.loads('{"query": "q", "limit": null, "tag": null, "note": null}'))
    found = schema.build(decoded, protocol="json")
    assert (found.query, found.limit, found.tag, found.note) == ("q", 10, None, None)
    with pytest.raises(OutputMismatchError) as caught:
        schema.build(native.decode({"query": None, "limit": 1, "tag": None, "note": None}), protocol="json")
    assert caught.value.path == ("query",)


@pytest.mark.parametrize(
    ("text", "is_strict", "expected"),
    [
        ('{"query": "q", "note": null}', False, {"query": "q", "limit": 10, "tag": None, "note": None}),
        (
            '{"query": "q", "limit": null, "tag": null, "note": null}',
            True,
            {"query": "q", "limit": 10, "tag": None, "note": None},
        ),
        ('{"query": "q", "limit": null, "note": null}', False, "limit"),
        (
            '{"query": "q", "tag": "null", "note": "None"}',
            False,
            {"query": "q", "limit": 10, "tag": "null", "note": "None"},
        ),
        ('{"query": "q", "limit": "null", "note": null}', False, "limit"),
        ('{"query": "q"}', False, "note"),
        ('{"query": null, "note": null}', True, "query"),
    ],
)
def test_bug_046_null_missing_and_the_text_null_are_three_things(text: str, is_strict: bool, expected: Any) -> None:
    """Each with its own outcome, and no text ever becomes null."""
    schema = Schema(Search)
    value = json.loads(text)
    if is_strict:
        value = schema.native(strict=True).decode(value)
    try:
        assert schema.validate(value).model_dump() == expected
    except SchemaMismatchError as error:
        assert [problem["path"] for problem in error.problems] == [[expected]]


def test_recursive_roots_are_objects_with_references_below() -> None:
    """Defaults come back at any depth, and the root's own definition stays for the others."""
    schema = Schema(Node)
    native = schema.native(strict=True)
    assert native.document["type"] == "object"
    assert native.document["properties"]["children"]["anyOf"][0]["items"] == {"$ref": "#/$defs/Node"}
    sent = {"value": None, "children": [{"value": 1, "children": [{"value": None, "children": None}]}]}
    assert native.decode(sent) == {"children": [{"value": 1, "children": [{}]}]}
    assert schema.build(native.decode(sent), protocol="json").children[0].children[0] == Node()


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    lives: int | None


class Pets(BaseModel):
    pets: list[Cat | Dog]


def test_arms_of_a_union_are_told_apart_by_their_fields_and_constants() -> None:
    """The same null is a default in one and a value in the other."""
    native = Schema(Pets).native(strict=True)
    sent = {"pets": [{"kind": "cat", "lives": None}, {"kind": "dog", "lives": None}]}
    assert native.decode(sent) == {"pets": [{"kind": "cat"}, {"kind": "dog", "lives": None}]}


def test_decoding_leaves_alone_what_does_not_fit() -> None:
    """Unknown members and other kinds are for the type to refuse."""
    native = Schema(Search).native(strict=True)
    for value in ({"query": "q", "other": None}, [None], "text", None, {"query": {"limit": None}}):
        assert native.decode(value) == value


def test_decoding_is_linear_in_unions_of_alike_arms() -> None:
    """Arms that look the same are walked together, not one after the other."""

    class One(BaseModel):
        next: One | Other | None = None  # type: ignore[name-defined]  # it comes below

    class Other(BaseModel):
        next: One | Other | None = None

    One.model_rebuild()
    looked = 0

    class Counted(dict[str, Any]):
        def items(self) -> Any:
            nonlocal looked
            looked += 1
            return super().items()

    counts = []
    for depth in (10, 20, 40):
        value: Any = None
        for _ in range(depth):
            value = Counted(next=value)
        looked = 0
        Schema(One | Other).native(strict=True).decode({"value": value})
        counts.append(looked)
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])
