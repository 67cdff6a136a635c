"""JSON Schema documents: each keyword checked, references followed, what wires blur settled."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import SchemaError, SchemaMismatchError
from langfx_web.schemas import Schema
from langfx_web.schemas.json_schema import check, settle


@pytest.mark.parametrize(
    ("document", "good", "bad", "problem"),
    [
        ({"type": "integer"}, 1, "1", "int_type"),
        ({"type": "integer"}, 1, True, "int_type"),
        ({"type": "number"}, 1.5, False, "float_type"),
        ({"type": ["string", "null"]}, None, 1, "null_type"),
        ({"enum": [1, "a"]}, "a", True, "enum"),
        ({"const": {"a": 1}}, {"a": 1}, {"a": 2}, "literal_error"),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": "x"}, {}, "missing"),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}, "extra_forbidden"),
        ({"additionalProperties": {"type": "string"}}, {"a": "x"}, {"a": 1}, "string_type"),
        ({"items": {"type": "string"}}, ["a"], [1], "string_type"),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, ["a", 1], ["a", "b"], "int_type"),
        ({"minItems": 1}, [1], [], "too_short"),
        ({"maxItems": 1}, [1], [1, 2], "too_long"),
        ({"uniqueItems": True}, [1, True], [{"a": 1}, {"a": 1}], "unique_items"),
        ({"minimum": 1}, 1, 0, "greater_than_equal"),
        ({"maximum": 1}, 1, 2, "less_than_equal"),
        ({"exclusiveMinimum": 1}, 2, 1, "greater_than"),
        ({"exclusiveMaximum": 1}, 0, 1, "less_than"),
        ({"multipleOf": 0.1}, 0.3, 0.35, "multiple_of"),
        ({"minLength": 2}, "ab", "a", "string_too_short"),
        ({"maxLength": 1}, "a", "ab", "string_too_long"),
        ({"pattern": "^a"}, "ab", "b", "string_pattern_mismatch"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1, "union_error"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, 1, 7, "union_error"),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, 2, 4, "less_than_equal"),
        ({"not": {"type": "string"}}, 1, "a", "not_allowed"),
        ({"type": "integer"}, 1.0, 1.5, "int_type"),
        ({"enum": [1]}, 1.0, True, "enum"),
        ({"const": {"a": 1, "b": [2]}}, {"b": [2.0], "a": 1}, {"a": True, "b": [2]}, "literal_error"),
        ({"uniqueItems": True}, [{"a": 1}, {"b": 1}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], "unique_items"),
        ({"multipleOf": 3}, 10**400 * 3, 10**400 * 3 + 1, "multiple_of"),
        ({"multipleOf": 0.5}, 10**400, 0.3, "multiple_of"),
        ({"items": False, "prefixItems": [{}]}, [1], [1, 2], "extra_forbidden"),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, {"x1": 1}, {"y": 1}, "extra_forbidden"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/anyOf/0"}]}, "a", 1, "union_error"),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}}, "a", 1, "string_type"),
    ],
)
def test_keywords(document, good, bad, problem) -> None:
    """What fits passes, what does not is named."""
    assert check(document, good) == []
    assert [item.type for item in check(document, bad)] == [problem]


def test_recursion_follows_references() -> None:
    """A tree of any depth is checked; the path leads to the fault."""
    document = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "v": {"type": "integer"}}}
        },
    }
    assert check(document, {"next": {"next": {"v": 1}}}) == []
    assert check(document, {"next": {"next": {"v": "x"}}})[0].path == ("next", "next", "v")


@pytest.mark.parametrize("reference", ["https://example.test/x", "#/$defs/None", 5])
def test_references_that_lead_nowhere_are_refused(reference) -> None:
    """Nothing is ever fetched."""
    with pytest.raises(SchemaError):
        check({"$ref": reference}, 1)


def test_a_circle_of_references_ends() -> None:
    """With an error."""
    with pytest.raises(SchemaError):
        check({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}, 1)


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_a_circle_of_arms_ends(keyword: str) -> None:
    """With an error too; where it leads to another place it may go round."""
    with pytest.raises(SchemaError):
        check({keyword: [{"$ref": "#"}]}, 1)
    assert check({keyword: [{"items": {"$ref": "#"}}]}, [[[]]]) == []


def test_unions_of_alike_arms_are_checked_in_linear_time() -> None:
    """Each arm looks at each value once."""
    arms = [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]
    node = {"type": "object", "properties": {"next": {"anyOf": [*arms, {"type": "null"}]}}}
    document = {"anyOf": arms, "$defs": {"A": node, "B": {**node, "required": ["other"]}}}
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
        assert check(document, value) == []
        counts.append(looked)
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


def test_settle_looks_into_the_one_arm_that_takes_the_kind() -> None:
    """As where a value may be null."""
    document = {
        "anyOf": [
            {"type": "object", "properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
            {"type": "null"},
        ]
    }
    assert [type(settle(document, value)["n"]) for value in ({"n": 1.0}, '{"n": 1.0}')] == [int, int]
    assert settle(document, None) is None
    places = {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "number"}}
    assert list(map(type, settle(places, [1.0, 2.0]))) == [int, float]
    table = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert type(settle(table, {"a": 1.0})["a"]) is int
    shapes = {"anyOf": [{"type": "object", "properties": {name: {"type": "integer"}}} for name in ("a", "b")]}
    assert type(settle(shapes, {"b": 1.0})["b"]) is int
    assert settle({"anyOf": [{"type": "array"}, {}]}, "[1]") == "[1]"
    assert settle({"anyOf": [{"type": "integer"}, {"type": "number"}]}, 1.0) == 1.0


def test_settle_changes_only_what_wires_blur() -> None:
    """Integral floats and one level of JSON text, where the schema wants them; nothing else."""
    document = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "x": {"type": "number"},
            "list": {"type": "array", "items": {"type": "integer"}},
            "either": {"type": ["string", "array"]},
        },
    }
    value = {"n": 5.0, "x": 5.0, "list": "[1.0, 2]", "either": "[1]", "other": "[1]"}
    assert settle(document, value) == {"n": 5, "x": 5.0, "list": [1, 2], "either": "[1]", "other": "[1]"}
    assert settle(document, '{"n": 1}') == {"n": 1}
    assert settle(document, {"list": "[1"}) == {"list": "[1"}


def test_a_document_schema_keeps_values_plain() -> None:
    """The value is checked and comes back as it is; the document goes to the model as written."""
    document = {"$schema": "x", "type": "object", "title": "Kept", "properties": {"a": {"type": "integer"}}}
    schema = Schema.from_json_schema(document)
    value = {"a": 1, "b": 2}
    assert schema.validate(value) is value
    assert schema.json_schema() == {key: value for key, value in document.items() if key != "$schema"}
    with pytest.raises(SchemaMismatchError):
        schema.validate({"a": "1"})


@pytest.mark.parametrize(
    "document",
    [{"type": 5}, {"properties": []}, {"properties": {"a": {"pattern": "("}}}, {"minProperties": 1, "required": 3}],
)
def test_a_document_that_is_no_schema_is_refused(document) -> None:
    """With an error of ours, whatever is wrong in it."""
    with pytest.raises(SchemaError):
        Schema.from_json_schema(document).validate({"a": "x"})
