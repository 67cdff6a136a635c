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
from langfx_web.messages.parts import Text, Thought

__all__ = [
    "AIMessage",
    "ComplexMessage",
    "Message",
    "Part",
    "SystemMessage",
    "Text",
    "Thought",
    "ToolCall",
    "ToolChoice",
    "ToolDeclaration",
    "ToolMessage",
    "UserMessage",
]
