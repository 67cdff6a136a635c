"""What the request bodies of all wires have in common: options a wire lacks, tools, and the caller's own fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.errors import InvalidArgumentError, UnsupportedCapabilityError
from langfx_web.llms import kinds
from langfx_web.llms.sampling import SamplingOptions, merge
from langfx_web.messages import ToolDeclaration

_APPENDED = ("tools", "include")


def refuse_options(options: SamplingOptions, names: Iterable[str], wire: str) -> None:
    """`unsupported_capability` for the first of these options that is set."""
    for name in names:
        if getattr(options, name) is not None:
            raise UnsupportedCapabilityError(f"{name} is not an option of the {wire} wire", details={"option": name})


def body_of(fields: Mapping[str, Any], extras: Mapping[str, Any] | None, own: Iterable[str]) -> dict[str, Any]:
    """The fields that are not None, with `extras` merged in last; those in `own` cannot be replaced.

    Objects merge, `tools` and `include` are appended to, everything else replaces.
    """
    body = {name: value for name, value in fields.items() if value is not None}
    if not extras:
        return body
    for name in own:
        if name in extras:
            raise InvalidArgumentError(f"extras cannot replace {name!r}", details={"option": "extras"})
    appended = {
        name: [*body.get(name, []), *kinds.several(f"extras.{name}", extras[name])]
        for name in _APPENDED
        if name in extras
    }
    return merge(body, {**extras, **appended})


def parameters(tool: ToolDeclaration) -> dict[str, Any]:
    """The schema of a tool's arguments as it goes to a provider: as declared."""
    schema = {key: value for key, value in tool.input_schema.items() if key != "$schema"}
    return schema or {"type": "object", "properties": {}}
