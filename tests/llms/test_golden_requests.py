"""What each wire sends for a table of conversations, compared with bodies that were read and found right.

`python -m tests.llms.test_golden_requests` writes the bodies anew, to be read before they are kept.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import langfx_web as lf
from langfx_web.errors import LangfxError
from langfx_web.messages import (
    PDF,
    AIMessage,
    Image,
    Message,
    SystemMessage,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)
from langfx_web.transport import MockTransport

GOLDEN = Path(__file__).with_name("golden_requests.json")
PNG = Image.from_base64("iVBORw0KGgo=")
WEATHER = ToolDeclaration(
    name="weather",
    description="Tell the weather.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
SHOT = ToolDeclaration(name="shot", description="Take a picture.", input_schema={})
CITY = {
    "title": "City",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "size": {"type": "integer", "enum": [1, 2]},
        "twin": {"$ref": "#/$defs/Twin", "description": "another city"},
    },
    "required": ["name", "size"],
    "$defs": {"Twin": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}


def kept(tag: str, host: str, **payload: Any) -> Thought:
    """A thought of one wire."""
    origin = {"v": 1, "host": host, "model": "m"}
    return Thought("hm", payload={**origin, **payload}, replay_compatibility=tag)


CLAUDE = kept(
    "anthropic-messages-thinking-v1",
    "api.anthropic.com",
    block={"type": "thinking", "thinking": "hm", "signature": "EqQB=="},
)
RESPONSES = kept(
    "openai-responses-reasoning-item-v1",
    "api.openai.com",
    block={"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA=="},
)
CHAT = kept(
    "openai-chat-reasoning-v1",
    "api.openai.com",
    block={"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "S=="}]},
)
GEMINI = kept("gemini-part-v1", "generativelanguage.googleapis.com", next={"thoughtSignature": "U0lH"})
FIRST = ToolCall("t1", "weather", {"city": "Rome"})

CONVERSATIONS: dict[str, tuple[list[Message], dict[str, Any]]] = {
    "a question": ([UserMessage("hi")], {}),
    "instructions, also later": (
        [
            SystemMessage("Be brief."),
            UserMessage("hi"),
            AIMessage("Yes?"),
            SystemMessage("Be kind."),
            UserMessage("go"),
        ],
        {},
    ),
    "parallel results in another order, with a picture, an error and a remark": (
        [
            UserMessage("look"),
            AIMessage("checking", FIRST, ToolCall("t2", "shot", {}), ToolCall("t3", "weather", {"city": "Oslo"})),
            ToolMessage("timeout", call_id="t3", is_error=True),
            ToolMessage("18C", call_id="t1"),
            ToolMessage("see image", PNG, call_id="t2"),
            UserMessage("also add the wind"),
        ],
        {"tools": [WEATHER, SHOT]},
    ),
    "blank texts everywhere": (
        [
            SystemMessage(" "),
            UserMessage("hi"),
            AIMessage("\n", FIRST),
            ToolMessage("", call_id="t1"),
            AIMessage(" "),
            UserMessage("   ", PNG),
            AIMessage("ok  "),
            UserMessage("go"),
        ],
        {},
    ),
    "thoughts of every provider": (
        [
            UserMessage("hi"),
            AIMessage(CLAUDE, RESPONSES, CHAT, GEMINI, FIRST),
            ToolMessage("18C", call_id="t1"),
            AIMessage(CLAUDE, RESPONSES, CHAT, GEMINI, "18 degrees"),
            UserMessage("thanks"),
        ],
        {},
    ),
    "pictures and a document": (
        [UserMessage("what is", PNG, Image.from_uri("https://pictures.test/a.png"), PDF.from_bytes(b"%PDF-1.4"), "?")],
        {"capabilities": {"pdf": True}},
    ),
    "a call without readable arguments": (
        [
            UserMessage("hi"),
            AIMessage(ToolCall("call 1/ä", "weather", None, raw_args="{")),
            ToolMessage("not JSON", call_id="call 1/ä", is_error=True),
        ],
        {},
    ),
    "tools, a forced choice and options": (
        [UserMessage("hi")],
        {
            "tools": [WEATHER, SHOT],
            "tool_choice": "weather",
            "temperature": 0.5,
            "max_tokens": 100,
            "reasoning_effort": "high",
            "thoughts": True,
        },
    ),
    "a structured answer": ([UserMessage("hi")], {"schema": CITY}),
    "an answer that is begun": ([UserMessage("hi"), AIMessage("The answer is: ")], {}),
}
WIRES = {
    "anthropic": lf.llms.Anthropic,
    "openai": lf.llms.OpenAI,
    "openai_chat": lf.llms.OpenAIChat,
    "gemini": lf.llms.Gemini,
}


async def sent(wire: str, conversation: str) -> Any:
    """The body that a conversation is sent as, or why it is not."""
    messages, options = CONVERSATIONS[conversation]
    options = dict(options)
    transport = MockTransport([])
    model = WIRES[wire]("m", transport=transport, capabilities=options.pop("capabilities", None))
    try:
        await model(messages, **options)
    except AssertionError:
        return json.loads(transport.requests[0].body or b"")
    except LangfxError as error:
        return f"{error.code}: {error}"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("conversation", CONVERSATIONS)
async def test_bug_033_providers_45_a_conversation_is_sent_as_it_was_found_right(wire: str, conversation: str) -> None:
    """Roles, results, pictures, thoughts, tools and schemas have on each wire the form that was agreed on."""
    assert await sent(wire, conversation) == json.loads(GOLDEN.read_text("utf-8"))[conversation][wire]


async def _write() -> None:
    bodies = {name: {wire: await sent(wire, name) for wire in WIRES} for name in CONVERSATIONS}
    GOLDEN.write_text(json.dumps(bodies, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(_write())
