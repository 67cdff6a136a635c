"""A unit of work that a session runs and traces."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, dataclass_transform

from langfx_web.agentic.session import Session
from langfx_web.llms import LanguageModel


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
        **inputs: Any,
    ) -> Any:
        """Run the action in a session, or in one made for this run.

        The nearest model wins; `timeout` (seconds) can only be earlier than the session's own deadline.
        """
        if session is not None:
            return await self._run(session, lm, timeout, inputs)
        async with Session(lm=lm, timeout=timeout) as own:
            return await self._run(own, None, None, inputs)

    async def _run(
        self, session: Session, lm: LanguageModel | None, timeout: float | None, inputs: Mapping[str, Any]
    ) -> Any:
        async with session.branch("action", self.action_name, lm=lm, timeout=timeout) as view:
            return await self.call(view, **inputs)
