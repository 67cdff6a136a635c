"""A unit of work that a session runs and traces."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, dataclass_transform

from langfx_web.deferred import later
from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import LanguageModel

if TYPE_CHECKING:
    from langfx_web.agentic import session as sessions
    from langfx_web.agentic.budget import Budget
    from langfx_web.agentic.session import Session
else:
    sessions = later("langfx_web.agentic.session")


class _ClassName:
    """The name of an action's class, unless the class has a field called so."""

    def __get__(self, action: object | None, kind: type) -> str:
        if action is None:
            raise AttributeError("name")  # else it would be taken for the default of such a field
        return kind.__name__


@dataclass_transform(frozen_default=True)
class Action(ABC):
    """Configuration plus one hook: annotate fields, write `call`, run it with `invoke`.

    Annotated fields make the constructor of a frozen dataclass; a class with an `__init__` of its own is left alone.
    Nothing of a run is kept on the object, so one may run many times at once.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" not in cls.__dict__:
            dataclasses.dataclass(frozen=True)(cls)

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The name of the class."""
    else:
        name = _ClassName()

    @property
    def action_name(self) -> str:
        """What the trace calls it."""
        return type(self).__name__

    @abstractmethod
    async def call(self, session: Session, **inputs: Any) -> Any:
        """The work itself; for authors, never called directly."""

    async def invoke(
        self,
        session: Session | None = None,
        *,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        metadata: Mapping[str, Any] | None = None,
        **inputs: Any,
    ) -> Any:
        """Run the action in a session, or in one made for this run.

        The nearest model wins; `timeout` (seconds) and `budget` can only be less than what the session has left.
        `metadata` is shown in the trace. `inputs` go to `call`.
        """
        if session is None:
            async with sessions.Session() as own:
                return await self._run(own, inputs, lm=lm, timeout=timeout, budget=budget, metadata=metadata)
        if not isinstance(session, sessions.Session):
            raise InvalidArgumentError(
                f"session must be a Session, not {type(session).__name__}", details={"option": "session"}
            )
        return await self._run(session, inputs, lm=lm, timeout=timeout, budget=budget, metadata=metadata)

    async def _run(self, session: Session, inputs: Mapping[str, Any], **bounds: Any) -> Any:
        async with session.branch("action", self.action_name, **bounds) as view:
            return await self.call(view, **inputs)
