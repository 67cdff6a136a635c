"""`Anthropic` as an object: address, headers, what it shows of itself."""

from __future__ import annotations

from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.transport import MockResponse
from tests.llms.messages_wire import answered, ok


async def headers(**settings: Any) -> dict[str, str]:
    """The headers a model sends."""
    model, transport = answered(ok(), **settings)
    await model("hi")
    return dict(transport.requests[0].headers)


async def test_the_request_goes_to_the_version_root() -> None:
    """The path is added to the base, and a query of the base stays."""
    for base, url in (
        (None, "https://api.anthropic.com/v1/messages"),
        ("https://gateway.test/a/v1/", "https://gateway.test/a/v1/messages"),
        ("https://gateway.test/v1?team=x", "https://gateway.test/v1/messages?team=x"),
    ):
        model, transport = answered(ok(), **({"base_url": base} if base else {}))
        await model("hi")
        assert (transport.requests[0].method, transport.requests[0].url) == ("POST", url)


async def test_only_the_headers_of_the_wire_are_sent() -> None:
    """A page's preflight lists every header: there are no others than the wire needs."""
    assert await headers() == {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "test-key-1234",
    }


async def test_a_key_can_be_a_bearer_token() -> None:
    """Gateways that want a bearer token get one, and no other key."""
    sent = await headers(auth="bearer")
    assert sent["authorization"] == "Bearer test-key-1234"
    assert "x-api-key" not in sent


async def test_betas_are_joined() -> None:
    """Names of betas go into one header."""
    assert (await headers(betas=["a", "b"]))["anthropic-beta"] == "a,b"


@pytest.mark.parametrize(("access", "header"), [(True, "true"), (False, None), (None, None)])
async def test_browser_access_can_be_forced(access: bool | None, header: str | None) -> None:
    """Outside a browser the header for pages is sent only if it is asked for."""
    assert (await headers(browser_access=access)).get("anthropic-dangerous-direct-browser-access") == header


def test_it_hides_its_secrets() -> None:
    """A representation has neither key nor header values."""
    model = lf.llms.Anthropic("claude-x", api_key="secret-1", headers={"x": "secret-2"})
    assert repr(model) == "Anthropic('claude-x')"
    assert "secret" not in repr(model.with_options(max_tokens=5))


def test_it_says_what_it_can_do() -> None:
    """What the wire has is declared, thoughts it takes back by their tag, and facts can be told."""
    model = lf.llms.Anthropic("m", capabilities={"context_window": 200_000}, replays={"plain-text"})
    able = model.capabilities
    assert (able.images, able.pdf, able.tools, able.native_schema, able.thoughts) == (True,) * 5
    assert (able.audio, able.video, able.candidates, able.context_window) == (False, False, False, 200_000)
    assert model.replays == {REPLAY_TAG, "plain-text"}


async def test_a_wrong_address_is_hinted_at() -> None:
    """A 404 that names no model points at `base_url`."""
    model, _ = answered(MockResponse(status=404, body=b"not here"))
    with pytest.raises(errors.LMInputError, match="base_url"):
        await model("hi")
