"""The Anthropic Messages wire: encode a request, decode an answer.

May import the rest of `llms`. Read `model.py` first.
"""

from langfx_web.llms.anthropic.model import Anthropic

__all__ = ["Anthropic"]
