"""Values in plain words."""

from __future__ import annotations

from dataclasses import dataclass

import langfx_web as lf
from langfx_web.messages import SystemMessage, UserMessage
from langfx_web.queries.describe import TASK
from langfx_web.testing import StaticResponse


@dataclass
class Cup:
    size: int


async def test_a_value_is_described() -> None:
    """An instance as it is written, a text as it is; with what else the model should know."""
    lm = StaticResponse("A cup.")
    assert await lf.describe(Cup(3), lm=lm, context="Sizes are in inches.") == "A cup."
    assert lm.requests[0].messages == (
        SystemMessage(TASK),
        UserMessage("CONTEXT:\n  Sizes are in inches."),
        UserMessage("```python\nCup(\n  size=3\n)\n```"),
    )
    await lf.describe("{{x}}", lm=lm, system_message="In Dutch.", protocol="json")
    assert lm.requests[1].messages == (SystemMessage(f"{TASK}\n\nIn Dutch."), UserMessage("{{x}}"))
