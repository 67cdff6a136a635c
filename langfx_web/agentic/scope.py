"""Where work runs: the model, the deadline and the budget that count here, and the place in the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from langfx_web.agentic.branch import Branch
from langfx_web.agentic.counted import CountedModel, Meter
from langfx_web.agentic.shared import Shared
from langfx_web.agentic.trace import Trace
from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.deadline import Bounded, deadline_after
from langfx_web.deferred import later
from langfx_web.errors import InvalidArgumentError, SessionClosedError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, Message

if TYPE_CHECKING:
    from langfx_web.agentic import budget as budgets
    from langfx_web.agentic.budget import Account, Budget
    from langfx_web.events.trace import Kind
else:
    budgets = later("langfx_web.agentic.budget")


class Scope:
    """A scope of work, and each view of it that an invocation gets: what they are, apart from what they can do.

    `lm` and `deadline` (of the monotonic clock, None without one) are those that count for this view.
    """

    def __init__(
        self,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
        max_nodes: int = 10_000,
        max_logs: int = 1_000,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        _check_lm(lm)
        _check_members(metadata)
        trace = Trace(clock.now(), max_nodes=_at_least(1, "max_nodes", max_nodes), metadata=metadata)
        self._shared = Shared(trace, clock, max_logs=_at_least(0, "max_logs", max_logs))
        self._node = trace.root
        self._account = None if budget is None else _opened(budget, None)
        self._guard: asyncio.Task[Any] | None = None
        self.lm = lm
        self.deadline = deadline_after(timeout, clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    def remaining(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - self._shared.clock.monotonic()

    @property
    def budget(self) -> Budget | None:
        """What may still be spent here; None without a bound."""
        return None if self._account is None else self._account.left()

    def cancel(self, reason: str = "") -> None:
        """End everything that runs in the session; it ends with `SessionCancelledError` there."""
        self._shared.cancel(reason or "the session was cancelled")

    async def dispose(self) -> None:
        """End running work, wait for it, take no more, and let go of observers. Idempotent; the model stays usable."""
        shared = self._shared
        running = shared.tasks - {asyncio.current_task()}
        self.cancel(shared.closed_by or "the session was disposed of")
        if running:
            await asyncio.wait(running)
        shared.end()

    # For those who run work in a session: actions, and the loop.

    def branch(
        self,
        kind: Kind,
        name: str,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
        letter: str | None = None,
    ) -> Branch[Self]:
        """`async with` this for one piece of work: its view has a trace node, a model and bounds of its own.

        `letter` stands in the node's id instead of the first one of its kind.
        """
        return Branch(self._shared, partial(self._begin, kind, name, lm, timeout, budget, metadata, letter))

    def counted(self, lm: LanguageModel | None = None, *, keeps_texts: bool = True) -> LanguageModel:
        """A model, or the view's own, whose requests are paid from the budget and counted in this view's node.

        With `keeps_texts` the node gets what is asked and answered; of several answers the newest, and those before
        count as repairs. `no_model` where there is none.
        """
        model = lm or self.lm
        if model is None:
            raise InvalidArgumentError("no model was given: pass lm=…", code="no_model", details={"option": "lm"})
        _check_lm(model)
        return CountedModel(model, Meter(self._node, self._account, keeps_texts=keeps_texts))

    def record(
        self,
        *,
        request: Sequence[Message] | None = None,
        response: AIMessage | None = None,
        result: Any = None,
        repairs: int | None = None,
    ) -> None:
        """Keep in this view's node what was asked, answered and made of it; what is None stays as it was.

        Media are named in place of their bytes.
        """
        node = self._node
        if request is not None:
            node.asked(request)
        if response is not None:
            node.answered(response)
        if result is not None:
            node.result = result
        if repairs is not None:
            node.repairs = repairs

    def _begin(
        self,
        kind: Kind,
        name: str,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
        letter: str | None = None,
    ) -> tuple[Self, Bounded | None]:
        """A view that has begun, and what bounds its block, where that is not bounded already."""
        shared = self._shared
        if shared.closed_by or self._node.ended_at:
            raise SessionClosedError(shared.closed_by or "this view's invocation has ended")
        if lm is not self.lm:
            _check_lm(lm)
        _check_members(metadata)
        deadline = deadline_after(timeout, shared.clock, parent=self.deadline)
        view = object.__new__(type(self))
        view._shared = shared
        view._account = self._account if budget is None else _opened(budget, self._account)
        view._node = shared.open(self._node, kind, name, metadata, letter)
        view.lm = self.lm if lm is None else lm
        view.deadline = deadline
        view._guard = None
        if deadline is None:
            return view, None
        view._guard = asyncio.current_task()
        is_held = deadline == self.deadline and self._guard is view._guard
        return view, None if is_held and deadline > shared.clock.monotonic() else Bounded(deadline, shared.clock)


def _opened(budget: Budget, parent: Account | None) -> Account:
    if not isinstance(budget, budgets.Budget):
        raise _wrong("budget", "a Budget", budget)
    return budget.opened(parent)


def _check_lm(lm: LanguageModel | None) -> None:
    if lm is not None and not isinstance(lm, LanguageModel):
        raise _wrong("lm", "a LanguageModel", lm)


def _check_members(metadata: Mapping[str, Any] | None) -> None:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise _wrong("metadata", "an object by names", metadata)


def _wrong(option: str, wanted: str, given: object) -> InvalidArgumentError:
    return InvalidArgumentError(f"{option} must be {wanted}, not {type(given).__name__}", details={"option": option})


def _at_least(least: int, option: str, value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidArgumentError(
            f"{option} must be an int of at least {least}, not {value!r}", details={"option": option}
        )
    return value
