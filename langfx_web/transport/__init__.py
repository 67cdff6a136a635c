"""One HTTP exchange at a time: browser fetch, host httpx or a mock, with timeouts and event framing around any of them.

May import layers 0 to 2; knows nothing of models or of what a body means. Read `base.py` first.
"""

from typing import TYPE_CHECKING

from langfx_web.deferred import deferred
from langfx_web.transport.base import Body, Request, Response, Send, Transport
from langfx_web.transport.platform import default_transport
from langfx_web.transport.sse import ServerEvent, SSEDecoder

if TYPE_CHECKING:
    from langfx_web.transport.mock import HANG, MockResponse, MockTransport, cut_at, cut_every, cut_random

_MOCK = ("HANG", "MockResponse", "MockTransport", "cut_at", "cut_every", "cut_random")

__getattr__ = deferred(__name__, dict.fromkeys(_MOCK, "langfx_web.transport.mock"))

__all__ = [
    "HANG",
    "Body",
    "MockResponse",
    "MockTransport",
    "Request",
    "Response",
    "SSEDecoder",
    "Send",
    "ServerEvent",
    "Transport",
    "cut_at",
    "cut_every",
    "cut_random",
    "default_transport",
]
