"""Texts with `{{ paths }}` in them: names and steps into plain data, never expressions.

    {{ name }}   {{ order.items[0].title }}   \\{{ literal braces }}

A step reads a mapping key, a list or tuple index, or a declared field of a dataclass or pydantic model; no other
attribute, no method, nothing that starts with an underscore.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from langfx_web.errors import TemplateError
from langfx_web.messages import Message, Part, Text, Thought, ToolCall, UserMessage

_OPENING = re.compile(r"\\\{\{|\{\{|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_PATH = re.compile(r"\s*([A-Za-z]\w*(?:\.[A-Za-z]\w*|\[\d+\])*)\s*\Z", re.ASCII)
_STEP = re.compile(r"[A-Za-z]\w*|\[\d+\]", re.ASCII)


class Template:
    """A prompt's text with variables; `render` makes a `UserMessage` of it.

    `vars` are bound values; a subclass may set `template_str`. With `clean`, the text (never a value) is dedented and
    the result stripped. `template_invalid` gives line and column of what cannot be read, at construction.
    """

    template_str: str = ""

    def __init__(self, text: str | None = None, *, vars: Mapping[str, Any] | None = None, clean: bool = True) -> None:
        given = self.template_str if text is None else text
        self.text = inspect.cleandoc(given) if clean else given
        self.clean = clean
        self.vars = dict(vars or {})
        self._pieces = list(_pieces(self.text))

    @staticmethod
    def raw_str(text: str) -> str:
        """The text with its braces escaped, so that it renders as itself."""
        return text.replace("{{", "\\{{")

    @classmethod
    def from_raw_str(cls, text: str) -> Template:
        """A template that renders as exactly this text."""
        return cls(cls.raw_str(text), clean=False)

    @property
    def variables(self) -> list[str]:
        """The paths in the text, in order, each once."""
        return list(dict.fromkeys(piece.text for piece in self._pieces if piece.is_path))

    def render(self, vars: Mapping[str, Any] | None = None) -> UserMessage:
        """The message with all values in place; `template_variable_missing` names every variable that has none."""
        values = self.vars | dict(vars or {})
        missing = [path for path in self.variables if _STEP.findall(path)[0] not in values]
        if missing:
            raise TemplateError(
                f"no value for {', '.join(missing)}", code="template_variable_missing", details={"names": missing}
            )
        parts: list[Part] = []
        for piece in self._pieces:
            _append(parts, _read(values, piece.text) if piece.is_path else piece.text, values)
        return UserMessage(*(_stripped(parts) if self.clean else parts))


@dataclasses.dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    is_path: bool = False


def _pieces(text: str) -> Iterator[_Piece]:
    at = 0
    while match := _OPENING.search(text, at):
        if match.start() > at:
            yield _Piece(text[at : match.start()])
        if match.group() == "\\{{":
            yield _Piece("{{")
            at = match.end()
            continue
        if match.group() != "{{":
            raise _invalid(text, match.start(), f"{match.group()[:20]!r} is not supported: only {{{{ paths }}}} are")
        end = text.find("}}", match.end())
        if end < 0:
            raise _invalid(text, match.start(), "'{{' is never closed")
        path = _PATH.match(text[match.end() : end])
        if path is None:
            inside = text[match.end() : end].strip()
            raise _invalid(text, match.start(), f"{inside[:40]!r} is not a path: use names, .fields and [numbers]")
        yield _Piece(path.group(1), is_path=True)
        at = end + 2
    if at < len(text):
        yield _Piece(text[at:])


def _invalid(text: str, at: int, why: str) -> TemplateError:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return TemplateError(f"line {line}, column {column}: {why}", details={"line": line, "column": column})


def _read(values: Mapping[str, Any], path: str) -> Any:
    value: Any = values
    done: list[str] = []
    for step in _STEP.findall(path):
        try:
            value = _step(value, step)
        except (KeyError, IndexError, TypeError, AttributeError):
            at = ".".join(done).replace(".[", "[")
            raise TemplateError(
                f"{path}: {at} has no {step}", code="template_variable_missing", details={"names": [path]}
            ) from None
        done.append(step)
    return value


def _step(value: Any, step: str) -> Any:
    if step.startswith("["):
        if not isinstance(value, (list, tuple)):
            raise TypeError(step)
        return value[int(step[1:-1])]
    if isinstance(value, Mapping):
        return value[step]
    if isinstance(value, Message) and step in ("text", "result"):
        return getattr(value, step)
    if step not in _fields(value):
        raise AttributeError(step)
    return getattr(value, step)


def _fields(value: Any) -> set[str]:
    if dataclasses.is_dataclass(value):
        return {field.name for field in dataclasses.fields(value)}
    return set(getattr(type(value), "model_fields", ()))


def _append(parts: list[Part], value: Any, values: Mapping[str, Any]) -> None:
    if isinstance(value, Template):
        added: list[Part] = list(value.render(values).parts)
    elif isinstance(value, UserMessage):
        added = list(value.parts)
    elif isinstance(value, (Text, Thought, ToolCall)):
        added = [value]
    else:
        added = [Text(_written(value))]
    for part in added:
        if isinstance(part, Text) and parts and isinstance(parts[-1], Text):
            parts[-1] = Text(parts[-1].text + part.text)
        else:
            parts.append(part)


def _written(value: Any) -> str:
    if isinstance(value, Enum):
        return _written(value.value)
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float, list, dict, tuple, set)) or _fields(value):
        return repr(value)
    raise TemplateError(f"a {type(value).__name__} has no text to put into a prompt")


def _stripped(parts: list[Part]) -> list[Part]:
    stripped = list(parts)
    if stripped and isinstance(stripped[0], Text):
        stripped[0] = Text(stripped[0].text.lstrip())
    if stripped and isinstance(stripped[-1], Text):
        stripped[-1] = Text(stripped[-1].text.rstrip())
    return [part for part in stripped if not (isinstance(part, Text) and not part.text)]
