"""How a tool lets whoever traces the agent see what it does by its own means."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from langfx_web.observation import Observer

Value = TypeVar("Value")


class Observation:
    """A tool's side of its agent's observer; without an observer the same calls do the same work unseen."""

    __slots__ = ()

    async def wait(self, request: str, effect: Callable[[], Awaitable[Value] | Value]) -> Value:
        """What `effect` gives, a question that the application puts to a person; `request` says what is asked.

        The outcome is `effect`'s alone: its value, its error, its cancellation.
        """
        value = effect()
        return await value if inspect.isawaitable(value) else value

    def child(self) -> Observer | None:
        """The `observer` for an agent that is run inside the tool; None where nobody watches."""
        return None


UNSEEN = Observation()
"""That of a tool whose agent has no observer."""


def unseen(execution_id: str) -> Observation:
    """What the tool of a call gets where nobody watches."""
    return UNSEEN
