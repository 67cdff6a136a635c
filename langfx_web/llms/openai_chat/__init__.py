"""The Chat Completions wire, of OpenAI and of every server compatible with it: encode a request, decode an answer.

May import the rest of `llms`. Read `model.py` first.
"""

from langfx_web.llms.openai_chat.model import OpenAIChat
from langfx_web.llms.openai_chat.profile import ChatProfile

__all__ = ["ChatProfile", "OpenAIChat"]
