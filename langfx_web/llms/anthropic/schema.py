"""Which JSON Schema the structured output of Messages takes."""

from __future__ import annotations

from typing import Any

from langfx_web.llms.wire_schema import Dialect

_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"})


def _primitive(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


ANTHROPIC_DIALECT = Dialect(
    name="Anthropic Messages",
    keeps=frozenset({"type", "description", "enum", "const", "required", "minItems", "format"}),
    accepts={
        "enum": lambda values: isinstance(values, list) and all(map(_primitive, values)),
        "const": _primitive,
        "minItems": lambda count: count in (0, 1),
        "format": lambda name: name in _FORMATS,
    },
    recursive=False,
)
