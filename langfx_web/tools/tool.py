"""A tool: a function a model may call, with schemas and the promises its author makes about it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from json import JSONDecodeError
from typing import Any, TypeAlias

from langfx_web.errors import InvalidValueError, JSONTextError, SchemaError, SchemaMismatchError, ToolArgumentError
from langfx_web.json_text import loads
from langfx_web.messages import ToolCall, ToolDeclaration
from langfx_web.schemas import Schema, callables, first_paragraph
from langfx_web.tools.checksum import call_checksum
from langfx_web.tools.context import ToolContext
from langfx_web.tools.interface import Interface
from langfx_web.tools.options import (
    OnCollision,
    checked_description,
    checked_flag,
    checked_name,
    checked_on_collision,
    checked_timeout,
    invalid,
)
from langfx_web.tools.result import ToolResult, result_of
from langfx_web.tools.run import run
from langfx_web.tools.values import Registry

Approval: TypeAlias = bool | Callable[[Any], Any]
"""Whether a person is asked before a call: always, never, or as a function of the validated arguments says."""

MAX_PROBLEMS = 10
MAX_PROBLEM_TEXT = 2000


class Tool:
    """A function a model may call. Immutable; nothing leads from it to the function but running it.

    The function's parameters are the arguments, or it takes them as one value of the type, schema or JSON Schema
    document `input`, and may take the `ToolContext` as its second. `name`, `description`, input and `output` are taken
    from it where they are not given. `idempotent` says that running it twice is safe; `writes` (default: not
    idempotent) that it has effects and runs alone; `trusted` that its output is the developer's or user's own words;
    `approval` that a person is asked before a call; `ephemeral` that it is for one turn only; `on_collision` what
    becomes of it where its name is taken; `timeout` is in seconds. `invalid_tool` names what is wrong.
    """

    def __init__(
        self,
        *,
        function: Callable[..., Any],
        name: str | None = None,
        description: str | None = None,
        input: Any = None,
        output: Any = None,
        idempotent: bool | None = None,
        writes: bool | None = None,
        trusted: bool = False,
        approval: Approval = False,
        timeout: float | None = None,
        ephemeral: bool = False,
        on_collision: OnCollision = "error",
        meta: Mapping[str, Any] | Registry | None = None,
    ) -> None:
        self._name = name = checked_name(callables.name_of(function) if name is None else name)
        self._interface = Interface(function, name, input=input, output=output)
        told = first_paragraph(callables.docstring(function)) if description is None else description
        self._description = checked_description(told, name)
        checked_flag("idempotent", idempotent, name, or_none=True)
        checked_flag("writes", writes, name, or_none=True)
        checked_flag("trusted", trusted, name)
        checked_flag("ephemeral", ephemeral, name)
        if not callable(approval):
            checked_flag("approval", approval, name)
        checked_timeout(timeout, name)
        checked_on_collision(on_collision, name)
        self._idempotent = idempotent
        self._writes = writes
        self._trusted = trusted
        self._approval = approval
        self._timeout = timeout
        self._ephemeral = ephemeral
        self._on_collision: OnCollision = on_collision
        self._meta = _checked_meta(meta, name)

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
    def approval(self) -> Approval:
        """Whether a person is asked before a call, or a function of the validated arguments that says so."""
        return self._approval

    @property
    def timeout(self) -> float | None:
        """Seconds after which a run is cancelled and reported to the model as failed."""
        return self._timeout

    @property
    def ephemeral(self) -> bool:
        """Whether it is for one turn only."""
        return self._ephemeral

    @property
    def on_collision(self) -> OnCollision:
        """What becomes of it where its name is taken."""
        return self._on_collision

    @property
    def meta(self) -> Registry:
        """The author's own facts about it, read-only."""
        return self._meta

    @property
    def is_typed(self) -> bool:
        """Whether its schemas are made of Python types, which needs pydantic, and not JSON Schema documents."""
        return self._interface.is_typed

    def declaration(self) -> ToolDeclaration:
        """What a provider is told of it; `invalid_tool` where that cannot be said."""
        return self._declaration

    def describe(self) -> dict[str, Any]:
        """The same as plain JSON, with the output schema where there is one."""
        described = {"name": self.name, "description": self.description, "inputSchema": self._declaration.input_schema}
        _, output = self._schemas
        return copy.deepcopy(described if output is None else {**described, "outputSchema": output.json_schema()})

    def prepare(self, args: ToolCall | Mapping[str, Any] | None = None) -> PreparedCall:
        """A call with its arguments validated, not converted; `ToolArgumentError` with every problem.

        `args` is a call as a model made it, or just arguments.
        """
        call = args if isinstance(args, ToolCall) else self._call_of(args)
        if call.args is None:
            raise self._refusal([_unreadable(call.raw_args or "")])
        schema, _ = self._schemas
        try:
            value, plain = schema.read_arguments(call.args)
        except SchemaMismatchError as error:
            raise self._refusal(error.problems) from None
        except Exception as error:  # an author's validator may raise anything
            problem = {
                "type": "value_error",
                "path": [],
                "message": f"A {type(error).__name__} while they were checked",
            }
            raise self._refusal([problem]) from error
        return PreparedCall(tool=self, call=call, arguments=value, input=plain, checksum=call_checksum(call))

    async def run(self, args: ToolCall | Mapping[str, Any] | None = None, context: ToolContext | None = None) -> Any:
        """Prepare a call and run it: `ToolArgumentError`, or what `PreparedCall.run` gives and raises.

        The context of another call, such as that of a tool which uses this one, is made this call's.
        """
        prepared = self.prepare(args)
        if context is not None:
            context = replace(context, call=prepared.call, checksum=prepared.checksum, meta=self._meta)
        return await prepared.run(context)

    @cached_property
    def _schemas(self) -> tuple[Schema, Schema | None]:
        """Those of arguments and value, of which every part is known to be fine."""
        part = "its input"
        try:
            _ = self._interface.document
            part = "its output"
            output = self._interface.output
            if output is not None:
                output.json_schema()
        except SchemaError as error:
            raise invalid(self._name, f"{part}: {error}") from error
        return self._interface.input, output

    @cached_property
    def _declaration(self) -> ToolDeclaration:
        _ = self._schemas
        return ToolDeclaration(name=self._name, description=self._description, input_schema=self._interface.document)

    def _call_of(self, args: Any) -> ToolCall:
        if args is not None and not isinstance(args, Mapping):
            raise self._refusal([_NO_OBJECT])
        return ToolCall(f"call_{os.urandom(8).hex()}", self._name, args or {})

    def _refusal(self, problems: Sequence[Mapping[str, Any]]) -> ToolArgumentError:
        lines = [": ".join(filter(None, [".".join(map(str, item["path"])), item["message"]])) for item in problems]
        if len(lines) > MAX_PROBLEMS:
            lines[MAX_PROBLEMS - 1 :] = [f"and {len(lines) - MAX_PROBLEMS + 1} more"]
        text = "\n".join(lines)[:MAX_PROBLEM_TEXT]
        return ToolArgumentError(text, tool=self._name, details={"problems": [dict(item) for item in problems]})

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call that may run: its tool is known, its arguments are valid; `input` has them in their JSON form."""

    tool: Tool
    call: ToolCall
    arguments: Any
    input: Any
    checksum: str

    async def run(self, context: ToolContext | None = None) -> Any:
        """What the tool's function gives, once it fits the output schema.

        `ToolExecutionError` from what it raised, `ToolTimeoutError`, `ToolOutputError`; only the cancellation of the
        calling task comes out as `CancelledError`. Without a `context` it gets one of a call outside of any turn.
        """
        value = await self._value(context or self._alone())
        self._result(value)
        return value

    async def told(self, context: ToolContext) -> ToolResult:
        """The same as the model is told of it."""
        return self._result(await self._value(context))

    async def _value(self, context: ToolContext) -> Any:
        function = partial(self.tool._interface.call, self.arguments, context)
        return await run(function, tool=self.tool.name, timeout=self.tool.timeout)

    def _result(self, value: Any) -> ToolResult:
        return result_of(value, self.tool._schemas[1], tool=self.tool.name)

    def _alone(self) -> ToolContext:
        id_ = os.urandom(8).hex()
        return ToolContext(
            call=self.call,
            checksum=self.checksum,
            execution_id=f"exe_{id_}",
            turn_id=f"msg_{id_}",
            meta=self.tool.meta,
        )


def _checked_meta(meta: Any, name: str) -> Registry:
    try:
        return Registry(meta, read_only=True)
    except InvalidValueError as error:
        raise invalid(name, f"meta: {error}") from error


_NO_OBJECT = {"type": "dict_type", "path": [], "message": "The arguments are not a JSON object"}


def _unreadable(text: str) -> Mapping[str, Any]:
    """What is wrong with a text that gave no arguments, and where, without any of it."""
    try:
        loads(text)
    except JSONTextError as error:
        where = f": {error.__cause__}" if isinstance(error.__cause__, JSONDecodeError) else ""
        return {"type": "json_invalid", "path": [], "message": f"The arguments are not JSON{where}"}
    return _NO_OBJECT
