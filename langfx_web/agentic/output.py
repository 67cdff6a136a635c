"""The value that a run ends with: how a model is asked for it, how its last answer is read, what it is told of a fault.

A model that knows schemas by itself, and has no tools in this run, is given the schema with each request. Any other is
told in the system message how to write the value, in the words of a typed query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import MappingError, SchemaError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, UserMessage
from langfx_web.protocols import PROTOCOLS
from langfx_web.protocols.limits import DEFAULT_LIMITS
from langfx_web.queries.answering import Reading, Repairs, can_repair
from langfx_web.queries.layout import LABELS, schema_section
from langfx_web.schemas import Schema, pydantic_arrived
from langfx_web.schemas.native import NativeSchema

TASK = """\
When you have finished, answer with the {output_title} and nothing else: one Python value of the {schema_title}.
Use only literals and calls of the classes listed with that type. The text is read as data and never run."""


class Output:
    """The type of an agent's answers; `str` is any text. `schema_unsupported` where a type cannot be one."""

    def __init__(self, wanted: Any) -> None:
        self.schema = wanted if isinstance(wanted, Schema) else Schema.of(wanted)

    def wanted(self, lm: LanguageModel, *, has_tools: bool) -> Wanted | None:
        """What a run with this model asks for; None where any text will do."""
        if self.schema.is_text:
            return None
        return Wanted(self.schema, self._native(lm) if not has_tools else None)

    def _native(self, lm: LanguageModel) -> NativeSchema | None:
        if not lm.capabilities.native_schema:
            return None
        try:
            return self.schema.native(strict=True)
        except SchemaError:
            return None


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that one run ends with; `native` where the model itself keeps to the schema."""

    schema: Schema
    native: NativeSchema | None

    @property
    def instructions(self) -> str | None:
        """What the system message says of it."""
        if self.native is not None:
            return None
        labels = LABELS["python"]
        task = TASK.format(output_title=labels.output_title, schema_title=labels.schema_title)
        return f"{task}\n\n{schema_section(self.schema, 'python')}"

    @property
    def document(self) -> Mapping[str, Any] | None:
        """What goes with each request."""
        return None if self.native is None else self.native.document

    async def read(self, answer: AIMessage) -> AIMessage:
        """The answer with its value as `.result`; `MappingError` where it has none."""
        await pydantic_arrived()
        return Reading(parse=self._parse).read(answer)

    def can_repair(self, error: MappingError) -> bool:
        """Whether telling the model can help."""
        return can_repair(error)

    def repair(self, error: MappingError) -> UserMessage:
        """What the model is told of its answer."""
        return Repairs(output_title=LABELS["json" if self.native else "python"].output_title).request(error)

    def _parse(self, answer: AIMessage) -> Any:
        if self.native is None:
            return PROTOCOLS["python"].read(answer.text, self.schema, limits=DEFAULT_LIMITS)
        tree = PROTOCOLS["json"].tree(answer.text, Schema.of(dict[str, Any]), limits=DEFAULT_LIMITS)
        return self.schema.build(self.native.decode(tree), protocol="json")
