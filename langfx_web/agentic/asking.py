"""How the tool of one call asks a person, and passes on what is asked inside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langfx_web.agentic.gates import Gate
from langfx_web.agentic.recorder import PlannedCall
from langfx_web.agentic.run import Run
from langfx_web.schemas import Schema


class CallAsker:
    """What a tool asks with; each question is a gate `{execution id}:{n}`."""

    def __init__(self, run: Run, planned: PlannedCall) -> None:
        self._run = run
        self._planned = planned

    async def __call__(self, reason: str, *, payload: Any, schema: Any, timeout: float | None) -> Any:
        """Ask, and wait for an answer that fits the schema."""
        gate_id = self._run.next_gate(self._planned.execution_id)
        call_id = self._planned.call.id
        return await self._run.ask(gate_id, reason, payload=payload, schema=schema, timeout=timeout, call_id=call_id)

    async def wait(self, gate: Gate, wanted: Schema, timeout: float | None) -> Any:
        """Pass on a question of a run inside the call, as one of this call's: `{execution id}/{its own id}`."""
        passed = replace(gate, id=f"{self._planned.execution_id}/{gate.id}", call_id=self._planned.call.id)
        return await self._run.put(passed, wanted, timeout)
