"""Our requests as the providers' own packages see them."""

from __future__ import annotations

import json
import os
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.llms.test_golden_requests import CONVERSATIONS, GOLDEN, WIRES

READER = Path(__file__).with_name("sdk_types.py")
ELSEWHERE = {"anthropic": "temperature", "openai_chat": "reasoning_details"}
"""What the types lack and some servers take all the same: older models of Anthropic's, and OpenRouter."""


def read(bodies: dict[str, list[Any]]) -> dict[str, list[list[str]]]:
    """What the types refuse of each body; skipped where they are not, which `build.py test --long` never allows."""
    python = os.environ.get("LANGFX_SDKS")
    if python is None:
        pytest.skip("`build.py test host --long` makes the environment with the providers' packages")
    done = subprocess.run([python, READER], input=json.dumps(bodies), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    refused: dict[str, list[list[str]]] = json.loads(done.stdout)
    return refused


@pytest.mark.long
def test_the_types_of_the_providers_take_what_we_send() -> None:
    """No field of ours, at any depth, is unknown to them or of another kind; and one that is would be found."""
    golden = json.loads(GOLDEN.read_text("utf-8"))
    bodies = {}
    for wire in WIRES:
        sent = [without(ELSEWHERE.get(wire), golden[name][wire]) for name in CONVERSATIONS]
        bodies[wire] = [body for body in sent if not isinstance(body, str)]
        bodies[wire].append(spoiled(wire, bodies[wire][0]))
    for wire, places in read(bodies).items():
        assert [found for found in places[:-1] if found] == [], wire
        assert any("nobody_knows" in place for place in places[-1]), wire
        assert len(places) > 9


def without(name: str | None, value: Any) -> Any:
    """A JSON value in which no object has a field of that name."""
    if isinstance(value, dict):
        return {key: without(name, inner) for key, inner in value.items() if key != name}
    return [without(name, inner) for inner in value] if isinstance(value, list) else value


def spoiled(wire: str, body: dict[str, Any]) -> dict[str, Any]:
    """A body with a field deep in it that no provider has."""
    spoiled = deepcopy(body)
    said = {"anthropic": "messages", "openai": "input", "openai_chat": "messages", "gemini": "contents"}[wire]
    spoiled[said][0]["nobody_knows"] = 1
    return spoiled
