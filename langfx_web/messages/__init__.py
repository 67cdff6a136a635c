"""What is said: values only, without I/O.

May import the rooms below it (`errors`, `usage`, `json_text`). Read `message.py` first.
"""

from langfx_web.messages.calls import ToolCall, ToolChoice, ToolDeclaration
from langfx_web.messages.message import (
    AIMessage,
    ComplexMessage,
    Message,
    Part,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from langfx_web.messages.modality import PDF, Audio, Image, Mime, Modality, Video
from langfx_web.messages.parts import CachePoint, Text, Thought

__all__ = [
    "PDF",
    "AIMessage",
    "Audio",
    "CachePoint",
    "ComplexMessage",
    "Image",
    "Message",
    "Mime",
    "Modality",
    "Part",
    "SystemMessage",
    "Text",
    "Thought",
    "ToolCall",
    "ToolChoice",
    "ToolDeclaration",
    "ToolMessage",
    "UserMessage",
    "Video",
]
