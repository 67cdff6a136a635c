"""The form on a scripted model inside the worker, for static hosts: nothing leaves the page."""

import json

import scripted_provider
from order_form import read_order

import langfx_web as lf
from langfx_web.transport import MockResponse, MockTransport, Request


async def answer(request: Request) -> MockResponse:
    """Play the provider's answer to one request."""
    status, headers, body = scripted_provider.respond(json.loads(request.body or b"null"))
    return MockResponse(status=status, headers=headers, body=body)


lm = lf.llms.Anthropic(model="scripted-form", transport=MockTransport(answer))


def read_note(note: str) -> lf.QueryStream:
    """The order in a note, while the script writes it."""
    return read_order(note, lm)
