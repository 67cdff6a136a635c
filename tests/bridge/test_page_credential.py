"""A model's key from the page: asked when needed, kept in memory, in no message but its own."""

from __future__ import annotations

import asyncio
import json

import pytest

from langfx_web import page_credential
from langfx_web.errors import CredentialsError
from tests.bridge.fake_page import FakePage

LIVE = """
import json
import langfx_web as lf
from langfx_web.transport import MockResponse, MockTransport

SEEN = []

async def refuse(request):
    SEEN.append(request.headers.get("x-api-key"))
    error = {"type": "authentication_error", "message": "bad key k-secret-1"}
    return MockResponse(status=401, body=json.dumps({"type": "error", "error": error}).encode())

live = lf.Agent(
    name="live",
    lm=lf.llms.Anthropic(model="m", api_key=lf.page_credential("anthropic"), transport=MockTransport(refuse)),
)
def seen(): return SEEN
"""


async def test_outside_a_page_there_is_nobody_to_ask() -> None:
    """With a clear error, at the first use."""
    with pytest.raises(CredentialsError, match="no page to ask"):
        await page_credential("anthropic")()


async def test_the_page_is_asked_and_asked_again_after_a_rejection(page: FakePage) -> None:
    """With provider and session; the key reaches the provider and no line, result or error."""
    await page.setup({"live_shop": LIVE}, credentials=True)
    id_ = page.command("session_prompt", agent="live", session="s-1", input="x")
    first = await page.wait(lambda message: message["kind"] == "credential_request")
    assert (first["provider"], first["sessionId"], first["rejected"]) == ("anthropic", "s-1", False)
    page.tell("credential_result", id=first["id"], value={"apiKey": "k-secret-1"})
    second = await page.wait(lambda message: message["kind"] == "credential_request" and message["rejected"])
    page.tell("credential_result", id=second["id"], value="k-secret-2")
    end = await page.end(id_)
    assert end["value"]["error"]["code"] == "authentication"
    seen = (await page.ask("call", target="live_shop:seen", args=[]))["value"]
    assert seen == ["k-secret-1", "k-secret-2"]
    told = [message for message in page.messages if message.get("value") != seen]
    assert "k-secret" not in json.dumps(told)


async def test_a_callback_that_fails_ends_the_turn(page: FakePage) -> None:
    """With the page's reason, as `credentials_failed`."""
    await page.setup({"live_shop2": LIVE}, credentials=True)
    id_ = page.command("session_prompt", agent="live", session=None, input="x")
    request = await page.wait(lambda message: message["kind"] == "credential_request")
    page.tell("credential_error", id=request["id"], error={"name": "Error", "message": "signed out"})
    end = await page.end(id_)
    assert (end["value"]["error"]["code"], end["value"]["error"]["message"]) == ("credentials_failed", "signed out")
    await asyncio.sleep(0)
