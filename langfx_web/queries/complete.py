"""`complete`: the rest of an object of which some fields are known."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from langfx_web.errors import InvalidArgumentError, MappingError, OutputMismatchError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, UserMessage
from langfx_web.protocols import ProtocolName
from langfx_web.protocols import protocol as protocol_of
from langfx_web.queries.langfunc import model_of
from langfx_web.queries.lfquery import LfQuery
from langfx_web.queries.marks import RAISE
from langfx_web.queries.partial import Partial, completed, marked, typed
from langfx_web.queries.written import as_input
from langfx_web.schemas import Schema, pydantic_arrived

TASK = """\
What you are given is an object under way: MISSING stands where it is your part to write.
Write the whole object, and keep everything that is given as it is."""


Value = TypeVar("Value")
Default = TypeVar("Default")


class _Completion(LfQuery):
    """Reads an answer with everything that was given in its place, whatever the model made of it."""

    def __init__(
        self,
        partial: Partial[Any],
        *,
        protocol: ProtocolName = "python",
        system_message: str | None = None,
        **options: Any,
    ) -> None:
        schema = Schema.of(partial.type)
        text = as_input(marked(partial, schema), schema, protocol_of(protocol))
        told = TASK if system_message is None else f"{TASK}\n\n{system_message}"
        super().__init__(UserMessage(text), schema, protocol=protocol, system_message=told, **options)
        self.partial = partial

    def parse_result(self, message: AIMessage) -> Any:
        tree = self.protocol.tree(message.text, self.schema, limits=self.parse_limits)
        return self.schema.build(completed(self.partial, tree, self.schema, self.protocol), protocol=self.protocol.name)


@overload
async def complete(partial: Partial[Value], *, default: Default, **options: Any) -> Value | Default: ...
@overload
async def complete(partial: Partial[Value], **options: Any) -> Value: ...
async def complete(
    partial: Partial[Any],
    *,
    lm: LanguageModel | None = None,
    default: Any = RAISE,
    cache_seed: int | None = 0,
    timeout: float | None = None,
    **options: Any,
) -> Any:
    """Ask a model for what a partial object lacks, and return the whole object; given fields always win.

    Nothing is asked where nothing is missing. Other options are those of a `Mapping`, and what is raised is that of a
    `query`.
    """
    if not isinstance(partial, Partial):
        raise InvalidArgumentError(
            f"what is to be completed is an lf.Partial, not a {type(partial).__name__}", details={"option": "partial"}
        )
    await pydantic_arrived()
    partial = typed(partial)
    completion = _Completion(partial, lm=model_of(lm), **options)
    if not partial.missing:
        return _whole(partial, completion.schema)
    try:
        return (await completion(cache_seed=cache_seed, timeout=timeout)).result
    except MappingError:
        if default is RAISE:
            raise
        return default


def _whole(partial: Partial[Any], schema: Schema) -> Any:
    try:
        return schema.build(completed(partial, None, schema, protocol_of("python")), protocol="python")
    except OutputMismatchError as error:
        raise InvalidArgumentError(f"the object does not fit: {error}", details={"option": "partial"}) from error
