"""Models: what is asked of them, how their answers are streamed and put together, one folder or module per wire.

May import `messages`, `events`, `transport` and layer 0; never runs a tool. Read `base.py`, then `stream.py`, first.
"""

from langfx_web.llms.anthropic import Anthropic
from langfx_web.llms.base import LanguageModel
from langfx_web.llms.credentials import Credential, Credentials, current_session_id
from langfx_web.llms.delta import Delta
from langfx_web.llms.http import HTTPLanguageModel
from langfx_web.llms.request import Capabilities, ModelRequest, Prompt
from langfx_web.llms.sampling import ChunkDelta, Sample, SamplingOptions, SamplingResult, StreamChunk
from langfx_web.llms.stream import ModelStream

__all__ = [
    "Anthropic",
    "Capabilities",
    "ChunkDelta",
    "Credential",
    "Credentials",
    "Delta",
    "HTTPLanguageModel",
    "LanguageModel",
    "ModelRequest",
    "ModelStream",
    "Prompt",
    "Sample",
    "SamplingOptions",
    "SamplingResult",
    "StreamChunk",
    "current_session_id",
]
