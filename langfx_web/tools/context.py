"""What a tool's function may know of the call it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langfx_web.messages import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call, seen from inside the tool; a parameter annotated with this class is filled in, not asked of the model.

    `execution_id` is the same for every run of this call: hand it to a service as its idempotency key. `rerun` is True
    where an earlier run may have taken effect. `context` is the tool's own copy of the conversation's JSON context.
    """

    call: ToolCall
    checksum: str
    execution_id: str
    turn_id: str
    session_id: str | None = None
    rerun: bool = False
    context: Mapping[str, Any] = field(default_factory=dict)
