"""A request → the body of generateContent; append-only: a longer conversation begins with the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langfx_web.llms.conversation import leading_system, refuse_blank_end, texts
from langfx_web.llms.gemini.parts import SIGNATURE
from langfx_web.llms.gemini.schema import answer_schema, text_enums
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

UNSIGNED = "skip_thought_signature_validator"
"""Stands for the signature of a call that Gemini did not make, or made without one."""

_WIRE = "Gemini"
_OWN_FIELDS = ("contents", "model", "stream")
_LEVELS = {"max": "XHIGH"}


def body(request: ModelRequest, *, replay: Replay) -> Fields:
    """The JSON body; raises `LMInputError` for what this wire cannot say."""
    options = request.options
    refuse_options(options, ("parallel_tool_calls",), _WIRE)
    refuse_blank_end(request.messages)
    system, rest = leading_system(request.messages)
    instructions = [{"text": text} for message in system for text in texts(message)]
    fields: Fields = {
        "systemInstruction": {"parts": instructions} if instructions else None,
        "tools": [{"functionDeclarations": [_tool(tool) for tool in request.tools]}] if request.tools else None,
        "toolConfig": _tool_config(request.tool_choice),
        "generationConfig": _generation_config(request) or None,
        "serviceTier": options.service_tier,
        "contents": _contents(rest, replay),
    }
    return body_of(fields, options.extras, _OWN_FIELDS)


def _generation_config(request: ModelRequest) -> Fields:
    options = request.options
    fields: Fields = {
        "temperature": options.temperature,
        "topP": options.top_p,
        "topK": options.top_k,
        "maxOutputTokens": options.max_tokens,
        "stopSequences": list(options.stop) if options.stop else None,
        "seed": options.random_seed,
        "responseLogprobs": options.logprobs,
        "logprobs": options.top_logprobs,
        "thinkingConfig": _thinking_config(options) or None,
    }
    if request.schema is not None:
        fields["responseMimeType"] = "application/json"
        fields["responseJsonSchema"] = answer_schema(request.schema)
    return {name: value for name, value in fields.items() if value is not None}


def _thinking_config(options: SamplingOptions) -> Fields:
    config: Fields = {}
    if options.thoughts is not None:
        config["includeThoughts"] = options.thoughts
    if options.max_thinking_tokens is not None:
        config["thinkingBudget"] = options.max_thinking_tokens
    effort = options.reasoning_effort
    if effort == "none":
        config["thinkingBudget"] = 0
    elif effort is not None:
        config["thinkingLevel"] = _LEVELS.get(effort, effort.upper())
    return config


def _tool(tool: ToolDeclaration) -> Fields:
    schema = text_enums(parameters(tool))
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": schema}


def _tool_config(choice: str | None) -> Fields | None:
    if choice is None:
        return None
    if choice in ("auto", "none", "any"):
        return {"functionCallingConfig": {"mode": choice.upper()}}
    return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice]}}


def _contents(messages: Sequence[Message], replay: Replay) -> list[Fields]:
    wire: list[Fields] = []
    names: dict[str, str] = {}
    media: list[Fields] = []
    for message in results_in_call_order(messages):
        if isinstance(message, ToolMessage):
            media += map(_media, message.modalities)
        elif media:
            # After the results of all tools, and in their content.
            wire[-1]["parts"] += media
            media = []
        names |= {call.id: call.name for call in message.tool_calls}
        role = "model" if isinstance(message, AIMessage) else "user"
        parts = _parts(message, replay, names)
        if parts and wire and wire[-1]["role"] == role:
            # Results of one step must share a content, before any text.
            wire[-1]["parts"] += parts
        elif parts:
            wire.append({"role": role, "parts": parts})
    if media:
        wire[-1]["parts"] += media
    return wire


def _parts(message: Message, replay: Replay, names: Mapping[str, str]) -> list[Fields]:
    match message:
        case AIMessage():
            return _signed(list(_answer_parts(message, replay)))
        case ToolMessage():
            return [_result(message, names)]
        case SystemMessage():
            return [{"text": f"<system>{text}</system>"} for text in texts(message)]
    return [
        _media(part) if isinstance(part, Modality) else {"text": part.text}
        for part in message.parts
        if isinstance(part, Modality) or (isinstance(part, Text) and part.text.strip())
    ]


def _media(part: Modality) -> Fields:
    kind = {} if part.mime_type is None else {"mimeType": part.mime_type}
    if part.uri is not None:
        return {"fileData": {**kind, "fileUri": part.uri}}
    return {"inlineData": {**kind, "data": part.base64}}


def _result(message: ToolMessage, names: Mapping[str, str]) -> Fields:
    response = {"error" if message.is_error else "result": message.text}
    result = {"name": message.name or names[message.call_id], "response": response}
    return {"functionResponse": {**_id(message.call_id), **result}}


def _answer_parts(message: AIMessage, replay: Replay) -> Iterator[Fields]:
    following: Mapping[str, Any] = {}
    for part in message.parts:
        if isinstance(part, Thought):
            payload = replay.payload(part) or {}
            following = payload.get("next") or {}
            words = replay.words(part)
            if payload.get("block") or words:
                yield payload.get("block") or {"text": words}
            continue
        if isinstance(part, ToolCall):
            call = {**_id(part.id), "name": part.name, "args": part.args or {}}
            yield {"functionCall": call, **following}
        elif isinstance(part, Text) and part.text.strip():
            yield {"text": part.text, **following}
        elif isinstance(part, Modality):
            yield {**_media(part), **following}
        following = {}


def _signed(parts: list[Fields]) -> list[Fields]:
    """The first call of an answer needs a signature; the others of the same answer have none."""
    for place, part in enumerate(parts):
        if "functionCall" in part:
            if SIGNATURE not in part:
                parts[place] = {**part, SIGNATURE: UNSIGNED}
            break
    return parts


def _id(id: str) -> Fields:
    """An id that the server knows; it did not see those that were made here."""
    return {} if id.startswith("lf_") else {"id": id}
