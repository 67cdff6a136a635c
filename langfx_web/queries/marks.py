"""Marks that stand where a value could: they are never in an answer."""

from __future__ import annotations

from enum import Enum


class Mark(Enum):
    """What was said instead of a value."""

    MISSING = "MISSING"
    RAISE = "RAISE"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return self.name


MISSING = Mark.MISSING
"""Not given: neither null nor unknown."""

RAISE = Mark.RAISE
"""No default: the error is raised."""
