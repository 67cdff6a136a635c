"""A wanted type as Python annotations and class definitions: what a model is told of it in the python protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from langfx_web.schemas import declared
from langfx_web.schemas.compiling import Compiled
from langfx_web.schemas.containers import DictForm, ListForm, Member, RecordForm, SelfForm, TupleForm, UnionForm
from langfx_web.schemas.form import Form
from langfx_web.schemas.leaves import AnyForm, CodedForm, EnumForm, LiteralForm, UnknownForm
from langfx_web.schemas.objects import ClassForm

_EXAMPLES = {
    "date": "2024-01-31",
    "datetime": "2024-01-31T12:30:00Z",
    "time": "12:30:00",
    "timedelta": "P1DT2H",
    "Decimal": "1.50",
    "UUID": "12345678-1234-5678-1234-567812345678",
}
_SIGNS = (("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"))


def python_type(compiled: Compiled, description: str = "") -> str:
    """The annotation and, where it names classes or types written as text, a fenced block that says what they are.

    A description stands above them.
    """
    writer = _Writer(compiled)
    root = writer.annotation(compiled.root) + comment(compiled.root)
    blocks = writer.blocks()
    legend = [f"# {name}: text{_such_as(name)}" for name in writer.coded]
    parts = ["\n".join(legend), *blocks] if legend else blocks
    told = "".join(f"# {line}".rstrip() + "\n" for line in description.splitlines())
    return told + (root if not parts else f"{root}\n\n```python\n{chr(10).join(_spaced(parts))}\n```")


def _spaced(parts: list[str]) -> Iterator[str]:
    for place, part in enumerate(parts):
        if place:
            yield ""
        yield part


def _such_as(name: str) -> str:
    return f" such as {_EXAMPLES[name]!r}" if name in _EXAMPLES else ""


class _Writer:
    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._enums: dict[Any, str] = {type_: name for name, type_ in compiled.enums.items()}
        self._done: dict[str, str] = {}
        self._begun: set[str] = set()
        self.coded: dict[str, None] = {}

    def annotation(self, form: Form) -> str:
        match form:
            case AnyForm():
                return "Any"
            case UnknownForm():
                return "UNKNOWN"
            case UnionForm():
                return " | ".join(dict.fromkeys(map(self.annotation, form.arms)))
            case LiteralForm():
                return f"Literal[{', '.join(map(self._constant, form.values))}]"
            case EnumForm():
                return self._enums[form.type]
            case ListForm():
                return f"{form.make.__name__}[{self.annotation(form.item)}{', ...' if form.make is tuple else ''}]"
            case TupleForm():
                return f"tuple[{', '.join(map(self.annotation, form.items)) or '()'}]"
            case DictForm():
                return f"dict[{self.annotation(form.key)}, {self.annotation(form.value)}]"
            case ClassForm():
                named = form.name in self._compiled.classes
                return form.name if named else " | ".join(offered.name for offered in form.offered)
            case RecordForm() | SelfForm():
                return form.label or self.structure(form)
            case CodedForm():
                self.coded[form.type.__name__] = None
                return str(form.type.__name__)
        return form.name

    def structure(self, form: Form) -> str:
        """What a label means."""
        if isinstance(form, SelfForm):
            return self.annotation(form.form)
        members = form.members.values() if isinstance(form, RecordForm) else ()
        return f"{{{', '.join(map(self._item, members))}}}"

    def _item(self, member: Member) -> str:
        told = self.annotation(member.form)
        return f"{member.name!r}: {told if member.is_required else f'NotRequired[{told}]'}"

    def _constant(self, value: Any) -> str:
        return f"{self._enums[type(value)]}.{value.name}" if type(value) in self._enums else repr(value)

    def blocks(self) -> list[str]:
        """The definitions of all offered classes and Enums, each after those that it needs."""
        for type_, name in self._enums.items():
            members = "".join(f"\n  {member.name} = {member.value!r}" for member in type_)
            self._done[name] = f"class {name}(Enum):{members}"
        for form in self._compiled.classes.values():
            self._define(form)
        aliases = [f"{label} = {self.structure(form)}" for label, form in self._compiled.labels.items()]
        return [*self._done.values(), *aliases]

    def _define(self, form: ClassForm) -> None:
        if form.name in self._begun or form.name not in self._compiled.classes:
            return
        self._begun.add(form.name)
        bases = self._bases(form)
        members = [member for member in form.members.values() if not member.is_hidden]
        for needed in [*bases, *(part for member in members for part in parts(member.form))]:
            self._define(needed)
        lines = [*_docstring(form.type), *(line for member in members for line in self._field(member))]
        named = ", ".join(base.name for base in bases)
        head = f"class {form.name}({named}):" if bases else f"class {form.name}:"
        self._done[form.name] = "\n".join([head, *(f"  {line}".rstrip() for line in lines or ["pass"])])
        for heir in form.offered:
            self._define(heir)

    def _bases(self, form: ClassForm) -> list[ClassForm]:
        bases = [*form.origin.__bases__, *getattr(form.origin, "__orig_bases__", ())]
        found = [self._compiled.forms[base] for base in dict.fromkeys(bases) if base in self._compiled.forms]
        return [base for base in found if base.name in self._compiled.classes]

    def _field(self, member: Member) -> Iterator[str]:
        described = declared.description(member.form.notes)
        yield from (f"# {line}".rstrip() for line in described.splitlines())
        told = self._default(member.default) if member.is_default_told else "..."
        default = "" if member.is_required else f" = {told}"
        yield f"{member.name}: {self.annotation(member.form)}{default}{comment(member.form)}"

    def _default(self, value: Any) -> str:
        if isinstance(value, Enum):
            return self._constant(value) if type(value) in self._enums else "..."
        is_plain = value is None or isinstance(value, (bool, int, float, str, bytes))
        if isinstance(value, (list, dict)):
            members = [*value, *value.values()] if isinstance(value, dict) else value
            is_plain = all(item is None or type(item) in (bool, int, float, str) for item in members)
        return repr(value) if is_plain else "..."


def parts(form: Form) -> Iterator[ClassForm]:
    """The classes that a form names, without those in what it has a label for."""
    match form:
        case ClassForm():
            yield form
        case UnionForm():
            yield from (part for arm in form.arms for part in parts(arm))
        case TupleForm():
            yield from (part for item in form.items for part in parts(item))
        case ListForm():
            yield from parts(form.item)
        case DictForm():
            yield from (*parts(form.key), *parts(form.value))
        case RecordForm() if not form.label:
            yield from (part for member in form.members.values() for part in parts(member.form))


def comment(form: Form) -> str:
    """The constraints of a type, as a comment at the end of its line."""
    found = list(dict.fromkeys(_limits(form, "")))
    return f"  # {', '.join(found)}" if found else ""


def _limits(form: Form, before: str) -> Iterator[str]:
    yield from (before + text for text in _constraints(form.notes))
    match form:
        case UnionForm():
            for arm in form.arms:
                yield from _limits(arm, before)
        case ListForm():
            yield from _limits(form.item, "items ")
        case TupleForm():
            for item in form.items:
                yield from _limits(item, "items ")


def _docstring(type_: Any) -> Iterator[str]:
    text = declared.docstring(type_)
    lines = text.splitlines()
    if lines:
        yield f'"""{text}"""' if len(lines) == 1 else f'"""{lines[0]}'
    if len(lines) > 1:
        yield from lines[1:]
        yield '"""'


def _constraints(found: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{sign} {_bound(found[name])}" for name, sign in _SIGNS if name in found)
    if "multiple_of" in found:
        yield f"multiple of {_bound(found['multiple_of'])}"
    if "min_length" in found and "max_length" in found:
        yield f"length {found['min_length']}..{found['max_length']}"
    elif "min_length" in found:
        yield f"length >= {found['min_length']}"
    elif "max_length" in found:
        yield f"length <= {found['max_length']}"
    if "pattern" in found:
        yield f"pattern: {getattr(found['pattern'], 'pattern', found['pattern'])!r}"


def _bound(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float)) else str(value)
