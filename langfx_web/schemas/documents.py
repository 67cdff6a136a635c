"""A wanted type as JSON Schema: what a model is told of it in the JSON protocol, and what a provider is told natively.

Classes and Enums stand under `$defs` by the names that an answer in the python protocol calls them by.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

from langfx_web.errors import NotPortableError, SchemaError
from langfx_web.json_text import check_value
from langfx_web.schemas import adapters, declared
from langfx_web.schemas.compiling import CODED, Compiled, coded_name
from langfx_web.schemas.containers import DictForm, ListForm, Member, RecordForm, SelfForm, TupleForm, UnionForm
from langfx_web.schemas.form import Form
from langfx_web.schemas.leaves import CodedForm, EnumForm, LiteralForm, ScalarForm, UnknownForm
from langfx_web.schemas.objects import ClassForm
from langfx_web.schemas.written import written

Document: TypeAlias = dict[str, Any]

_KINDS: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    bytes: "string",
    type(None): "null",
}
_NUMBER = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "integer": _NUMBER,
    "number": _NUMBER,
    "string": {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}


class Writer:
    """Writes the document of a compiled type.

    `strict` is what providers that hold a model to a schema can take: every field is asked for, and one that has a
    default may be null instead; `nullable` has the documents of these. What has no such form is `schema_unsupported`.
    """

    def __init__(self, compiled: Compiled, *, strict: bool = False) -> None:
        self.definitions: dict[str, Document] = {}
        self.uses: Counter[str] = Counter()
        self.nullable: list[Document] = []
        self._compiled = compiled
        self._enums: dict[Any, str] = {type_: name for name, type_ in compiled.enums.items()}
        self._strict = strict
        self._path: tuple[str, ...] = ()

    def root(self, *, inline: bool = False) -> Document:
        """The document without its definitions: a reference where it is one of those, and one that others refer to.

        With `inline` it is the definition itself, which stays among them for the others.
        """
        document = self.write(self._compiled.root)
        name = document.get("$ref", "").removeprefix("#/$defs/")
        if not name or len(document) > 1 or (self.uses[name] > 1 and not inline):
            return document
        return dict(self.definitions[name]) if self.uses[name] > 1 else self.definitions.pop(name)

    def write(self, form: Form) -> Document:
        """The document of a form, with what its author noted."""
        if "json_schema" in form.notes:
            return dict(form.notes["json_schema"])
        document = self._plain(form)
        _constrain(document, form.notes)
        return _taken(document, "type") | self._told(form.notes) | document | _extra(form.notes)

    def _plain(self, form: Form) -> Document:
        match form:
            case ScalarForm():
                return {"type": _KINDS[form.type]}
            case UnknownForm():
                return _constants(["UNKNOWN"])
            case LiteralForm():
                return _constants(form.values)
            case CodedForm():
                return _coded(form.type)
            case UnionForm():
                return self._union(form)
            case ListForm() | TupleForm():
                return self._array(form)
            case DictForm():
                return self._open(form)
            case _:
                return self._named(form)

    def _named(self, form: Form) -> Document:
        match form:
            case EnumForm():
                return self._reference(self._enums[form.type], partial(_constants, list(form.type)))
            case ClassForm():
                arms = [self._reference(one.name, partial(self._class, one)) for one in form.offered]
                return arms[0] if len(arms) == 1 else {"anyOf": arms}
            case RecordForm() if form.label:
                return self._reference(form.label, partial(self._object, form.members.values(), form.rest))
            case RecordForm():
                return self._object(form.members.values(), form.rest)
            case SelfForm():
                return self._reference(form.label, partial(self.write, form.form))
        return self._anything()

    def _reference(self, name: str, make: Callable[[], Document]) -> Document:
        self.uses[name] += 1
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] |= make()
        return {"$ref": f"#/$defs/{name}"}

    def _class(self, form: ClassForm) -> Document:
        if form.is_root:
            document = self.write(form.members["root"].form)
        elif form.is_tuple:
            members = list(form.members.values())
            least = sum(member.is_required for member in members)
            document = self._places([member.form for member in members], least)
        else:
            document = self._object(form.members.values(), form.rest)
        text = declared.docstring(form.type)
        return _taken(document, "type") | ({"description": text} if text else {}) | document

    def _object(self, members: Iterable[Member], rest: Form | None) -> Document:
        if rest is not None and self._strict:
            raise self._refused("an object with further fields")
        shown = [member for member in members if not member.is_hidden]
        return {
            "type": "object",
            "properties": {member.alias: self._property(member) for member in shown},
            "required": [member.alias for member in shown if self._strict or member.is_required],
            "additionalProperties": False if rest is None else self.write(rest) or True,
        }

    def _property(self, member: Member) -> Document:
        path, self._path = self._path, (*self._path, member.name)
        document = self.write(member.form)
        self._path = path
        is_nullable = self._strict and not member.is_required and not member.form.takes_null()
        if is_nullable:
            told = _taken(document, "description", "examples")
            document = {"anyOf": [*_arms(document), {"type": "null"}], **told}
        document = _taken(document, "type", "description") | self._default(member) | document
        if is_nullable:
            self.nullable.append(document)
        return document

    def _told(self, found: Mapping[str, Any]) -> Document:
        text = declared.description(found)
        examples = [plain for value in found.get("examples", ()) for plain in self._plainly(value)]
        return ({"description": text} if text else {}) | ({"examples": examples} if examples else {})

    def _default(self, member: Member) -> Document:
        if member.is_required or not member.is_default_told:
            return {}
        plain = self._plainly(member.default)
        return {"default": plain[0]} if plain else {}

    def _plainly(self, value: Any) -> list[Any]:
        """The JSON form of a value, in a list; an empty one where it has none."""
        try:
            plain = written(value, self._compiled)
            check_value(plain)
        except (NotPortableError, SchemaError, ValueError):
            return []
        return [plain]

    def _union(self, form: UnionForm) -> Document:
        arms: list[Document] = []
        for arm in form.arms:
            arms += [document for document in _arms(self.write(arm)) if document not in arms]
        return {"anyOf": arms} if len(arms) > 1 else arms[0]

    def _array(self, form: ListForm | TupleForm) -> Document:
        if isinstance(form, TupleForm):
            return self._places(form.items, len(form.items))
        document: Document = {"type": "array", "items": self.write(form.item)}
        return document | ({"uniqueItems": True} if form.kind == "set" else {})

    def _places(self, forms: Sequence[Form], least: int) -> Document:
        items = [self.write(form) for form in forms]
        return {"type": "array", "prefixItems": items, "minItems": least, "maxItems": len(items)}

    def _open(self, form: DictForm) -> Document:
        if self._strict:
            raise self._refused("a dict of any keys")
        document: Document = {"type": "object", "additionalProperties": self.write(form.value) or True}
        names = form.key.values if isinstance(form.key, LiteralForm) else ()
        if isinstance(form.key, EnumForm):
            names = [member.value for member in form.key.type]
        if names and all(isinstance(getattr(name, "value", name), str) for name in names):
            document["propertyNames"] = {"enum": [getattr(name, "value", name) for name in names]}
        return document

    def _anything(self) -> Document:
        if self._strict:
            raise self._refused("a value of any kind")
        return {}

    def _refused(self, what: str) -> SchemaError:
        where = f" at {'.'.join(self._path)}" if self._path else ""
        return SchemaError(f"{what}{where} has no strict JSON Schema", path=self._path)


def _constants(values: Iterable[Any]) -> Document:
    """The document of constants, each kind with its type."""
    kinds: dict[str, list[Any]] = {}
    for constant in values:
        value = constant.value if isinstance(constant, Enum) else constant
        value = value.decode() if isinstance(value, bytes) else value
        known = kinds.setdefault(_kind(value), [])
        if value not in known:
            known.append(value)
    arms = [_constant(kind, found) for kind, found in kinds.items()]
    return arms[0] if len(arms) == 1 else {"anyOf": arms}


def _kind(value: Any) -> str:
    return next(kind for type_, kind in _KINDS.items() if isinstance(value, type_))


def _constant(kind: str, values: list[Any]) -> Document:
    if kind == "null":
        return {"type": kind}
    return {"type": kind, "const": values[0]} if len(values) == 1 else {"type": kind, "enum": values}


def _coded(type_: Any) -> Document:
    known = CODED.get(coded_name(type_))
    if known == "decimal":
        return {"anyOf": [{"type": "number"}, {"type": "string"}]}
    document = {"type": "string", "format": known} if known else adapters.text_schema(type_)
    return {keyword: value for keyword, value in (document or {}).items() if keyword != "title"}


def _constrain(document: Document, found: Mapping[str, Any]) -> None:
    """Add constraints; those of a union hold for each arm of a kind that they speak of."""
    for arm in document.get("anyOf", ()):
        _constrain(arm, found)
    for name, keyword in _KEYWORDS.get(document.get("type", ""), {}).items():
        if name in found and "const" not in document:
            value = getattr(found[name], "pattern", found[name])
            if not isinstance(value, (str, int)):
                value = float(value)
            if isinstance(value, str) or math.isfinite(value):
                document[keyword] = value


def _arms(document: Document) -> list[Document]:
    """The documents that a union with this one has in its place."""
    return list(document["anyOf"]) if document.keys() == {"anyOf"} else [document]


def _taken(document: Document, *keywords: str) -> Document:
    """These keywords, taken out of the document: they are told first."""
    return {keyword: document.pop(keyword) for keyword in keywords if keyword in document}


def _extra(found: Mapping[str, Any]) -> Document:
    extra = found.get("json_schema_extra")
    return dict(extra) if isinstance(extra, Mapping) else {}


def portable(compiled: Compiled, description: str = "") -> Document:
    """The JSON Schema of a type, as every reader of such takes it."""
    writer = Writer(compiled)
    return whole(writer.root(), writer.definitions, description)


def whole(root: Document, definitions: Mapping[str, Document], description: str = "") -> Document:
    """A root with its definitions; a description of ours stands for the author's."""
    told = {"description": description} if description else {}
    first = {"type": root["type"]} if "type" in root else {}
    return first | told | {**root, **told} | ({"$defs": dict(definitions)} if definitions else {})
