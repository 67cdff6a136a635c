"""`MappingExample`: an input, and the value that a model should have made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import InvalidArgumentError, InvalidValueError, SchemaMismatchError
from langfx_web.queries.marks import MISSING
from langfx_web.schemas import Schema


@dataclass(frozen=True, slots=True, init=False)
class MappingExample:
    """A worked example. A str input is literal text; a `Template` is rendered with the variables of the call.

    `output` is a value of the schema, an instance or plain data, and may be None. `schema` is that of the mapping
    unless it is given here. `metadata` is for the application and never sent.
    """

    input: Any
    output: Any
    schema: Schema | None
    context: Any
    metadata: Mapping[str, Any] | None

    def __init__(
        self,
        input: Any,
        output: Any = MISSING,
        *,
        schema: Any = None,
        context: Any = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        object.__setattr__(self, "input", input)
        object.__setattr__(self, "output", output)
        object.__setattr__(self, "schema", None if schema is None else Schema.of(schema))
        object.__setattr__(self, "context", context)
        object.__setattr__(self, "metadata", metadata)

    @property
    def has_output(self) -> bool:
        """Whether an output was given, be it None."""
        return self.output is not MISSING

    def replace(self, **changes: Any) -> MappingExample:
        """A copy in which the named fields are changed."""
        fields = {name: getattr(self, name) for name in ("input", "output", "schema", "context", "metadata")}
        return MappingExample(**(fields | changes))


def checked(examples: Iterable[MappingExample], schema: Schema) -> list[MappingExample]:
    """The examples with their schemas and typed outputs; `invalid_example` names the index of one that is wrong."""
    if not isinstance(examples, Iterable):
        raise InvalidArgumentError(
            f"examples must be a list of MappingExample, not a {type(examples).__name__}",
            details={"option": "examples"},
        )
    return [_checked(example, index, schema) for index, example in enumerate(examples)]


def _checked(example: MappingExample, index: int, schema: Schema) -> MappingExample:
    if not isinstance(example, MappingExample):
        raise _invalid(index, f"it is a {type(example).__name__}, not a MappingExample")
    if not example.has_output:
        raise _invalid(index, "it has no output")
    wanted = example.schema or schema
    try:
        output = wanted.validate(example.output)
    except SchemaMismatchError as error:
        raise _invalid(index, f"its output does not fit: {error.message}") from error
    return example.replace(output=output, schema=wanted)


def _invalid(index: int, why: str) -> InvalidValueError:
    return InvalidValueError(f"example {index}: {why}", code="invalid_example", details={"index": index})
