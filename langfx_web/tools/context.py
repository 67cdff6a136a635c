"""What a tool's function may know of the call it answers, and whom it may ask."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from langfx_web.errors import GateUnsupportedError
from langfx_web.messages import ToolCall
from langfx_web.tools.observation import UNSEEN, Observation
from langfx_web.tools.values import Registry


class Asker(Protocol):
    """How a question gets to a person, and the answer back."""

    def __call__(self, reason: str, *, payload: Any, schema: Any, timeout: float | None) -> Awaitable[Any]:
        """Ask, and wait for an answer that fits the schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call, seen from inside the tool; a parameter annotated with this class is filled in, not asked of the model.

    `execution_id` is the same for every run of this call: hand it to a service as its idempotency key. `rerun` is True
    where an earlier run may have taken effect. `context` is the tool's own copy of the conversation's JSON context,
    `session` the scope of the run, for queries and actions, `meta` what the tool's author says of it. `asker` is how
    `ask` reaches a person. `observation` shows the agent's observer whom the tool asks by the app's own means, and
    which agents it runs.
    """

    call: ToolCall
    checksum: str
    execution_id: str
    turn_id: str
    session_id: str | None = None
    rerun: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)
    session: Any = field(default=None, repr=False)
    meta: Registry = field(default_factory=lambda: Registry(read_only=True))
    asker: Asker | None = field(default=None, repr=False, compare=False)
    observation: Observation = field(default=UNSEEN, repr=False, compare=False)

    async def ask(self, reason: str, *, payload: Any = None, schema: Any = bool, timeout: float | None = None) -> Any:
        """Ask a person, and wait for a value of the type `schema`, at most `timeout` seconds.

        `payload` is JSON that is shown with the question. `gate_declined` where they decline, `gate_timeout` where
        nobody answers in time, `gate_unsupported` where nobody can be asked.
        """
        if self.asker is None:
            raise GateUnsupportedError("there is nobody to ask: the run was not told how")
        return await self.asker(reason, payload=payload, schema=schema, timeout=timeout)
