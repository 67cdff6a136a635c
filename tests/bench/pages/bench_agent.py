"""The demo's agent on a model that answers at once from a script."""

from support_agent import support_agent

import langfx_web as lf

ANSWERS = [lf.AIMessage("Let me look. ", lf.ToolCall("c1", "get_order", {"id": "7"})), "It arrives on Thursday."] * 9
agent = support_agent("bench", lf.testing.StaticSequence(ANSWERS, chunk_size=4))


def ping() -> str:
    """The smallest command."""
    return "pong"
