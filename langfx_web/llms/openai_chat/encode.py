"""A request → the body of Chat Completions; append-only: a longer conversation begins with the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from langfx_web.errors import UnsupportedCapabilityError
from langfx_web.json_text import dumps
from langfx_web.llms.conversation import fitting_id, is_said, refuse_blank_end, texts
from langfx_web.llms.media import address
from langfx_web.llms.openai.schema import named
from langfx_web.llms.openai_chat.profile import ChatProfile
from langfx_web.llms.openai_chat.reasoning_details import merged
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import ModelRequest, results_in_call_order
from langfx_web.llms.sampling import SamplingOptions
from langfx_web.llms.wire_body import body_of, parameters, refuse_options
from langfx_web.messages import AIMessage, Message, Modality, SystemMessage, Text, Thought, ToolCall, ToolMessage

Fields: TypeAlias = dict[str, Any]

_WIRE = "Chat Completions"
_SAME_OPTIONS = ("temperature", "top_p", "logprobs", "top_logprobs", "service_tier")
_OWN_FIELDS = ("messages", "model", "stream")
_IDS = {"openai": (re.compile(r".{1,64}", re.DOTALL), "lf_", 32), "mistral": (re.compile(r"[A-Za-z0-9]{9}"), "", 9)}


def body(request: ModelRequest, *, model: str, replay: Replay, profile: ChatProfile, stream: bool) -> Fields:
    """The JSON body; raises `LMInputError` for what this wire cannot say."""
    options = request.options
    refuse_options(options, ("top_k",), _WIRE)
    fields: Fields = {
        "model": model,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "tool_choice": _tool_choice(request.tool_choice, profile),
        "parallel_tool_calls": options.parallel_tool_calls if request.tools else None,
        "response_format": _response_format(request, profile),
        profile.max_tokens_field: options.max_tokens,
        "stop": list(options.stop) if options.stop else None,
        profile.seed_field: options.random_seed,
        "n": options.n if options.n > 1 else None,
        **_effort(options, profile),
        **{name: getattr(options, name) for name in _SAME_OPTIONS},
        "messages": _conversation(request.messages, replay, profile),
        "stream": stream or None,
        "stream_options": {"include_usage": True} if stream and profile.stream_usage else None,
    }
    return body_of(fields, options.extras, _OWN_FIELDS)


def _effort(options: SamplingOptions, profile: ChatProfile) -> Fields:
    if profile.effort_field == "reasoning":
        wanted = {"effort": options.reasoning_effort, "max_tokens": options.max_thinking_tokens}
        return {"reasoning": {name: value for name, value in wanted.items() if value is not None} or None}
    if options.max_thinking_tokens is not None:
        raise UnsupportedCapabilityError(
            f"max_thinking_tokens is not an option of the {_WIRE} wire at this server",
            details={"option": "max_thinking_tokens"},
        )
    return {"reasoning_effort": options.reasoning_effort}


def _tool(tool: Any) -> Fields:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters(tool)},
    }


def _tool_choice(choice: str | None, profile: ChatProfile) -> str | Fields | None:
    if choice in (None, "auto", "none"):
        return choice
    return profile.any_tool if choice == "any" else {"type": "function", "function": {"name": choice}}


def _response_format(request: ModelRequest, profile: ChatProfile) -> Fields | None:
    if request.schema is None:
        return None
    written = named(request.schema)
    return {"type": "json_schema", "json_schema": {**written, "strict": True} if profile.strict else written}


def _conversation(messages: Sequence[Message], replay: Replay, profile: ChatProfile) -> list[Fields]:
    refuse_blank_end(messages)
    wire: list[Fields] = []
    pictures: list[Fields] = []
    for message in results_in_call_order(messages):
        if isinstance(message, ToolMessage):
            wire.append(_result(message, profile))
            pictures += map(_picture, message.modalities)
            continue
        if pictures:
            # The wire has no place for them in a result, and wants all results of a step in a row.
            wire.append({"role": "user", "content": pictures})
            pictures = []
        if isinstance(message, AIMessage):
            wire += _answer(message, replay, profile)
        elif is_said(message):
            role = profile.system_role if isinstance(message, SystemMessage) else "user"
            wire.append({"role": role, "content": _content(message)})
    return [*wire, {"role": "user", "content": pictures}] if pictures else wire


def _result(message: ToolMessage, profile: ChatProfile) -> Fields:
    notes = [f"[{part.type}: shown after the results of all tools]" for part in message.modalities]
    content = "\n".join([*texts(message), *notes]) if notes else message.text
    return {"role": "tool", "tool_call_id": _wire_id(message.call_id, profile), "content": content}


def _content(message: Message) -> str | list[Fields]:
    """What is said: one text, or a list of parts where there are pictures among them."""
    if not message.modalities:
        return "".join(texts(message))
    return [
        _picture(part) if isinstance(part, Modality) else {"type": "text", "text": part.text}
        for part in message.parts
        if isinstance(part, Modality) or (isinstance(part, Text) and part.text.strip())
    ]


def _picture(part: Modality) -> Fields:
    return {"type": "image_url", "image_url": {"url": address(part), "detail": "auto"}}


def _answer(message: AIMessage, replay: Replay, profile: ChatProfile) -> list[Fields]:
    words: list[str] = []
    calls: list[Fields] = []
    blocks: list[Any] = []
    following: Any = {}
    for part in message.parts:
        if isinstance(part, Thought):
            payload = replay.payload(part) or {}
            following = payload.get("next") or {}
            blocks.append(payload.get("block") or {})
            words.append(replay.words(part))
            continue
        if isinstance(part, ToolCall):
            calls.append({**_call(part, profile), **following})
        elif isinstance(part, Text) and part.text.strip():
            words.append(part.text)
        following = {}
    if not calls and not any(words):
        return []
    answer: Fields = {"role": "assistant", "content": "".join(words) or None}
    return [{**answer, **({"tool_calls": calls} if calls else {}), **_reasoning(blocks, bool(calls), profile)}]


def _reasoning(blocks: Iterable[Any], has_calls: bool, profile: ChatProfile) -> Fields:
    """What of an answer's reasoning goes back: details always, other reasoning where the server insists on it."""
    reasoning: Fields = {}
    details = merged(detail for block in blocks for detail in block.get("reasoning_details", ()))
    if details:
        reasoning["reasoning_details"] = details
    if has_calls and profile.resend_reasoning_content:
        reasoning["reasoning_content"] = "".join(block.get("reasoning_content", "") for block in blocks)
    return reasoning


def _call(call: ToolCall, profile: ChatProfile) -> Fields:
    function = {"name": call.name, "arguments": dumps(call.args or {})}
    return {"id": _wire_id(call.id, profile), "type": "function", "function": function}


def _wire_id(id: str, profile: ChatProfile) -> str:
    pattern, prefix, digits = _IDS[profile.tool_id]
    return fitting_id(id, pattern, prefix=prefix, digits=digits)
