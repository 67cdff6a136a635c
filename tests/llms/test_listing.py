"""Which models a provider has."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.testing import ManualClock, StaticResponse
from langfx_web.transport import MockResponse, MockTransport

KEY = {"api_key": "test-key-1234"}


def pages(*documents: Any) -> MockTransport:
    """A provider that has these pages."""
    return MockTransport([MockResponse(body=json.dumps(document).encode()) for document in documents])


def urls(transport: MockTransport) -> list[str]:
    """What was asked for."""
    return [f"{request.method} {request.url}" for request in transport.requests]


async def test_providers_63_anthropic() -> None:
    """All pages, with limits, capabilities and efforts where they are told."""
    first = {
        "id": "claude-a",
        "display_name": "Claude A",
        "created_at": "2026-02-01T00:00:00Z",
        "max_input_tokens": 1_000_000,
        "max_tokens": 64_000,
        "capabilities": {
            "image_input": {"supported": True},
            "pdf_input": {"supported": False},
            "effort": {"supported": True, "low": {"supported": True}, "max": {"supported": False}},
        },
    }
    transport = pages(
        {"data": [first], "has_more": True, "last_id": "claude-a"}, {"data": [{"id": "claude-b"}], "has_more": False}
    )
    model = lf.llms.Anthropic(transport=transport, **KEY)
    one, two = await model.list_models()
    assert urls(transport) == [
        "GET https://api.anthropic.com/v1/models?limit=1000",
        "GET https://api.anthropic.com/v1/models?limit=1000&after_id=claude-a",
    ]
    assert dict(transport.requests[0].headers) == {"anthropic-version": "2023-06-01", "x-api-key": "test-key-1234"}
    assert (one.id, one.name, one.context_window, one.max_output_tokens) == ("claude-a", "Claude A", 1_000_000, 64_000)
    assert one.capabilities == {"images": True, "pdf": False, "efforts": ("low",)}
    assert one.created == datetime(2026, 2, 1, tzinfo=UTC)
    assert (two.name, two.context_window, two.capabilities, two.created) == (None,) * 4
    assert model.with_options(model=one.id, capabilities=one.capabilities).capabilities.pdf is False


async def test_providers_63_gemini() -> None:
    """All pages, but only models that generate content; names without their folder."""
    writer = {
        "name": "models/gemini-a",
        "displayName": "Gemini A",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent"],
        "thinking": True,
    }
    embedder = {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]}
    transport = pages(
        {"models": [embedder, writer], "nextPageToken": "n"},
        {"models": [{**writer, "name": "models/gemini-b", "thinking": None}]},
    )
    one, two = await lf.llms.Gemini(transport=transport, **KEY).list_models()
    base = "GET https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000"
    assert urls(transport) == [base, base + "&pageToken=n"]
    assert (one.id, one.name, one.context_window, one.max_output_tokens) == ("gemini-a", "Gemini A", 1_048_576, 65_536)
    assert (one.capabilities, two.id, two.capabilities) == ({"thoughts": True}, "gemini-b", None)


@pytest.mark.parametrize("wire", [lf.llms.OpenAI, lf.llms.OpenAIChat])
async def test_providers_63_openai_and_compatible_servers(wire: Any) -> None:
    """One page, or a bare list; limits under any of the names that servers have for them."""
    routed = {
        "id": "a/b",
        "name": "B",
        "created": 1_770_000_000,
        "context_length": 200_000,
        "top_provider": {"max_completion_tokens": 32_000},
        "architecture": {"input_modalities": ["text", "image"]},
    }
    entries = [
        routed,
        {"id": "c", "max_model_len": 4096, "capabilities": {"vision": False, "function_calling": True}},
        {"id": "d", "context_window": 8, "max_completion_tokens": 4},
        {"id": "e", "max_context_length": 16},
        {"id": "f", "created": "2026-02-01"},
    ]
    transport = pages({"object": "list", "data": entries}, entries)
    model = wire(transport=transport, base_url="https://api.test/v1?team=x", **KEY)
    found = await model.list_models()
    assert await model.list_models() == found
    assert urls(transport) == ["GET https://api.test/v1/models?team=x"] * 2
    assert [entry.context_window for entry in found] == [200_000, 4096, 8, 16, None]
    assert [entry.max_output_tokens for entry in found] == [32_000, None, 4, None, None]
    assert found[0].capabilities == {"images": True, "pdf": False, "audio": False, "video": False}
    assert found[1].capabilities == {"images": False, "tools": True}
    assert found[0].created == datetime.fromtimestamp(1_770_000_000, UTC)
    assert found[4].created == datetime(2026, 2, 1, tzinfo=UTC)


async def test_a_list_has_an_end() -> None:
    """A provider that always has another page is asked for twenty."""
    transport = pages(*({"data": [{"id": "m"}], "has_more": True, "last_id": f"m{n}"} for n in range(25)))
    assert len(await lf.llms.Anthropic(transport=transport, **KEY).list_models()) == 20


async def test_a_list_has_the_errors_and_waits_of_a_call() -> None:
    """It is asked for again where a call would be, and fails like one; the key is in no text."""
    clock = ManualClock()
    busy = MockResponse(status=503, headers={"retry-after": "0"}, body=b"busy test-key-1234")
    good = MockResponse(body=b'{"data":[{"id":"m"}]}')
    model = lf.llms.OpenAI(transport=MockTransport([busy, good, busy]), max_attempts=2, max_retry_interval=0.2, **KEY)
    assert [entry.id for entry in await model.list_models()] == ["m"]
    with pytest.raises(errors.TemporaryLMError) as raised:
        await model.with_options(max_attempts=1, clock=clock).list_models()
    assert (raised.value.status, raised.value.provider) == (503, "openai")
    assert "test-key-1234" not in str(raised.value)


@pytest.mark.parametrize("body", [b'{"hello":1}', b"<html>", b'{"data":['])
async def test_what_is_no_list_is_a_protocol_error(body: bytes) -> None:
    """Whatever came instead; a cut one is incomplete."""
    model = lf.llms.OpenAIChat(transport=MockTransport([MockResponse(body=body)]), **KEY)
    with pytest.raises((errors.LMProtocolError, errors.IncompleteGenerationError)):
        await model.list_models()


async def test_models_without_a_provider_have_no_list() -> None:
    """There is nobody to ask."""
    with pytest.raises(errors.UnsupportedCapabilityError):
        await StaticResponse("a").list_models()


@pytest.mark.parametrize("wire", ["Anthropic", "OpenAI", "OpenAIChat", "Gemini"])
@pytest.mark.parametrize("body", ["", "7", "null", "{}", "<html>sign in</html>", '{"data": 7, "models": 7}'])
async def test_a_page_that_is_no_list_is_an_error(wire: str, body: str) -> None:
    """A page of another kind does not pass for a provider without models."""
    transport = MockTransport([MockResponse(body=body.encode())])
    with pytest.raises(errors.LMError) as caught:
        await getattr(lf.llms, wire)(transport=transport, **KEY).list_models()
    assert caught.value.code in ("protocol", "incomplete_generation")


@pytest.mark.parametrize("wire", ["Anthropic", "OpenAI", "OpenAIChat"])
async def test_entries_that_say_little_hide_no_others(wire: str) -> None:
    """What has no id is left out, and what is of another kind is not known."""
    strange = {"id": "b", "name": 7, "display_name": [], "capabilities": 7, "architecture": "x", "top_provider": []}
    sizes = {"context_length": True, "max_input_tokens": "9", "max_tokens": -1, "created": "soon", "created_at": {}}
    transport = pages({"data": [7, None, {}, {"id": 7}, {"id": ""}, {"id": "a"}, strange | sizes]})
    one, other = await getattr(lf.llms, wire)(transport=transport, **KEY).list_models()
    assert (one, other) == (lf.llms.ModelInfo(id="a"), lf.llms.ModelInfo(id="b"))


async def test_entries_of_gemini_that_say_little() -> None:
    """The same there, where a model has to generate content."""
    listed = [7, {"name": 7}, {"name": "a", "supportedGenerationMethods": 7}]
    whole = {"name": "b", "supportedGenerationMethods": ["generateContent"], "inputTokenLimit": "9", "displayName": 7}
    (only,) = await lf.llms.Gemini(transport=pages({"models": [*listed, whole]}), **KEY).list_models()
    assert only == lf.llms.ModelInfo(id="b")


async def test_a_server_that_does_not_turn_the_page_is_left() -> None:
    """A page that asks for itself again is the last one."""
    page = {"data": [{"id": "a"}], "has_more": True, "last_id": "a"}
    transport = pages(page, page, page)
    assert len(await lf.llms.Anthropic(transport=transport, **KEY).list_models()) == 2
    assert len(transport.requests) == 2
