"""The fakes we ship, for tests and offline demos.

May import every layer. Read `models.py` first.
"""

from langfx_web.testing.models import Echo, ScriptedModel, StaticResponse, StaticSequence
from langfx_web.testing.time import ManualClock

__all__ = ["Echo", "ManualClock", "ScriptedModel", "StaticResponse", "StaticSequence"]
