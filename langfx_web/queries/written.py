"""A value of the application written down for a model, by the rules of a protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Union

from langfx_web.errors import LangfxError, SchemaError
from langfx_web.protocols import Protocol
from langfx_web.schemas import Schema


def written(value: Any, protocol: Protocol) -> str:
    """The value as input: constructor calls and literals, or JSON; `schema_unsupported` where it has no such form."""
    classes = tuple(dict.fromkeys(_classes(value)))
    schema = Schema.of(Union[classes] if classes else Any)  # noqa: UP007  # made of values, not written
    try:
        return as_input(value, schema, protocol)
    except LangfxError:
        raise
    except (ValueError, TypeError) as error:
        raise SchemaError(f"a {type(value).__name__} cannot be written down for a model: {error}") from error


def as_input(value: Any, schema: Schema, protocol: Protocol) -> str:
    """A value of a schema as it is written in an example, but that it is no output."""
    return protocol.write(value, schema).replace("```python\noutput = ", "```python\n", 1)


def _classes(value: Any) -> Iterator[type]:
    """The classes of the objects in a value; those of their fields are found by their annotations."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _classes(key)
            yield from _classes(item)
    elif isinstance(value, (list, tuple, set, frozenset)) and not _has_fields(value):
        for item in value:
            yield from _classes(item)
    elif not isinstance(value, type) and (dataclasses.is_dataclass(value) or _has_fields(value)):
        yield type(value)


def _has_fields(value: Any) -> bool:
    return hasattr(type(value), "model_fields") or hasattr(value, "_fields")
