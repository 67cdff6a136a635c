"""Models: what is asked of them, how their answers are streamed and put together, one folder or module per wire.

May import `messages`, `events`, `transport` and layer 0; never runs a tool. Read `base.py`, then `stream.py`, first.
"""

from typing import TYPE_CHECKING

from langfx_web.deferred import deferred
from langfx_web.llms.base import LanguageModel
from langfx_web.llms.cache import Cache, CacheStats, InMemoryCache
from langfx_web.llms.credentials import Credential, Credentials, current_session_id
from langfx_web.llms.delta import Delta
from langfx_web.llms.http import HTTPLanguageModel
from langfx_web.llms.listing import ModelInfo
from langfx_web.llms.request import Capabilities, ModelRequest, Prompt
from langfx_web.llms.sampling import ChunkDelta, Sample, SamplingOptions, SamplingResult, StreamChunk
from langfx_web.llms.settings import ModelChoice, Models, ModelSettings
from langfx_web.llms.stream import ModelStream

if TYPE_CHECKING:
    from langfx_web.llms.anthropic import Anthropic
    from langfx_web.llms.gemini import Gemini, GoogleGenAI
    from langfx_web.llms.openai import OpenAI
    from langfx_web.llms.openai_chat import ChatProfile, OpenAIChat
    from langfx_web.llms.store_cache import StoreCache

__getattr__ = deferred(
    __name__,
    {
        "Anthropic": "langfx_web.llms.anthropic",
        "ChatProfile": "langfx_web.llms.openai_chat",
        "Gemini": "langfx_web.llms.gemini",
        "GoogleGenAI": "langfx_web.llms.gemini",
        "OpenAI": "langfx_web.llms.openai",
        "OpenAIChat": "langfx_web.llms.openai_chat",
        "StoreCache": "langfx_web.llms.store_cache",
    },
)

__all__ = [
    "Anthropic",
    "Cache",
    "CacheStats",
    "Capabilities",
    "ChatProfile",
    "ChunkDelta",
    "Credential",
    "Credentials",
    "Delta",
    "Gemini",
    "GoogleGenAI",
    "HTTPLanguageModel",
    "InMemoryCache",
    "LanguageModel",
    "ModelChoice",
    "ModelInfo",
    "ModelRequest",
    "ModelSettings",
    "ModelStream",
    "Models",
    "OpenAI",
    "OpenAIChat",
    "Prompt",
    "Sample",
    "SamplingOptions",
    "SamplingResult",
    "StoreCache",
    "StreamChunk",
    "current_session_id",
]
