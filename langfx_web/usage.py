"""Token counts of model requests: unknown stays unknown, sums are marked where they are lower bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from langfx_web.json_text import camel

COUNTS = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "reasoning_tokens",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one or more requests cost, in tokens; a count that was not reported is None, never 0.

    `input_tokens` includes cached and written ones; `raw` is what the provider sent; `lower_bound` says that some part
    of the cost is not in the sum.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    num_requests: int = 1
    lower_bound: bool = False
    raw: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def uncached_input_tokens(self) -> int | None:
        """Input tokens that were neither read from nor written to the provider's cache."""
        if self.input_tokens is None:
            return None
        return max(0, self.input_tokens - (self.cached_input_tokens or 0) - (self.cache_write_input_tokens or 0))

    def __add__(self, other: Usage) -> Usage:
        """The sum; a count known on one side only makes the sum a lower bound."""
        counts: dict[str, Any] = {}
        partial = self.lower_bound or other.lower_bound
        for name in COUNTS:
            mine, theirs = getattr(self, name), getattr(other, name)
            counts[name] = mine if theirs is None else theirs if mine is None else mine + theirs
            partial = partial or (mine is None) != (theirs is None)
        return Usage(**counts, num_requests=self.num_requests + other.num_requests, lower_bound=partial)

    def as_lower_bound(self) -> Usage:
        """The same counts, marked as not the whole cost."""
        return replace(self, lower_bound=True)

    def to_plain(self) -> dict[str, Any]:
        """The counts in their camelCase form, `raw` left out."""
        return {camel(item.name): getattr(self, item.name) for item in fields(self) if item.name != "raw"}

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Usage:
        """Read the form of `to_plain`."""
        names = {camel(item.name): item.name for item in fields(Usage) if item.name != "raw"}
        return Usage(**{names[key]: value for key, value in plain.items()})


def total(usages: Iterable[Usage | None]) -> Usage | None:
    """The sum of several, None where nothing was reported; an unreported one makes the sum a lower bound."""
    known: Usage | None = None
    unknown = False
    for usage in usages:
        if usage is None:
            unknown = True
        else:
            known = usage if known is None else known + usage
    return known.as_lower_bound() if known is not None and unknown else known
