"""The two ways in which a model may be asked to write a value, and reading what it wrote.

Reading tries the language's own parser first and the tolerant reader second; most answers in JSON need no tree, since
the schema takes them at once. A stream shows what the tolerant reader sees, and ends with what `read` says of the whole
text, so that call and stream agree.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.errors import InvalidArgumentError, OutputLimitError, OutputValidationError
from langfx_web.events import ValueEvent
from langfx_web.protocols.answer import Finder, compiled, json_start
from langfx_web.protocols.json_reader import JSONReader
from langfx_web.protocols.json_tree import strict_tree
from langfx_web.protocols.limits import DEFAULT_LIMITS, ParseLimits
from langfx_web.protocols.python_extent import extent
from langfx_web.protocols.python_reader import PythonReader
from langfx_web.protocols.python_tree import Walk, parsed
from langfx_web.protocols.shape import Shape, Wanted
from langfx_web.protocols.tolerant import TolerantReader
from langfx_web.protocols.values import json_text, python_text
from langfx_web.schemas import Schema

ProtocolName: TypeAlias = Literal["python", "json"]

_BLANK = " \t\r\n\f"


class Protocol(ABC):
    """How a value is asked for and read."""

    name: ClassVar[ProtocolName]

    def read(self, text: str, schema: Wanted, *, limits: ParseLimits = DEFAULT_LIMITS) -> Any:
        """The value of the schema's type that an answer holds; the output errors where it holds none.

        A text schema takes the answer as it is.
        """
        if schema.is_text:
            return text
        return schema.build(self.tree(text, schema, limits=limits), protocol=self.name)

    def tree(self, text: str, schema: Wanted, *, limits: ParseLimits = DEFAULT_LIMITS) -> Any:
        """What the answer's value is made of, before anything is checked against the schema."""
        if len(text) > limits.max_chars:
            raise _too_long(limits)
        finder = self._finder(schema)
        value = finder.feed(text)
        value += finder.finish()
        try:
            return self._tree(value, finder.fence, schema, limits)
        except OutputValidationError as error:
            if error.offset is not None:
                error.locate(text, error.offset + finder.offset)
            raise

    def reader(self, schema: Wanted, *, limits: ParseLimits = DEFAULT_LIMITS) -> Reader:
        """A reader of one answer that arrives in pieces."""
        return Reader(self, schema, limits)

    @abstractmethod
    def describe(self, schema: Wanted) -> str:
        """What a model is told of the type."""

    @abstractmethod
    def write(self, value: Any, schema: Wanted) -> str:
        """A value of the schema as an answer has it, for an example; reading it gives an equal value."""

    @abstractmethod
    def plain(self, value: Any, schema: Wanted) -> Any:
        """The tree that reading a written value gives."""

    @abstractmethod
    def _finder(self, schema: Wanted) -> Finder:
        """What finds the value in an answer."""

    @abstractmethod
    def _tree(self, text: str, fence: str, schema: Wanted, limits: ParseLimits) -> Any:
        """The tree of the value that the text begins with."""

    @abstractmethod
    def _tolerant(self, fence: str, schema: Wanted, limits: ParseLimits, *, loud: bool) -> TolerantReader:
        """The tolerant reader, once the value's beginning is known."""

    def _read_tolerantly(self, text: str, fence: str, schema: Wanted, limits: ParseLimits) -> Any:
        reader = self._tolerant(fence, schema, limits, loud=False)
        reader.feed(text)
        reader.finish()
        if reader.error is not None:
            raise reader.error
        return reader.value


class PythonProtocol(Protocol):
    """Values as Python literals and constructor calls."""

    name = "python"

    def describe(self, schema: Wanted) -> str:
        return schema.python_type

    def write(self, value: Any, schema: Wanted) -> str:
        return python_text(value, schema)

    def plain(self, value: Any, schema: Wanted) -> Any:
        return schema.tree(value)

    def _finder(self, schema: Wanted) -> Finder:
        return Finder(_shape(schema).finder)

    def _tree(self, text: str, fence: str, schema: Wanted, limits: ParseLimits) -> Any:
        end = extent(text, fence=fence, limits=limits)
        if end is not None:
            code = text[:end].strip(_BLANK)
            module = parsed(code)
            if module is not None:
                return Walk(code, _shape(schema)).answer(module, is_fenced=bool(fence))
        return self._read_tolerantly(text, fence, schema, limits)

    def _tolerant(self, fence: str, schema: Wanted, limits: ParseLimits, *, loud: bool) -> TolerantReader:
        return PythonReader(_shape(schema), fence=fence, limits=limits, loud=loud)


class JSONProtocol(Protocol):
    """Values as JSON, without a wrapper."""

    name = "json"

    def read(self, text: str, schema: Wanted, *, limits: ParseLimits = DEFAULT_LIMITS) -> Any:
        """The value, at once where the schema can; one that it refuses is read by its tree, which tells why."""
        found = None if schema.is_text or len(text) > limits.max_chars else self._at_once(text, schema, limits)
        return found[0] if found is not None else super().read(text, schema, limits=limits)

    def _at_once(self, text: str, schema: Wanted, limits: ParseLimits) -> tuple[Any] | None:
        finder = self._finder(schema)
        value = finder.feed(text) + finder.finish()
        # After an object or array nothing is looked at, so that its last bracket is the text's last if all is well.
        value = value[: max(value.rfind("}"), value.rfind("]")) + 1]
        if "\0" in text or value.count(",") + value.count("[") + value.count("{") >= limits.max_nodes:
            return None
        return schema.read_json(value, max_depth=limits.max_depth)

    def describe(self, schema: Wanted) -> str:
        return json.dumps(schema.json_schema(), ensure_ascii=False)

    def write(self, value: Any, schema: Wanted) -> str:
        return json_text(value, schema)

    def plain(self, value: Any, schema: Wanted) -> Any:
        return schema.plain(schema.tree(value))

    def _finder(self, schema: Wanted) -> Finder:
        return Finder(_json_pattern(schema))

    def _tree(self, text: str, fence: str, schema: Wanted, limits: ParseLimits) -> Any:
        text = text.lstrip(_BLANK)
        found = strict_tree(text, limits=limits)
        return found[0] if found is not None else self._read_tolerantly(text, fence, schema, limits)

    def _tolerant(self, fence: str, schema: Wanted, limits: ParseLimits, *, loud: bool) -> TolerantReader:
        return JSONReader(fence=fence, limits=limits, loud=loud)


class Reader:
    """Reads one answer as it arrives: feed it text, then finish it; both return what has happened.

    Nothing is validated and nothing of the author's is run. After a syntax error it is silent: the outcome is what
    `Protocol.read` says of the whole text. `limit_error` is set once a limit is passed: the request is to be closed.
    """

    def __init__(self, protocol: Protocol, schema: Wanted, limits: ParseLimits) -> None:
        self.limit_error: OutputLimitError | None = None
        self._protocol = protocol
        self._schema = schema
        self._limits = limits
        self._finder = protocol._finder(schema)
        self._tolerant: TolerantReader | None = None
        self._chars = 0

    def feed(self, text: str) -> list[ValueEvent]:
        """The next piece of the answer."""
        self._chars += len(text)
        if self._chars > self._limits.max_chars:
            self.limit_error = self.limit_error or _too_long(self._limits)
            return []
        return self._read(self._finder.feed(text))

    def finish(self) -> list[ValueEvent]:
        """The answer is complete."""
        if self.limit_error is not None:
            return []
        events = self._read(self._finder.finish())
        if self._tolerant is None:
            return events
        self._tolerant.finish()
        return events + self._taken(self._tolerant)

    def _read(self, text: str) -> list[ValueEvent]:
        if not self._finder.found:
            return []
        if self._tolerant is None:
            fence = self._finder.fence
            self._tolerant = self._protocol._tolerant(fence, self._schema, self._limits, loud=True)
        self._tolerant.feed(text)
        return self._taken(self._tolerant)

    def _taken(self, tolerant: TolerantReader) -> list[ValueEvent]:
        if isinstance(tolerant.error, OutputLimitError):
            self.limit_error = tolerant.error
        events, tolerant.events = tolerant.events, []
        return events


PROTOCOLS: Mapping[str, Protocol] = {"python": PythonProtocol(), "json": JSONProtocol()}
"""Both of them, by name."""


def protocol(name: str) -> Protocol:
    """The protocol of that name; `invalid_argument` lists both for another one."""
    if name not in PROTOCOLS:
        names = " and ".join(map(repr, PROTOCOLS))
        raise InvalidArgumentError(f"protocol must be one of {names}, not {name!r}", details={"option": "protocol"})
    return PROTOCOLS[name]


def read_answer(
    text: str, schema: Any, *, protocol: ProtocolName = "python", parse_limits: ParseLimits | None = None
) -> Any:
    """The typed value in a text that a model wrote, read locally and never run; `schema` is a `Schema` or a type.

    `output_syntax`, `output_forbidden`, `output_name`, `output_mismatch` or `output_limit` where it holds none.
    """
    if not isinstance(text, str):
        raise InvalidArgumentError(f"an answer is a str, not a {type(text).__name__}", details={"option": "text"})
    return _named(protocol).read(text, Schema.of(schema), limits=ParseLimits.of(parse_limits))


_named = protocol


def _too_long(limits: ParseLimits) -> OutputLimitError:
    return OutputLimitError(f"the answer has more than {limits.max_chars} characters", limit="max_chars")


@lru_cache(maxsize=256)
def _shape(schema: Wanted) -> Shape:
    classes = {name: schema.fields(name) for name in schema.classes}
    return Shape(classes=classes, enums=frozenset(schema.enums), root_kinds=schema.root_kinds)


@lru_cache(maxsize=256)
def _json_pattern(schema: Wanted) -> Any:
    kinds = schema.root_kinds
    return compiled(json_start(objects=bool(kinds & {"object", "dict"}), arrays=bool(kinds & {"list", "tuple", "set"})))
