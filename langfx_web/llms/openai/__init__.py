"""The Responses wire of OpenAI: encode a request, decode an answer.

May import the rest of `llms`. Read `model.py` first.
"""

from langfx_web.llms.openai.model import OpenAI

__all__ = ["OpenAI"]
