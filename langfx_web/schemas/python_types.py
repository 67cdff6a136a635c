"""A wanted type as Python annotations and class definitions: what a model is told of it in the python protocol."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin

from langfx_web.schemas.compiling import Compiled, Field, fields, hints
from langfx_web.schemas.unknown import Unknown

_EXAMPLES = {
    "date": "2024-01-31",
    "datetime": "2024-01-31T12:30:00Z",
    "time": "12:30:00",
    "timedelta": "P1DT2H",
    "Decimal": "1.50",
    "UUID": "12345678-1234-5678-1234-567812345678",
}
_BUILTINS = frozenset({int, float, bool, str, bytes, list, dict, set, frozenset, tuple})
_SIGNS = (("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"))


def python_type(type_: Any, compiled: Compiled) -> str:
    """The annotation and, where it names classes or types written as text, a fenced block that says what they are."""
    writer = _Writer(compiled)
    root = writer.annotation(type_) + writer.comment(type_, ())
    blocks = writer.blocks()
    legend = [f"# {name}: text{_such_as(name)}" for name in writer.coded]
    parts = ["\n".join(legend), *blocks] if legend else blocks
    return root if not parts else f"{root}\n\n```python\n{chr(10).join(_spaced(parts))}\n```"


def _spaced(parts: list[str]) -> Iterator[str]:
    for place, part in enumerate(parts):
        if place:
            yield ""
        yield part


def _such_as(name: str) -> str:
    return f" such as {_EXAMPLES[name]!r}" if name in _EXAMPLES else ""


class _Writer:
    def __init__(self, compiled: Compiled) -> None:
        self._names: dict[Any, str] = {form.type: name for name, form in compiled.classes.items()}
        self._enums: dict[Any, str] = {type_: name for name, type_ in compiled.enums.items()}
        self._forms = compiled.forms
        self._done: dict[str, str] = {}
        self._begun: set[Any] = set()
        self.coded: dict[str, None] = {}

    def annotation(self, type_: Any) -> str:
        origin, arguments = get_origin(type_), get_args(type_)
        if type_ is None or type_ is type(None):
            return "None"
        if isinstance(type_, NewType):
            return self.annotation(type_.__supertype__)
        if type(type_).__name__ == "TypeAliasType":
            return self.annotation(type_.__value__)
        if origin is Annotated:
            return self.annotation(arguments[0])
        if origin in (Union, types.UnionType):
            return " | ".join(dict.fromkeys(map(self.annotation, arguments)))
        if origin is Literal:
            return f"Literal[{', '.join(map(self._constant, arguments))}]"
        if origin is not None:
            inner = ", ".join("..." if item is ... else self.annotation(item) for item in arguments)
            return f"{origin.__name__}[{inner or '()'}]"
        return self._name(type_)

    def _name(self, type_: Any) -> str:
        if type_ is Any:
            return "Any"
        if type_ is Unknown:
            return "UNKNOWN"
        if type_ in self._names or type_ in self._enums:
            return self._names.get(type_) or self._enums[type_]
        if type_ in self._forms:
            return " | ".join(form.name for form in self._forms[type_].offered)
        if hasattr(type_, "__required_keys__"):
            members = hints(type_, ()).items()
            return f"{{{', '.join(f'{name!r}: {self.annotation(hint)}' for name, hint in members)}}}"
        if type_ not in _BUILTINS:
            self.coded[type_.__name__] = None
        return str(type_.__name__)

    def _constant(self, value: Any) -> str:
        if isinstance(value, Enum):
            return f"{self._enums.get(type(value), type(value).__name__)}.{value.name}"
        return repr(value)

    def comment(self, type_: Any, metadata: tuple[Any, ...]) -> str:
        """The constraints of a type, as a comment at the end of its line."""
        found = list(dict.fromkeys([*_constraints(metadata), *self._inner(type_, "")]))
        return f"  # {', '.join(found)}" if found else ""

    def _inner(self, type_: Any, before: str) -> Iterator[str]:
        origin, arguments = get_origin(type_), get_args(type_)
        if origin is Annotated:
            yield from (before + text for text in _constraints(type_.__metadata__))
            yield from self._inner(arguments[0], before)
        elif origin in (Union, types.UnionType):
            for arm in arguments:
                yield from self._inner(arm, before)
        elif origin in (list, set, frozenset, tuple):
            for item in arguments:
                yield from self._inner(item, "items ")

    def blocks(self) -> list[str]:
        """The definitions of all offered classes and Enums, each after those that it needs."""
        for type_, name in self._enums.items():
            members = "".join(f"\n  {member.name} = {member.value!r}" for member in type_)
            self._done[name] = f"class {name}(Enum):{members}"
        for type_ in self._names:
            self._define(type_)
        return list(self._done.values())

    def _define(self, type_: Any) -> None:
        if type_ in self._begun or type_ not in self._names:
            return
        self._begun.add(type_)
        bases = [base for base in type_.__bases__ if base in self._names]
        members = [field for field in fields(type_, ()) if not field.is_hidden]
        for needed in [*bases, *(part for field in members for part in _parts(field.hint))]:
            self._define(needed)
        name = self._names[type_]
        heads = ", ".join(self._names[base] for base in bases)
        lines = [*_docstring(type_), *(line for field in members for line in self._field(field))]
        head = f"class {name}({heads}):" if heads else f"class {name}:"
        self._done[name] = "\n".join([head, *(f"  {line}".rstrip() for line in lines or ["pass"])])
        for heir in self._forms[type_].offered:
            self._define(heir.type)

    def _field(self, field: Field) -> Iterator[str]:
        if field.description:
            yield from (f"# {line}".rstrip() for line in inspect.cleandoc(field.description).splitlines())
        default = "" if field.is_required else f" = {self._default(field)}"
        yield f"{field.name}: {self.annotation(field.hint)}{default}{self.comment(field.hint, field.metadata)}"

    def _default(self, field: Field) -> str:
        value = field.default
        if isinstance(value, Enum):
            return self._constant(value) if type(value) in self._enums else "..."
        is_plain = value is None or isinstance(value, (bool, int, float, str, bytes))
        if isinstance(value, (list, dict)):
            members = [*value, *value.values()] if isinstance(value, dict) else value
            is_plain = all(item is None or type(item) in (bool, int, float, str) for item in members)
        return repr(value) if is_plain else "..."


def _parts(type_: Any) -> Iterator[Any]:
    """The classes that an annotation names."""
    if isinstance(type_, type):
        yield type_
    for argument in get_args(type_):
        if not isinstance(argument, (str, int, bytes)):
            yield from _parts(argument)


def _docstring(type_: Any) -> Iterator[str]:
    """The author's own text; a dataclass without one has a generated text, a NamedTuple too."""
    text = inspect.cleandoc(type_.__dict__.get("__doc__") or "")
    is_generated = text.startswith(f"{type_.__name__}(")
    if not text or (is_generated and (dataclasses.is_dataclass(type_) or issubclass(type_, tuple))):
        return
    lines = text.splitlines()
    yield f'"""{text}"""' if len(lines) == 1 else f'"""{lines[0]}'
    if len(lines) > 1:
        yield from lines[1:]
        yield '"""'


def _constraints(metadata: tuple[Any, ...]) -> Iterator[str]:
    found: dict[str, Any] = {}
    for item in (part for whole in metadata for part in getattr(whole, "metadata", [whole])):
        for name in ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern"):
            value = getattr(item, name, None)
            if value is not None:
                found[name] = value
    yield from (f"{sign} {found[name]!r}" for name, sign in _SIGNS if name in found)
    if "multiple_of" in found:
        yield f"multiple of {found['multiple_of']!r}"
    if "min_length" in found and "max_length" in found:
        yield f"length {found['min_length']}..{found['max_length']}"
    elif "min_length" in found:
        yield f"length >= {found['min_length']}"
    elif "max_length" in found:
        yield f"length <= {found['max_length']}"
    if "pattern" in found:
        yield f"pattern: {getattr(found['pattern'], 'pattern', found['pattern'])!r}"
