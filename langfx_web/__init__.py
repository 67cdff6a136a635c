"""LLM agents in Python inside a browser tab: typed queries, streaming, tools and stored conversations.

    import langfx_web as lf

The names below are the front door; every one lives in the room whose name it suggests. Those of typed answers,
of the fakes and of tracing are read when they are first used.
"""

from typing import TYPE_CHECKING

from langfx_web import llms, stores
from langfx_web.agent import Agent
from langfx_web.agentic import Action, Limits
from langfx_web.bridge.page_credential import page_credential
from langfx_web.deferred import deferred
from langfx_web.errors import LangfxError, MappingError, ToolDeniedError
from langfx_web.llms import LanguageModel, ModelSettings, SamplingOptions, SamplingResult, StreamChunk
from langfx_web.messages import (
    PDF,
    AIMessage,
    Audio,
    CachePoint,
    ComplexMessage,
    Image,
    Message,
    Mime,
    Modality,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
    Video,
)
from langfx_web.schemas import UNKNOWN, Schema, Unknown
from langfx_web.tools import Registry, Tool, ToolContext, ToolRegistry, ToolResult, tool
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web import otlp, testing
    from langfx_web.agentic import Budget, Gate, Outcome, Session, Step
    from langfx_web.durable import AgentSession, Turn, TurnResult
    from langfx_web.events import LogEntry, Progress, TraceNode, UsageSummary
    from langfx_web.observation import ObservedEvent, Observer
    from langfx_web.protocols import ParseLimits, read_answer
    from langfx_web.queries import (
        MISSING,
        RAISE,
        BatchItem,
        LangFunc,
        LfQuery,
        Mapping,
        MappingExample,
        Partial,
        QueryStream,
        complete,
        describe,
        parse,
        query,
        query_batch,
        query_stream,
    )
    from langfx_web.templates import Template

__getattr__ = deferred(
    __name__,
    {
        "MISSING": "langfx_web.queries",
        "RAISE": "langfx_web.queries",
        "AgentSession": "langfx_web.durable",
        "BatchItem": "langfx_web.queries",
        "Budget": "langfx_web.agentic",
        "Gate": "langfx_web.agentic",
        "LangFunc": "langfx_web.queries",
        "LfQuery": "langfx_web.queries",
        "LogEntry": "langfx_web.events",
        "Mapping": "langfx_web.queries",
        "MappingExample": "langfx_web.queries",
        "ObservedEvent": "langfx_web.observation",
        "Observer": "langfx_web.observation",
        "Outcome": "langfx_web.agentic",
        "ParseLimits": "langfx_web.protocols",
        "Partial": "langfx_web.queries",
        "Progress": "langfx_web.events",
        "QueryStream": "langfx_web.queries",
        "Session": "langfx_web.agentic",
        "Step": "langfx_web.agentic",
        "Template": "langfx_web.templates",
        "TraceNode": "langfx_web.events",
        "Turn": "langfx_web.durable",
        "TurnResult": "langfx_web.durable",
        "UsageSummary": "langfx_web.events",
        "complete": "langfx_web.queries",
        "describe": "langfx_web.queries",
        "otlp": "langfx_web",
        "parse": "langfx_web.queries",
        "query": "langfx_web.queries",
        "query_batch": "langfx_web.queries",
        "query_stream": "langfx_web.queries",
        "read_answer": "langfx_web.protocols",
        "testing": "langfx_web",
    },
)

__version__ = "0.1.0"

__all__ = [
    "MISSING",
    "PDF",
    "RAISE",
    "UNKNOWN",
    "AIMessage",
    "Action",
    "Agent",
    "AgentSession",
    "Audio",
    "BatchItem",
    "Budget",
    "CachePoint",
    "ComplexMessage",
    "Gate",
    "Image",
    "LangFunc",
    "LangfxError",
    "LanguageModel",
    "LfQuery",
    "Limits",
    "LogEntry",
    "Mapping",
    "MappingError",
    "MappingExample",
    "Message",
    "Mime",
    "Modality",
    "ModelSettings",
    "ObservedEvent",
    "Observer",
    "Outcome",
    "ParseLimits",
    "Partial",
    "Progress",
    "QueryStream",
    "Registry",
    "SamplingOptions",
    "SamplingResult",
    "Schema",
    "Session",
    "Step",
    "StreamChunk",
    "SystemMessage",
    "Template",
    "Text",
    "Thought",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolDeniedError",
    "ToolMessage",
    "ToolRegistry",
    "ToolResult",
    "TraceNode",
    "Turn",
    "TurnResult",
    "Unknown",
    "Usage",
    "UsageSummary",
    "UserMessage",
    "Video",
    "complete",
    "describe",
    "llms",
    "otlp",
    "page_credential",
    "parse",
    "query",
    "query_batch",
    "query_stream",
    "read_answer",
    "stores",
    "testing",
    "tool",
]
