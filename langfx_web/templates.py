"""Texts with `{{ paths }}` in them: names and steps into plain data, never expressions.

    {{ name }}   {{ order.items[0].title }}   \\{{ literal braces }}

A step reads a mapping key, a list or tuple index, a declared field of a dataclass or pydantic model, or the `text` or
`result` of a message; no other attribute, no method, nothing that starts with an underscore.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from operator import getitem
from typing import Any, TypeAlias

from langfx_web.errors import InvalidArgumentError, TemplateError
from langfx_web.messages import ComplexMessage, Message, Part, Text, ToolMessage, UserMessage

_OPENING = re.compile(r"\\?\{[{%#]")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}"}
_PATH = re.compile(r"\s*([A-Za-z]\w*(?:\.[A-Za-z]\w*|\[\d{1,9}\])*)\s*", re.ASCII)
_STEP = re.compile(r"[A-Za-z]\w*|\[\d+\]", re.ASCII)
_PLAIN = frozenset({str, int, float, bool, type(None)})
"""The types of most values: what stands for one of them is its `str`."""

MAX_LEVELS = 64
"""How deep a value may be nested that is written into a text."""

MAX_KEPT = 10_000
"""Characters of a text that is read once for all templates made of it."""


class Template:
    """A prompt's text with variables; `render` makes a message of it.

    `vars` are bound values; a subclass may set `template_str`, which its own subclasses inherit. With `clean`, the text
    (never a value) is dedented and the user's texts of the result are stripped at both ends. `template_invalid` gives
    line and column of what cannot be read, at construction. `\\{{` prints `{{`; so do `\\{%` and `\\{#` where the pair
    is complete and would be refused.
    """

    template_str: str = ""

    def __init__(self, text: str | None = None, *, vars: Mapping[str, Any] | None = None, clean: bool = True) -> None:
        given = self.template_str if text is None else text
        if not isinstance(given, str):
            raise TemplateError(f"a template is made of a str, not of a {type(given).__name__}")
        self.text = inspect.cleandoc(given) if clean else given
        self.clean = clean
        self.vars = dict(_by_name(vars)) if vars else {}
        self._pieces, self._paths = (_read if len(self.text) > MAX_KEPT else _read_once)(self.text)

    @staticmethod
    def raw_str(text: str) -> str:
        """The text with its braces escaped, so that it renders as itself."""
        starts = [found.start() for found in _openings(text)]
        return "\\".join(text[start:end] for start, end in pairwise([0, *starts, len(text)]))

    @classmethod
    def from_raw_str(cls, text: str) -> Template:
        """A template that renders as exactly this text."""
        return cls(cls.raw_str(text), clean=False)

    @property
    def variables(self) -> list[str]:
        """The paths in the text, in order, each once; nothing is run to find them."""
        return list(dict.fromkeys(path.text for path in self._paths))

    def render(self, vars: Mapping[str, Any] | None = None) -> UserMessage | ComplexMessage:
        """The message with all values in place, these `vars` on top of the bound ones.

        A message of another role among the values opens a section of its own, and the result is then a
        `ComplexMessage`: text around it is the user's, blank text between sections is dropped, and neighbouring
        sections of one role are one message. `template_variable_missing` names every path that leads nowhere,
        `template_invalid` a value that has no place in a text.
        """
        values = {**self.vars, **_by_name(vars)} if vars else self.vars
        found = iter(self._found(values))
        sections = _Sections()
        for piece in self._pieces:
            if isinstance(piece, str):
                sections.say(piece)
                continue
            value = next(found)
            try:
                if type(value) in _PLAIN:
                    sections.say(str(value))
                else:
                    _put(sections, value, values)
            except TemplateError as error:
                if error.line is not None or error.names:
                    raise
                raise _invalid(self.text, piece.at, f"{piece.text}: {error}") from None
            except RecursionError:
                raise _invalid(self.text, piece.at, f"{piece.text}: contains itself") from None
        return sections.message(clean=self.clean)

    def _found(self, values: Mapping[str, Any]) -> list[Any]:
        found: list[Any] = []
        gaps: dict[str, str] = {}
        for path in self._paths:
            try:
                found.append(path.read(values))
            except LookupError as gap:
                gaps[path.text] = f"{path.text} ({gap})" if gap.args else path.text
        if gaps:
            message = f"no value for {', '.join(gaps.values())}"
            raise TemplateError(message, code="template_variable_missing", names=tuple(gaps))
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


@dataclasses.dataclass(frozen=True, slots=True)
class _Path:
    """Where a value is to stand: its name, the steps from there, and its place in the template's text."""

    text: str
    name: str
    steps: tuple[str | int, ...]
    at: int

    def read(self, values: Mapping[str, Any]) -> Any:
        """The value; `LookupError` says at which step there is none, if it is not the first."""
        if self.name not in values:
            raise LookupError
        value = values[self.name]
        for place, step in enumerate(self.steps):
            if not _has(value, step):
                before = self.name + "".join(map(_spelled, self.steps[:place]))
                raise LookupError(f"{before} is None" if value is None else f"{before} has no {_spelled(step)}")
            reach: Any = getitem if isinstance(value, (Mapping, list, tuple)) else getattr
            value = reach(value, step)
        return value


def _spelled(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"


_Piece: TypeAlias = str | _Path


def _read(text: str) -> tuple[tuple[_Piece, ...], tuple[_Path, ...]]:
    """The pieces of a template's text, and the paths among them."""
    pieces = tuple(_pieces(text))
    return pieces, tuple(piece for piece in pieces if not isinstance(piece, str))


_read_once = lru_cache(maxsize=256)(_read)
"""The same texts come again and again; long ones have documents in them, and are not kept."""


def _openings(text: str) -> Iterator[re.Match[str]]:
    """What opens something; a `{%` or `{#` that nothing closes is a text like any other."""
    last = {mark: text.rfind(closing) for mark, closing in _CLOSING.items()}
    for found in _OPENING.finditer(text):
        mark = found.group()[-2:]
        if mark == "{{" or last[mark] >= found.end():
            yield found


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    for found in _openings(text):
        if found.start() > at:
            yield text[at : found.start()]
        if found.group().startswith("\\"):
            yield found.group()[1:]
            at = found.end()
            continue
        if found.group() != "{{":
            raise _invalid(text, found.start(), f"{found.group()} … {_CLOSING[found.group()]} is not supported")
        end = text.find("}}", found.end())
        if end < 0:
            raise _invalid(text, found.start(), "'{{' is never closed")
        yield _path(text, found.start(), end)
        at = end + 2
    if at < len(text):
        yield text[at:]


def _path(text: str, start: int, end: int) -> _Path:
    found = _PATH.fullmatch(text, start + 2, end)
    if found is None:
        inside = text[start + 2 : end].strip()
        raise _invalid(text, start, f"{inside[:40]!r} is not a path: use names, .fields and [numbers]")
    name, *steps = _STEP.findall(found.group(1))
    read = tuple(int(step[1:-1]) if step.startswith("[") else step for step in steps)
    return _Path(found.group(1), name, read, start)


def _invalid(text: str, at: int, why: str) -> TemplateError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return TemplateError(f"line {line}, column {column}: {why}", line=line, column=column)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, (list, tuple)) and step < len(value)
    if isinstance(value, Mapping):
        return step in value
    if isinstance(value, Message):
        return step in ("text", "result")
    return step in _fields(value)


def _fields(value: Any) -> Mapping[str, Any]:
    """The declared fields of a dataclass or pydantic model, by name; none of anything else, a class included."""
    if isinstance(value, type):
        return {}
    if dataclasses.is_dataclass(value):
        return {field.name: field for field in dataclasses.fields(value)}
    fields = getattr(type(value), "model_fields", None)
    return fields if isinstance(fields, Mapping) else {}


def _by_name(vars: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values as they are; `invalid_argument` where they have no names."""
    if not isinstance(vars, Mapping):
        raise InvalidArgumentError(
            f"vars must be values by their names, not a {type(vars).__name__}", details={"option": "vars"}
        )
    return vars


class _Sections:
    """A message under way: messages of other roles, and between them what the user says."""

    def __init__(self) -> None:
        self._sections: list[Message | list[str | Part]] = [[]]

    def say(self, item: str | Part) -> None:
        """Add to what the user says."""
        last = self._sections[-1]
        if isinstance(last, Message):
            self._sections.append(last := [])
        last.append(item.text if isinstance(item, Text) else item)

    def splice(self, message: Message) -> None:
        """Add what a message says, in its role."""
        if isinstance(message, ComplexMessage):
            for each in message.messages:
                self.splice(each)
        elif isinstance(message, UserMessage):
            for part in message.parts:
                self.say(part)
        else:
            self._sections.append(message)

    def message(self, *, clean: bool) -> UserMessage | ComplexMessage:
        """All of it: one message if only the user speaks."""
        messages: list[Message] = []
        for said in self._sections:
            message = said if isinstance(said, Message) else UserMessage(*_joined(said, clean=clean))
            if len(self._sections) == 1 and isinstance(message, UserMessage):
                return message
            if message is not said and _is_blank(message):
                continue
            if messages and _speak_as_one(messages[-1], message):
                messages[-1] = messages[-1].replace(parts=messages[-1].parts + message.parts)
            else:
                messages.append(message)
        return ComplexMessage(*messages)


def _is_blank(message: Message) -> bool:
    return not any(not isinstance(part, Text) or part.text.strip() for part in message.parts)


def _speak_as_one(first: Message, second: Message) -> bool:
    return type(first) is type(second) and not isinstance(first, ToolMessage)


def _joined(items: list[str | Part], *, clean: bool) -> list[Part]:
    parts: list[Part] = []
    texts: list[str] = []
    for item in (*items, None):
        if isinstance(item, str):
            texts.append(item)
            continue
        text = "".join(texts)
        texts = []
        if clean:
            text = text if parts else text.lstrip()
            text = text if item is not None else text.rstrip()
        if text:
            parts.append(Text(text))
        if item is not None:
            parts.append(item)
    return parts


def _put(sections: _Sections, value: Any, values: Mapping[str, Any]) -> None:
    if isinstance(value, Template):
        sections.splice(value.render(values))
    elif isinstance(value, Message):
        sections.splice(value)
    elif isinstance(value, Part):
        sections.say(value)
    else:
        sections.say(_written(value))


def _written(value: Any) -> str:
    """A value as it stands in a text of its own."""
    while isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return value
    if isinstance(value, (Mapping, list, tuple, set, frozenset)) or _fields(value):
        return _literal(value)
    return _own_text(value, str(value))


def _literal(value: Any, levels: int = MAX_LEVELS) -> str:
    """A value as Python code has it, on one line."""
    if isinstance(value, (Message, Part)):
        raise TemplateError(f"a {type(value).__name__} can only stand by itself, not inside other data")
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if not levels:
        raise TemplateError(f"nested more than {MAX_LEVELS} levels deep")
    levels -= 1
    if isinstance(value, Mapping):
        members = [f"{_literal(key, levels)}: {_literal(member, levels)}" for key, member in value.items()]
        return f"{{{', '.join(members)}}}"
    shown = _shown_fields(value)
    if shown is not None:
        arguments = [f"{name}={_literal(getattr(value, name), levels)}" for name in shown]
        return f"{type(value).__name__}({', '.join(arguments)})"
    if isinstance(value, (set, frozenset)):
        # In an order of their own, so that a prompt is the same every time.
        return f"{{{', '.join(sorted(_literal(member, levels) for member in value))}}}" if value else "set()"
    if isinstance(value, (list, tuple)):
        members = [_literal(member, levels) for member in value]
        if isinstance(value, list):
            return f"[{', '.join(members)}]"
        return f"({', '.join(members)}{',' if len(members) == 1 else ''})"
    return " ".join(_own_text(value, repr(value)).splitlines())


def _shown_fields(value: Any) -> list[str] | None:
    """The fields that a constructor call of a dataclass, model or named tuple shows."""
    if isinstance(value, tuple):
        return list(value._fields) if hasattr(value, "_fields") else None
    fields = _fields(value)
    if not fields and (isinstance(value, type) or not dataclasses.is_dataclass(value)):
        return None
    return [name for name, field in fields.items() if field.repr]


def _own_text(value: Any, text: str) -> str:
    if isinstance(value, type) or (text.startswith("<") and text.endswith(">") and text == repr(value)):
        raise TemplateError(f"{'a class' if isinstance(value, type) else f'a {type(value).__name__}'} has no text")
    return text
