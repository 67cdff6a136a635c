"""How much of an answer is read at all."""

from __future__ import annotations

from langfx_web.errors import InvalidArgumentError
from langfx_web.json_text import MAX_DEPTH


class ParseLimits:
    """Bounds of one answer: characters of its text, brackets and constructors inside each other, values in all.

    Over a bound: `output_limit`. `max_depth` is at most 200; a bound that is no positive int is `invalid_argument`.
    """

    __slots__ = ("max_chars", "max_depth", "max_nodes")

    def __init__(self, *, max_chars: int = 2_000_000, max_depth: int = 64, max_nodes: int = 200_000) -> None:
        for name, value, most in (
            ("max_chars", max_chars, None),
            ("max_depth", max_depth, MAX_DEPTH),
            ("max_nodes", max_nodes, None),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most and value > most):
                wanted = f"an int from 1 to {most}" if most else "an int of at least 1"
                raise InvalidArgumentError(f"{name} must be {wanted}, not {value!r}", details={"option": name})
        self.max_chars = max_chars
        self.max_depth = max_depth
        self.max_nodes = max_nodes

    @staticmethod
    def of(given: ParseLimits | None) -> ParseLimits:
        """The limits that an option gives; those of every answer where it gives none."""
        if given is not None and not isinstance(given, ParseLimits):
            raise InvalidArgumentError(
                f"parse_limits must be a ParseLimits, not a {type(given).__name__}", details={"option": "parse_limits"}
            )
        return given or DEFAULT_LIMITS

    def __repr__(self) -> str:
        return f"ParseLimits(max_chars={self.max_chars}, max_depth={self.max_depth}, max_nodes={self.max_nodes})"


DEFAULT_LIMITS = ParseLimits()
"""What an answer may be where nobody said otherwise."""
