"""What a streamed query shows while its answer is written, and how it ends; `type` follows from the class name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.errors import MappingError
from langfx_web.events.turn import TextDelta, ThoughtDelta
from langfx_web.json_text import Path
from langfx_web.messages import AIMessage
from langfx_web.usage import Usage


class _Partial:
    """What the events of a value share: compared by class and fields. Plain classes, since thousands are made."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return [getattr(self, name) for name in self.__slots__] == [getattr(other, name) for name in self.__slots__]

    __hash__ = None  # type: ignore[assignment]  # values inside may be mappings

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


class PartialObject(_Partial):
    """An object as a model wrote it, unvalidated: nothing of its class was run. `fields` is read-only."""

    __slots__ = ("class_name", "fields")

    def __init__(self, class_name: str, fields: Mapping[str, Any]) -> None:
        self.class_name = class_name
        self.fields = fields


class ObjectStart(_Partial):
    """A container opens at `path`; `kind` is object, dict, list, tuple or set, `class_name` that of an object."""

    __slots__ = ("class_name", "kind", "path")
    type: ClassVar[Literal["object_start"]] = "object_start"

    def __init__(self, path: Path, kind: str, class_name: str | None = None) -> None:
        self.path = path
        self.kind = kind
        self.class_name = class_name


class FieldStart(_Partial):
    """A member begins; `path` has its names, keys and indices, and is `()` for an answer that is no container."""

    __slots__ = ("path",)
    type: ClassVar[Literal["field_start"]] = "field_start"

    def __init__(self, path: Path) -> None:
        self.path = path


class StringFieldDelta(_Partial):
    """A piece of a member's text, decoded; the pieces of a member joined are its value."""

    __slots__ = ("delta", "path")
    type: ClassVar[Literal["string_field_delta"]] = "string_field_delta"

    def __init__(self, path: Path, delta: str) -> None:
        self.path = path
        self.delta = delta


class FieldEnd(_Partial):
    """A member is complete; `value` is immutable and not validated: it authorises nothing."""

    __slots__ = ("path", "value")
    type: ClassVar[Literal["field_end"]] = "field_end"

    def __init__(self, path: Path, value: Any) -> None:
        self.path = path
        self.value = value


class ObjectEnd(_Partial):
    """The container at `path` is complete."""

    __slots__ = ("path",)
    type: ClassVar[Literal["object_end"]] = "object_end"

    def __init__(self, path: Path) -> None:
        self.path = path


ValueEvent: TypeAlias = ObjectStart | FieldStart | StringFieldDelta | FieldEnd | ObjectEnd
"""How a typed answer arrives, before anything of it is validated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationComplete:
    """The answer is there and valid: `value` is of the wanted type, and the only thing of a stream that is.

    `message` is the whole answer with the value as its `result`.
    """

    type: ClassVar[Literal["generation_complete"]] = "generation_complete"
    value: Any
    message: AIMessage
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsingFailed:
    """The answer is there, and is no value of the wanted type; `error` is the `MappingError` that a call raises."""

    type: ClassVar[Literal["parsing_failed"]] = "parsing_failed"
    error: MappingError
    message: AIMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationFailed:
    """There is no whole answer: the provider, the way to it, a limit or the deadline ended it."""

    type: ClassVar[Literal["generation_failed"]] = "generation_failed"
    error: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationCancelled:
    """The query was cancelled, by hand or with its session, while its reader goes on."""

    type: ClassVar[Literal["generation_cancelled"]] = "generation_cancelled"
    reason: str


TerminalEvent: TypeAlias = GenerationComplete | ParsingFailed | GenerationFailed | GenerationCancelled
"""How a streamed query ends: exactly one of these, last."""

QueryEvent: TypeAlias = TextDelta | ThoughtDelta | ValueEvent | TerminalEvent
"""What a streamed query shows, in order."""
