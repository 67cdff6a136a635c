"""The agent `support` on a scripted model inside the worker, for static hosts: nothing leaves the page."""

import json

import scripted_provider
from support_agent import support_agent

import langfx_web as lf
from langfx_web.transport import MockResponse, MockTransport, Request


async def answer(request: Request) -> MockResponse:
    """Play the provider's answer to one request."""
    status, headers, body = scripted_provider.respond(json.loads(request.body or b"null"))
    return MockResponse(status=status, headers=headers, body=body)


agent = support_agent("support", lf.llms.Anthropic(model="scripted-support", transport=MockTransport(answer)))
