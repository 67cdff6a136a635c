"""`OpenAIChat` as an object: address, headers, profiles, what it shows of itself."""

from __future__ import annotations

from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.llms.openai_chat.choice import REPLAY_TAG
from langfx_web.llms.openai_chat.profile import PROFILES, profile_of
from langfx_web.transport import MockResponse
from tests.llms.chat_wire import answered, ok


async def request(**settings: Any) -> tuple[str, dict[str, str]]:
    """The address and the headers of what a model sends."""
    model, transport = answered(ok(), **settings)
    await model("hi")
    return transport.requests[0].url, dict(transport.requests[0].headers)


async def test_only_the_headers_of_the_wire_are_sent() -> None:
    """A page's preflight lists every header: there are no others than the wire needs."""
    url, headers = await request()
    assert url == "https://api.openai.com/v1/chat/completions"
    assert headers == {"content-type": "application/json", "authorization": "Bearer test-key-1234"}


async def test_providers_62_without_a_key_there_is_no_authorization() -> None:
    """A local server on plain http gets nothing but the content type."""
    url, headers = await request(base_url="http://localhost:11434/v1", api_key=None)
    assert (url, headers) == ("http://localhost:11434/v1/chat/completions", {"content-type": "application/json"})


async def test_azure_gets_its_own_header_and_keeps_its_query() -> None:
    """By its host, or on request."""
    base = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-02-01"
    url, headers = await request(base_url=base)
    assert url == "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-02-01"
    assert headers["api-key"] == "test-key-1234"
    assert "authorization" not in headers
    assert "api-key" in (await request(auth="api-key"))[1]


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.moonshot.ai/v1", "moonshot"),
        ("http://127.0.0.1:11434/v1", "ollama"),
        ("http://localhost:8000/v1", "compatible"),
        ("https://notopenai.com/v1", "compatible"),
    ],
)
def test_the_profile_follows_the_host(base: str, name: str) -> None:
    """A host that merely ends in the same letters is another one."""
    assert profile_of(base) is PROFILES[name]


def test_profiles_and_ways_to_send_a_key_are_checked() -> None:
    """What is none is refused when the model is made."""
    for wrong in ({"profile": "acme"}, {"auth": "basic"}):
        with pytest.raises(errors.InvalidArgumentError):
            lf.llms.OpenAIChat("m", **wrong)
    own = lf.llms.ChatProfile(system_role="user")
    assert lf.llms.OpenAIChat("m", profile=own).with_options(max_tokens=5).profile is own


def test_it_says_what_it_can_do() -> None:
    """Several candidates, but no documents, sound or films."""
    able = lf.llms.OpenAIChat("m").capabilities
    assert (able.images, able.tools, able.native_schema, able.candidates) == (True,) * 4
    assert (able.pdf, able.audio, able.video) == (False,) * 3
    assert lf.llms.OpenAIChat("m").replays == {REPLAY_TAG}


async def test_an_error_names_the_server() -> None:
    """Many speak this wire, so its own name would say little."""
    busy = MockResponse(status=429, body=b'{"error":{"message":"slow down","code":429}}')
    model, _ = answered(busy, base_url="https://openrouter.ai/api/v1")
    with pytest.raises(errors.RateLimitError, match=r"openrouter\.ai answered 429: slow down") as raised:
        await model("hi")
    assert raised.value.provider == "openai_chat"
