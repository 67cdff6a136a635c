"""How much work may cost: a bound on requests and tokens, and the account that is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from langfx_web.errors import BudgetExceededError, InvalidArgumentError
from langfx_web.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a session or an invocation may spend, over everything that runs in it; None is no bound.

    A request is counted before it is sent, retries and repairs too. Tokens are compared before each request with what
    has been reported, so the answer that reaches `max_total_tokens` is the last one. Over it is `budget_exceeded`.
    """

    max_requests: int | None = None
    max_total_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_requests", "max_total_tokens"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise InvalidArgumentError(
                    f"{name} must be an int of at least 0, not {value!r}", details={"option": name}
                )

    def opened(self, parent: Account | None) -> Account:
        """An account of what is spent under this budget, and with it of the parent's."""
        return Account(self, parent)


class Account:
    """What has been spent under a budget; all accounts above it are charged too, so a child can only shrink."""

    __slots__ = ("_budget", "_parent", "_requests", "_tokens")

    def __init__(self, budget: Budget, parent: Account | None) -> None:
        self._budget = budget
        self._parent = parent
        self._requests = 0
        self._tokens = 0

    def reserve(self) -> None:
        """Count a request that is about to be sent; `budget_exceeded` where it may not be."""
        account: Account | None = self
        while account is not None:
            account._check()
            account = account._parent
        account = self
        while account is not None:
            account._requests += 1
            account = account._parent

    def spend(self, usage: Usage) -> None:
        """Count what a request turned out to cost."""
        tokens = usage.total_tokens
        if tokens is None:
            tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        account: Account | None = self
        while account is not None:
            account._tokens += tokens
            account = account._parent

    def left(self) -> Budget:
        """What may still be spent."""
        above = self._parent.left() if self._parent else Budget()
        return Budget(
            max_requests=_less(self._budget.max_requests, self._requests, above.max_requests),
            max_total_tokens=_less(self._budget.max_total_tokens, self._tokens, above.max_total_tokens),
        )

    def _check(self) -> None:
        budget = self._budget
        if budget.max_requests is not None and self._requests >= budget.max_requests:
            _refuse("max_requests", budget.max_requests, "requests")
        if budget.max_total_tokens is not None and self._tokens >= budget.max_total_tokens:
            _refuse("max_total_tokens", budget.max_total_tokens, "tokens")


def _refuse(limit: str, most: int, what: str) -> NoReturn:
    raise BudgetExceededError(f"the budget of {most} {what} is spent", limit=limit, details={"limit": limit})


def _less(most: int | None, spent: int, above: int | None) -> int | None:
    if most is None:
        return above
    left = max(0, most - spent)
    return left if above is None else min(left, above)
