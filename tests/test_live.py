"""Questions for real providers, asked of scripted ones."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from langfx_web.live import CHECKS, check_all, main
from langfx_web.transport import MockResponse
from tests.llms.messages_wire import answered, end, ok, refused, start, text, thinking, tool

ROOT = Path(__file__).parents[1]


def said(*pieces: str) -> MockResponse:
    """An answer of text."""
    return ok(start() + text(0, *pieces) + end())


GOOD: list[Any] = [
    MockResponse(body=json.dumps({"data": [{"id": "claude-x"}]}).encode()),
    said("po", "ng"),
    said("1", "2"),
    ok(start() + thinking(0, "hm") + tool(1, "t", "add", '{"a":1234,"b":4321}') + end("tool_use")),
    said("It is 5,555."),
    said('{"name":"Paris","country":"France"}'),
    said("42"),
    said("Red"),
    refused(401, "authentication_error"),
]


async def test_a_provider_that_answers_well_is_good() -> None:
    """Every question has its line, and none failed; thoughts go back with the result of the tool."""
    lm, transport = answered(*GOOD)
    out = io.StringIO()
    assert await check_all(lm, list(CHECKS), out) == 0
    lines = out.getvalue().splitlines()
    assert [line.split()[:2] for line in lines] == [["good", f"{name}:"] for name in CHECKS]
    assert b'"signature":"SIG=="' in (transport.requests[4].body or b"")


async def test_what_fails_and_what_is_not_there_is_told_apart() -> None:
    """A wrong answer and an error are bad, a capability that the model lacks is none; no key is shown."""
    lm, _ = answered(
        said("what?"), refused(429, "rate_limit_error", "test-key-1234 is busy"), capabilities={"images": False}
    )
    out = io.StringIO()
    assert await check_all(lm, ["words", "structure", "picture"], out) == 2
    assert [line[:4] for line in out.getvalue().splitlines()] == ["BAD ", "BAD ", "none"]
    assert "rate_limit" in out.getvalue()
    assert "test-key-1234" not in out.getvalue()


def test_without_a_key_nothing_is_asked() -> None:
    """The variable that was looked for is named; a server that needs none can be asked without."""
    out = io.StringIO()
    assert main(["gemini", "gemini-x"], {}, out) == 2
    assert "GEMINI_API_KEY" in out.getvalue()
    local = ["openai_chat", "m", "--base-url", "http://127.0.0.1:9/v1", "--key", "", "--only", "words"]
    out = io.StringIO()
    assert main(local, {}, out) == 1
    assert "BAD   words: LMConnectionError" in out.getvalue()


def test_it_explains_itself() -> None:
    """As a program of its own."""
    command = [sys.executable, "-m", "langfx_web.live", "--help"]
    result = subprocess.run(command, cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0
    assert "anthropic" in result.stdout
