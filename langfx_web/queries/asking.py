"""How a question is asked: how often it may be repaired, how long all of it may take, what the caller does first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from langfx_web.clock import SYSTEM_CLOCK
from langfx_web.deadline import Bounded, deadline_after
from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage
from langfx_web.queries.answering import Reading, Repairs, answered
from langfx_web.queries.inquiry import Inquiry


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The options of a query that shape no request; `invalid_argument` for those that cannot be.

    `timeout` is in seconds and bounds the whole query, repairs included.
    """

    autofix: int = 0
    autofix_lm: LanguageModel | None = None
    postprocess_response: Callable[[AIMessage], AIMessage] | None = None
    cache_seed: int | None = 0
    timeout: float | None = None

    def __post_init__(self) -> None:
        # Refused here, not at the first question.
        Repairs(autofix=self.autofix, lm=self.autofix_lm)
        deadline_after(self.timeout, SYSTEM_CLOCK)
        if self.postprocess_response is not None and not callable(self.postprocess_response):
            raise InvalidArgumentError(
                "postprocess_response must be a function of an AIMessage", details={"option": "postprocess_response"}
            )

    @staticmethod
    def split(options: Mapping[str, Any]) -> tuple[Asking, dict[str, Any]]:
        """These options out of those of a query, and the rest."""
        mine = {name: value for name, value in options.items() if name in _NAMES}
        return Asking(**mine), {name: value for name, value in options.items() if name not in _NAMES}

    async def ask(self, question: Inquiry) -> AIMessage:
        """The answer, with its value as `.result`."""
        clock = question.lm.clock
        with Bounded(deadline_after(self.timeout, clock), clock):
            return await answered(
                question.lm,
                question.message,
                {"cache_seed": self.cache_seed, **question.options},
                reading=Reading(
                    parse=question.read,
                    is_typed=question.schema is not None,
                    before=self.postprocess_response,
                ),
                repairs=Repairs(autofix=self.autofix, lm=self.autofix_lm, output_title=question.output_title),
            )


_NAMES = frozenset(item.name for item in fields(Asking))
