"""UNKNOWN: what a model answers where it may say that it cannot know."""

from __future__ import annotations

from typing import Any, ClassVar


class Unknown:
    """The type of `UNKNOWN`, for annotations such as `int | Unknown`; it has one instance, which is false."""

    __slots__ = ()
    _only: ClassVar[Unknown | None] = None

    def __new__(cls) -> Unknown:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> dict[str, Any]:
        return {"type": "is-instance", "cls": cls}

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        return {"const": "UNKNOWN"}

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Unknown:
        return self

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
"""The model cannot know; neither missing nor null."""
