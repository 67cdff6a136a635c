"""Which calls of a step run together and which wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def groups(items: Sequence[Item], *, alone: Callable[[Item], bool], most: int) -> Iterator[list[Item]]:
    """Neighbours that need not run alone together, up to `most`; any other by itself; the order is kept."""
    group: list[Item] = []
    for item in items:
        if group and (alone(item) or alone(group[0]) or len(group) == most):
            yield group
            group = []
        group.append(item)
    if group:
        yield group
