"""The fakes we ship, for tests and offline demos.

May import every layer. Read `models.py` first.
"""

from langfx_web.testing.models import Echo, ScriptedModel, StaticMapping, StaticResponse, StaticSequence
from langfx_web.testing.script import Script
from langfx_web.testing.time import ManualClock
from langfx_web.transport import MockResponse, MockTransport

__all__ = [
    "Echo",
    "ManualClock",
    "MockResponse",
    "MockTransport",
    "Script",
    "ScriptedModel",
    "StaticMapping",
    "StaticResponse",
    "StaticSequence",
]
