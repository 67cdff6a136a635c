"""Spans as OpenTelemetry's own packages read them, under the names that its conventions publish."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from langfx_web.observation import ObservedTurnStart
from langfx_web.otlp.genai import Spans
from langfx_web.otlp.span import Span, document
from tests.otlp.told import told

HERE = Path(__file__).parent
NAMES = json.loads((HERE / "conventions.json").read_text())
"""What the conventions have, as recorded from the version that is named in it."""

RESOURCE = {"service.name": "shop"}
REQUIRED = ("gen_ai.operation.name", "gen_ai.provider.name")


def spans() -> list[Span]:
    """All kinds of spans, with all that can be in them."""
    made = Spans()
    return [span for event in told(content=True) for span in made.take(event)]


SPANS = spans()


@pytest.fixture(scope="module")
def read() -> dict[str, Any]:
    """What the packages make of a request's body; skipped where they are not, which `build.py test` never allows."""
    python = os.environ.get("LANGFX_OTLP")
    if python is None:
        pytest.skip("`build.py test host` makes the environment with OpenTelemetry's packages")
    body = document(RESOURCE, "langfx_web", [span.encode() for span in SPANS])
    done = subprocess.run([python, HERE / "published.py"], input=body, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_every_name_is_a_published_one_or_ours() -> None:
    """No attribute has a name that the conventions lack or gave up, but for those under `langfx.`."""
    held = [span.attributes for span in SPANS] + [event.attributes for span in SPANS for event in span.events]
    names = {name for attributes in held for name in attributes}
    assert {name for name in names if not name.startswith("langfx.")} <= set(NAMES["attributes"])
    assert len(names & set(NAMES["attributes"])) > 20


def test_known_values_are_used_where_there_are_some() -> None:
    """Operations are those of the conventions, and so are the providers of our wires; names begin with the former."""
    for span in SPANS:
        assert span.attributes["gen_ai.operation.name"] in NAMES["operations"]
        assert span.name.startswith(f"{span.attributes['gen_ai.operation.name']} ")
    for provider in ("anthropic", "gemini", "openai", "openai_chat"):
        start, *_, end = told(content=False)
        assert isinstance(start, ObservedTurnStart)
        made = Spans()
        made.take(replace(start, provider=provider))
        (span,) = made.take(end)
        assert span.attributes["gen_ai.provider.name"] in NAMES["providers"]


def test_requests_and_agents_have_what_is_required() -> None:
    """An operation and a provider; a failure says of which kind it is."""
    for span in SPANS:
        if not span.name.startswith("execute_tool "):
            assert all(name in span.attributes for name in REQUIRED)
        assert span.is_error == ("error.type" in span.attributes)


def test_the_names_are_those_of_the_pinned_package(read: dict[str, Any]) -> None:
    """What is recorded here is what the package has."""
    assert read["conventions"] == NAMES


def test_their_messages_hold_what_ours_say(read: dict[str, Any]) -> None:
    """Ids, times, kinds, states, attributes and events come out as they went in."""
    assert (read["resource"], read["scope"]) == (RESOURCE, "langfx_web")
    assert [
        (span["trace"], span["id"], span["parent"], span["name"], span["kind"], span["status"])
        for span in read["spans"]
    ] == [
        (
            span.trace_id,
            span.span_id,
            span.parent_id or "",
            span.name,
            {1: "SPAN_KIND_INTERNAL", 3: "SPAN_KIND_CLIENT"}[span.kind],
            ["STATUS_CODE_ERROR", span.status_message or ""] if span.is_error else ["STATUS_CODE_UNSET", ""],
        )
        for span in SPANS
    ]
    for theirs, ours in zip(read["spans"], SPANS, strict=True):
        assert theirs["attributes"] == _plain(ours.attributes)
        assert [(name, held) for name, _, held in theirs["events"]] == [
            (event.name, _plain(event.attributes)) for event in ours.events
        ]
        assert (theirs["start"], theirs["end"]) == (_nanos(ours.start), _nanos(ours.end))


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attributes.items()}


def _nanos(at: Any) -> int:
    return round(at.timestamp() * 1_000_000) * 1000
