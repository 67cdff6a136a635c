"""A request → the body of Responses. Encoding is append-only: a longer conversation begins with the same bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langfx_web.json_text import dumps
from langfx_web.llms.conversation import fitting_id, is_said, refuse_blank_end, texts
from langfx_web.llms.media import address
from langfx_web.llms.openai.schema import named
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import ModelRequest, results_in_call_order
from langfx_web.llms.sampling import SamplingOptions
from langfx_web.llms.wire_body import body_of, parameters, refuse_options
from langfx_web.messages import (
    AIMessage,
    Message,
    Modality,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
)

Fields: TypeAlias = dict[str, Any]

_WIRE = "OpenAI Responses"
_REFUSED_OPTIONS = ("stop", "random_seed", "top_k", "max_thinking_tokens")
_SAME_OPTIONS = ("temperature", "top_p", "top_logprobs", "service_tier")
_OWN_FIELDS = ("input", "model", "stream", "previous_response_id", "conversation")
_ID = re.compile(r".{1,64}", re.DOTALL)


def body(request: ModelRequest, *, model: str, replay: Replay, stream: bool, plain_stream: bool) -> Fields:
    """The JSON body; raises `LMInputError` for what this wire cannot say.

    `plain_stream` asks for a stream without padding, which only OpenAI itself understands.
    """
    options = request.options
    refuse_options(options, _REFUSED_OPTIONS, _WIRE)
    include = ["reasoning.encrypted_content"]
    if options.logprobs or options.top_logprobs is not None:
        include.append("message.output_text.logprobs")
    fields: Fields = {
        "model": model,
        "store": False,
        "include": include,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "tool_choice": _tool_choice(request.tool_choice),
        "parallel_tool_calls": options.parallel_tool_calls if request.tools else None,
        "max_output_tokens": options.max_tokens,
        "reasoning": _reasoning(options),
        "text": _text(request),
        **{name: getattr(options, name) for name in _SAME_OPTIONS},
        "input": _conversation(request.messages, replay),
        "stream": stream or None,
        "stream_options": {"include_obfuscation": False} if stream and plain_stream else None,
    }
    return body_of(fields, options.extras, _OWN_FIELDS)


def _tool(tool: ToolDeclaration) -> Fields:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters(tool),
        "strict": False,
    }


def _tool_choice(choice: str | None) -> str | Fields | None:
    if choice in (None, "auto", "none"):
        return choice
    return "required" if choice == "any" else {"type": "function", "name": choice}


def _reasoning(options: SamplingOptions) -> Fields | None:
    reasoning: Fields = {}
    if options.reasoning_effort is not None:
        reasoning["effort"] = options.reasoning_effort
    if options.thoughts:
        reasoning["summary"] = "auto"
    return reasoning or None


def _text(request: ModelRequest) -> Fields | None:
    if request.schema is None:
        return None
    return {"format": {"type": "json_schema", **named(request.schema), "strict": True}}


def _conversation(messages: Sequence[Message], replay: Replay) -> list[Fields]:
    refuse_blank_end(messages)
    items: list[Fields] = []
    for message in results_in_call_order(messages):
        if isinstance(message, ToolMessage):
            output = _content(message) if message.modalities else message.text
            items.append({"type": "function_call_output", "call_id": _wire_id(message.call_id), "output": output})
        elif isinstance(message, AIMessage):
            items += _answer(message, replay)
        elif is_said(message):
            role = "system" if isinstance(message, SystemMessage) else "user"
            items.append({"role": role, "content": _content(message)})
    return items


def _content(message: Message) -> str | list[Fields]:
    """What is said: one text, or a list of parts where there are pictures or documents among them."""
    if not message.modalities:
        return "".join(texts(message))
    return [
        _media(part) if isinstance(part, Modality) else {"type": "input_text", "text": part.text}
        for part in message.parts
        if isinstance(part, Modality) or (isinstance(part, Text) and part.text.strip())
    ]


def _media(part: Modality) -> Fields:
    if part.type == "image":
        return {"type": "input_image", "image_url": address(part), "detail": "auto"}
    if part.uri is not None:
        return {"type": "input_file", "file_url": part.uri}
    return {"type": "input_file", "filename": "document.pdf", "file_data": address(part)}


def _answer(message: AIMessage, replay: Replay) -> list[Fields]:
    items: list[Fields] = []
    waiting: list[Fields] = []
    following: Mapping[str, Any] = {}
    for part in message.parts:
        item: Fields | None = None
        if isinstance(part, Thought):
            payload = replay.payload(part) or {}
            following = payload.get("next") or {}
            block = payload.get("block")
            if block and block.get("type") == "reasoning":
                waiting += [block] if _is_known_by_itself(block) else []
                continue
            item = block or _said(replay.words(part), {})
        elif isinstance(part, ToolCall):
            item = _call(part, following)
        elif isinstance(part, Text):
            item = _said(part.text, following)
        if not isinstance(part, Thought):
            following = {}
        if item is not None:
            # The wire refuses reasoning without the item that followed it.
            items += [*waiting, item]
            waiting = []
    return items


def _is_known_by_itself(reasoning: Mapping[str, Any]) -> bool:
    """Whether a reasoning item says all of itself: the server stores nothing, so that a bare id would not be found."""
    return bool(reasoning.get("encrypted_content") or reasoning.get("content"))


def _said(text: str, following: Mapping[str, Any]) -> Fields | None:
    if not text.strip():
        return None
    if not following:
        return {"role": "assistant", "content": text}
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content, **following}


def _call(call: ToolCall, following: Mapping[str, Any]) -> Fields:
    named_call = {"type": "function_call", "call_id": _wire_id(call.id), "name": call.name}
    return {**named_call, "arguments": dumps(call.args or {}), **following}


def _wire_id(id: str) -> str:
    return fitting_id(id, _ID)
