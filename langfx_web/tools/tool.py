"""A tool: a function a model may call, with schemas and the promises its author makes about it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeGuard

from langfx_web.errors import InvalidValueError, SchemaMismatchError, ToolArgumentError, ToolOutputError
from langfx_web.json_text import dumps, plain
from langfx_web.messages import Modality, Text, ToolCall, ToolDeclaration
from langfx_web.schemas import DocumentSchema, Schema, settle
from langfx_web.tools.checksum import call_checksum
from langfx_web.tools.context import ToolContext

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
RESERVED_PREFIX = "artifact_"
MAX_TEXT = 64 * 1024
MAX_MEDIA = 8
MAX_MEDIA_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool wants the model to be told: a text, or texts and media in order, and whether it reports a failure."""

    content: str | Sequence[str | Modality]
    is_error: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.content, str) and not _are_parts(self.content):
            raise InvalidValueError("the content of a result must be a str, or a list of str and media")

    @property
    def parts(self) -> tuple[str | Modality, ...]:
        """The content in order."""
        return (self.content,) if isinstance(self.content, str) else tuple(self.content)


class Tool:
    """A function a model may call. Immutable; nothing leads from it to the function but running it.

    `idempotent` says that running it twice is safe; `writes` (default: not idempotent) that it has effects and runs
    alone; `trusted` that its output is the developer's own words; `timeout` is in seconds. `invalid_tool` names what is
    wrong with a declaration.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        input: Schema | Mapping[str, Any] | Callable[[], Schema],
        function: Callable[[dict[str, Any], ToolContext], Any | Awaitable[Any]],
        output: Schema | Mapping[str, Any] | Callable[[], Schema | None] | None = None,
        idempotent: bool | None = None,
        writes: bool | None = None,
        trusted: bool = False,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self._name = _checked_name(name)
        if not isinstance(description, str) or not description.strip() or len(description.encode()) > MAX_TEXT:
            raise InvalidValueError(f"tool {name!r} needs a description of at most 64 KiB", code="invalid_tool")
        if timeout is not None and not timeout > 0:
            raise InvalidValueError(f"tool {name!r}: timeout must be above 0", code="invalid_tool")
        self._description = description.strip()
        self._input = _as_schema(input)
        self._output = None if output is None else _as_schema(output)
        self._is_typed = not all(isinstance(given, (Mapping, DocumentSchema, type(None))) for given in (input, output))
        self._function = function
        self._idempotent = idempotent
        self._writes = writes
        self._trusted = trusted
        self._timeout = timeout
        self._meta = MappingProxyType(dict(meta or {}))

    @property
    def name(self) -> str:
        """What the model calls it by."""
        return self._name

    @property
    def description(self) -> str:
        """What the model is told it is for."""
        return self._description

    @property
    def idempotent(self) -> bool | None:
        """Whether it is safe to run twice; None where its author does not say."""
        return self._idempotent

    @property
    def writes(self) -> bool:
        """Whether it has effects, and so runs alone, after its record is stored."""
        return not self._idempotent if self._writes is None else self._writes

    @property
    def trusted(self) -> bool:
        """Whether its output is the developer's or user's own words."""
        return self._trusted

    @property
    def timeout(self) -> float | None:
        """Seconds after which a run is cancelled and reported to the model as failed."""
        return self._timeout

    @property
    def is_typed(self) -> bool:
        """Whether its schemas are made of Python types, which needs pydantic, and not JSON Schema documents."""
        return self._is_typed

    @property
    def meta(self) -> Mapping[str, Any]:
        """The author's own facts about it, read-only."""
        return self._meta

    def declaration(self) -> ToolDeclaration:
        """What a provider is told of it."""
        return ToolDeclaration(name=self.name, description=self.description, input_schema=self._input().json_schema())

    def describe(self) -> dict[str, Any]:
        """The same as plain JSON, with the output schema where there is one."""
        described = {"name": self.name, "description": self.description, "inputSchema": self._input().json_schema()}
        output = None if self._output is None else self._output()
        return described if output is None else {**described, "outputSchema": output.json_schema()}

    def prepare(self, call: ToolCall) -> PreparedCall:
        """The call with its arguments validated, not converted; `ToolArgumentError` with every problem."""
        if call.args is None:
            message = "The arguments are not a JSON object"
            problem = {"type": "json_invalid", "path": [], "message": message}
            raise ToolArgumentError(message, tool=self.name, details={"problems": [problem]})
        schema = self._input()
        try:
            arguments = schema.validate(settle(schema.json_schema(), call.args))
            written = schema.dump(arguments)
        except SchemaMismatchError as error:
            raise ToolArgumentError(str(error), tool=self.name, details=error.details) from None
        return PreparedCall(tool=self, call=call, arguments=arguments, input=written, checksum=call_checksum(call))

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Call the function and write its value for the model; `ToolOutputError` where it has no JSON form.

        Media, alone or in a list with texts, are shown to the model as they are.
        """
        value = self._function(arguments, context)
        if inspect.isawaitable(value):
            value = await value
        result = self._written(value)
        self._check_media([part for part in result.parts if isinstance(part, Modality)])
        return result

    def _written(self, value: Any) -> ToolResult:
        if isinstance(value, ToolResult):
            return value
        if isinstance(value, Text):
            return ToolResult(value.text)
        if isinstance(value, Modality):
            return ToolResult([value])
        if _are_parts(value) and any(isinstance(item, Modality) for item in value):
            return ToolResult(value)
        schema = None if self._output is None else self._output()
        try:
            value = plain(value) if schema is None else schema.dump(value)
            return ToolResult(value if isinstance(value, str) else dumps(value))
        except ValueError as error:
            message = f"the tool ran, but its result cannot be passed on: {error}"
            raise ToolOutputError(message, tool=self.name) from error

    def _check_media(self, media: Sequence[Modality]) -> None:
        size = sum(len(part.data or b"") for part in media)
        if len(media) > MAX_MEDIA or size > MAX_MEDIA_BYTES:
            raise ToolOutputError(
                f"the tool ran, but its {len(media)} media of {size} bytes are more than {MAX_MEDIA} of 8 MiB together",
                tool=self.name,
            )

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call that may run: its tool is known, its arguments are valid; `input` has them in their JSON form."""

    tool: Tool
    call: ToolCall
    arguments: dict[str, Any]
    input: dict[str, Any]
    checksum: str


def _are_parts(value: object) -> TypeGuard[Sequence[str | Modality]]:
    return isinstance(value, (list, tuple)) and all(isinstance(item, (str, Modality)) for item in value)


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidValueError(
            f"{name!r} is no tool name: use letters, digits, _ and -, up to 64", code="invalid_tool"
        )
    if name.startswith(RESERVED_PREFIX):
        raise InvalidValueError(f"tool {name!r}: the prefix {RESERVED_PREFIX!r} is reserved", code="invalid_tool")
    return name


def _as_schema(given: Any) -> Callable[[], Any]:
    if isinstance(given, Schema):
        return lambda: given
    if isinstance(given, Mapping):
        document = Schema.from_json_schema(given)
        return lambda: document
    if callable(given):
        deferred: Callable[[], Any] = given
        return deferred
    raise InvalidValueError(f"a tool's schema cannot be a {type(given).__name__}", code="invalid_tool")
