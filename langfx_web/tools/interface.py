"""A function seen as a tool: how the arguments of a call get into it, and the schemas of both its ends."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, reduce
from operator import or_
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from langfx_web.deferred import later
from langfx_web.json_text import dumps
from langfx_web.messages import Modality
from langfx_web.schemas import DocumentSchema, Schema, Signature, callables
from langfx_web.tools.context import ToolContext
from langfx_web.tools.options import MAX_TEXT, invalid
from langfx_web.tools.result import ToolResult

if TYPE_CHECKING:
    from langfx_web.schemas import declared
else:
    declared = later("langfx_web.schemas.declared")


class Interface:
    """A function whose parameters are the arguments, or which takes the whole of an `input` and may take a context.

    `input` and `output` are types, schemas or JSON Schema documents; without them the annotations say what they are.
    Schemas of types are built when they are asked for. `invalid_tool` says what is wrong with one of the three.
    """

    def __init__(self, function: Any, name: str, *, input: Any = None, output: Any = None) -> None:
        if not callable(function) or isinstance(function, type):
            raise invalid(name, f"{function!r} is no function")
        if callables.is_generator(function):
            raise invalid(name, "a generator cannot be a tool")
        self._function = function
        self._name = name
        self._signature = Signature(function, name, without=ToolContext) if input is None else None
        self._takes_context = input is not None and callables.positional_count(function) > 1
        self._input = _document_or_type(input)
        self._output = _document_or_type(output)
        if input is not None and not _may_be_object(self._input):
            raise invalid(name, "its input is no object")
        if isinstance(self._input, DocumentSchema):
            _ = self.document

    def call(self, arguments: Any, context: ToolContext) -> Any:
        """What the function returns, an awaitable perhaps."""
        if self._signature is not None:
            return self._function(**arguments, **dict.fromkeys(self._signature.injected, context))
        return self._function(arguments, context) if self._takes_context else self._function(arguments)

    @property
    def is_typed(self) -> bool:
        """Whether a schema is made of Python types, which needs pydantic."""
        given = (self._input, self._returned)
        return not all(isinstance(item, DocumentSchema) or item is Any for item in given)

    @cached_property
    def input(self) -> Schema:
        """The schema of the arguments."""
        return Schema.of(self._input) if self._signature is None else self._signature.arguments

    @cached_property
    def output(self) -> Schema | None:
        """The schema of what it returns; None where any JSON value, or media, are fine."""
        return None if self._returned is Any else Schema.of(self._returned)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The JSON Schema of the arguments: an object of at most 64 KiB, whatever its root refers to in its place."""
        document = self.input.json_schema()
        name = str(document.get("$ref", "")).removeprefix("#/$defs/")
        if name and not isinstance(self.input, DocumentSchema):
            rest = {key: value for key, value in document.items() if key != "$ref"}
            document = document["$defs"][name] | rest
        if document.get("type") != "object":
            raise invalid(self._name, "its input is no object")
        if len(dumps(document).encode("utf-8", "replace")) > MAX_TEXT:
            raise invalid(self._name, "the schema of its input has more than 64 KiB")
        return document

    @cached_property
    def _returned(self) -> Any:
        if self._output is not None:
            return self._output
        try:
            return _with_json_form(callables.returned(self._function))
        except (NameError, TypeError, AttributeError) as error:
            raise invalid(self._name, f"its annotations cannot be read: {error}") from error


def _document_or_type(given: Any) -> Any:
    return Schema.from_json_schema(given) if isinstance(given, Mapping) else given


def _may_be_object(given: Any) -> bool:
    """Whether it may be an object, as far as that can be seen before anything is built of it."""
    if isinstance(given, Schema):
        return isinstance(given, DocumentSchema) or given.root_kinds <= {"object", "dict"}
    origin = get_origin(given) or given
    is_type = isinstance(origin, type)
    return is_type and (issubclass(origin, dict) or declared.is_class(origin) or declared.is_record(origin))


def _with_json_form(hint: Any) -> Any:
    """A return type without what the model is shown as it is: results and media; `Any` for the latter."""
    if hint is ToolResult or _has_media(hint):
        return Any
    if get_origin(hint) not in (Union, UnionType) or ToolResult not in get_args(hint):
        return hint
    return reduce(or_, [arm for arm in get_args(hint) if arm is not ToolResult])


def _has_media(hint: Any) -> bool:
    return (isinstance(hint, type) and issubclass(hint, Modality)) or any(map(_has_media, get_args(hint)))
