"""The generateContent wire of Gemini: encode a request, decode an answer.

May import the rest of `llms`. Read `model.py` first.
"""

from langfx_web.llms.gemini.model import Gemini

GoogleGenAI = Gemini
"""The name that langfun has for it."""

__all__ = ["Gemini", "GoogleGenAI"]
