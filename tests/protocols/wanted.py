"""A stand-in for a schema: a table of names, any root, and trees as values; and ways to feed a reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from langfx_web.events import StringFieldDelta, ValueEvent
from langfx_web.protocols import ParseLimits, protocol
from langfx_web.protocols.limits import DEFAULT_LIMITS

ANYTHING = frozenset({"object", "dict", "list", "tuple", "set", "scalar"})


class Names:
    """What is wanted: `classes` with their fields, `enums`, and what the root may be."""

    is_text = False
    python_type = ""

    def __init__(
        self,
        classes: dict[str, tuple[str, ...]] | None = None,
        enums: Iterable[str] = (),
        root_kinds: Iterable[str] = ANYTHING,
    ) -> None:
        self.classes = classes or {}
        self.enums = dict.fromkeys(enums)
        self.root_kinds = frozenset(root_kinds)

    def fields(self, name: str) -> tuple[str, ...]:
        return self.classes[name]

    def json_schema(self) -> dict[str, Any]:
        return {}

    def read_json(self, text: str, *, max_depth: int) -> None:
        return None

    def build(self, tree: Any, *, protocol: str) -> Any:
        return tree


NOTES = Names({"Note": ("text", "tags"), "Point": ("x", "y")}, ["Color"])


def pieces(text: str, size: int) -> Iterator[str]:
    """The text in pieces of that size."""
    return (text[start : start + size] for start in range(0, len(text), size))


def events(
    parts: Iterable[str], wanted: Any = NOTES, *, name: str = "python", limits: ParseLimits = DEFAULT_LIMITS
) -> list[ValueEvent]:
    """What a reader says of the parts, with the deltas of a string joined."""
    reader = protocol(name).reader(wanted, limits=limits)
    found: list[ValueEvent] = []
    for part in parts:
        found += reader.feed(part)
    return joined(found + reader.finish())


def joined(found: Iterable[ValueEvent]) -> list[ValueEvent]:
    """The events, deltas that follow each other made one."""
    result: list[ValueEvent] = []
    for event in found:
        last = result[-1] if result else None
        if isinstance(event, StringFieldDelta) and isinstance(last, StringFieldDelta) and last.path == event.path:
            result[-1] = StringFieldDelta(event.path, last.delta + event.delta)
        else:
            result.append(event)
    return result


def plain(event: ValueEvent) -> tuple[Any, ...]:
    """An event as a tuple that begins with its type."""
    names = ("path", "kind", "class_name", "delta", "value")
    return (event.type, *[getattr(event, name) for name in names if hasattr(event, name)])
