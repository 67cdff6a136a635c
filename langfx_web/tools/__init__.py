"""What a model may call, and running one call.

May import layers 0 to 3. Read `tool.py` first; what a tool needs of the world is handed in through `ToolContext`.
"""

from langfx_web.tools.checksum import call_checksum, canonical_json, checksum
from langfx_web.tools.context import Asker, ToolContext
from langfx_web.tools.function import tool
from langfx_web.tools.observation import Observation, unseen
from langfx_web.tools.outcome import ToolOutcome, run_call
from langfx_web.tools.registry import MAX_TOOLS, ToolRegistry
from langfx_web.tools.result import ToolResult
from langfx_web.tools.tool import Approval, PreparedCall, Tool
from langfx_web.tools.values import Registry

__all__ = [
    "MAX_TOOLS",
    "Approval",
    "Asker",
    "Observation",
    "PreparedCall",
    "Registry",
    "Tool",
    "ToolContext",
    "ToolOutcome",
    "ToolRegistry",
    "ToolResult",
    "call_checksum",
    "canonical_json",
    "checksum",
    "run_call",
    "tool",
    "unseen",
]
