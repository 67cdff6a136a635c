"""A request → the body of Messages. Encoding is append-only: a longer conversation begins with the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from langfx_web.errors import LMInputError
from langfx_web.llms.anthropic.decode import REPLAY_TAG
from langfx_web.llms.anthropic.schema import ANTHROPIC_DIALECT
from langfx_web.llms.conversation import fitting_id, leading_system, refuse_blank_end
from langfx_web.llms.replay import Replay
from langfx_web.llms.request import ModelRequest, results_in_call_order
from langfx_web.llms.sampling import SamplingOptions
from langfx_web.llms.wire_body import body_of, parameters, refuse_options
from langfx_web.llms.wire_schema import told
from langfx_web.messages import (
    AIMessage,
    CachePoint,
    Message,
    Modality,
    Part,
    SystemMessage,
    Text,
    Thought,
    ToolCall,
    ToolDeclaration,
    ToolMessage,
    UserMessage,
)

Block: TypeAlias = dict[str, Any]

DEFAULT_MAX_TOKENS = 4096
"""The wire requires a limit."""

MAX_CACHE_MARKS = 4
"""Places where a conversation can be marked as worth caching, the whole of it included."""

_ID = re.compile(r"[A-Za-z0-9_-]+")
_REFUSED_OPTIONS = ("random_seed", "logprobs", "top_logprobs")
_SAME_OPTIONS = ("temperature", "top_p", "top_k", "service_tier")
_MARKABLE = ("text", "image", "document", "tool_use", "tool_result")
_OWN_FIELDS = ("messages", "model", "stream")


def body(request: ModelRequest, *, model: str, replay: Replay, prompt_caching: bool, stream: bool) -> dict[str, Any]:
    """The JSON body; raises `LMInputError` for what this wire cannot say."""
    options = request.options
    refuse_options(options, _REFUSED_OPTIONS, "Anthropic Messages")
    thinking = _thinking(request, replay)
    disabled = thinking is not None and thinking["type"] == "disabled"
    if request.drop_thoughts and disabled:
        replay = replace(replay, tags=frozenset())
    system, messages = _conversation(request.messages, replay)
    _forget_old_marks(system, messages, most=MAX_CACHE_MARKS - prompt_caching)
    fields: dict[str, Any] = {
        "model": model,
        "max_tokens": _limit(options),
        "system": system or None,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "tool_choice": _tool_choice(request),
        "thinking": _unbound(thinking) if request.drop_thoughts and not disabled else thinking,
        "output_config": _output_config(request) or None,
        "stop_sequences": list(options.stop) if options.stop else None,
        "cache_control": {"type": "ephemeral"} if prompt_caching else None,
        **{name: getattr(options, name) for name in _SAME_OPTIONS},
        "messages": messages,
        "stream": stream or None,
    }
    return body_of(fields, options.extras, _OWN_FIELDS)


def _limit(options: SamplingOptions) -> int:
    return DEFAULT_MAX_TOKENS if options.max_tokens is None else options.max_tokens


def _thinking(request: ModelRequest, replay: Replay) -> Block | None:
    options = request.options
    budget = options.max_thinking_tokens
    if options.reasoning_effort == "none":
        if budget is not None:
            raise LMInputError("reasoning_effort='none' and max_thinking_tokens exclude each other")
        return {"type": "disabled"}
    thinking: Block | None = None
    if budget is not None:
        limit = _limit(options)
        if not 1024 <= budget < limit:
            raise LMInputError(f"max_thinking_tokens must be from 1024 to below max_tokens ({limit}), not {budget}")
        if not _lacks_thinking(request.messages, replay):
            thinking = {"type": "enabled", "budget_tokens": budget}
    if options.thoughts:
        thinking = (thinking or {"type": "adaptive"}) | {"display": "summarized"}
    return thinking


def _lacks_thinking(messages: Sequence[Message], replay: Replay) -> bool:
    """Whether an open tool loop has an assistant message without thinking to send: the wire refuses a budget then."""
    if not messages or not isinstance(messages[-1], ToolMessage):
        return False
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return False
        if isinstance(message, AIMessage):
            blocks = [block for thought in message.thoughts if (block := _replayed(thought, replay))]
            if not any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
                return True
    return False


def _unbound(thinking: Block | None) -> Block:
    return (thinking or {"type": "adaptive"}) | {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}


def _output_config(request: ModelRequest) -> Block:
    config: Block = {}
    effort = request.options.reasoning_effort
    if effort is not None and effort != "none":
        config["effort"] = "low" if effort == "minimal" else effort
    if request.schema is not None:
        config["format"] = {"type": "json_schema", "schema": told(request.schema, ANTHROPIC_DIALECT)}
    return config


def _tool(tool: ToolDeclaration) -> Block:
    return {"name": tool.name, "description": tool.description, "input_schema": parameters(tool)}


def _tool_choice(request: ModelRequest) -> Block | None:
    choice = request.tool_choice
    parallel = request.options.parallel_tool_calls
    if choice is None and (parallel is not False or not request.tools):
        return None
    kinds = {None: "auto", "auto": "auto", "none": "none", "any": "any"}
    wire: Block = {"type": kinds[choice]} if choice in kinds else {"type": "tool", "name": choice}
    if parallel is False and choice != "none":
        wire["disable_parallel_tool_use"] = True
    return wire


def _conversation(messages: Sequence[Message], replay: Replay) -> tuple[list[Block], list[dict[str, Any]]]:
    refuse_blank_end(messages)
    leading, rest = leading_system(messages)
    system: list[Block] = []
    for message in leading:
        system += _said(message.parts, system)
    wire: list[dict[str, Any]] = []
    for message in results_in_call_order(rest):
        role = "assistant" if isinstance(message, AIMessage) else "user"
        blocks = _blocks(message, replay, wire[-1]["content"] if wire else system)
        if blocks and role == "user" and wire and wire[-1]["role"] == "user":
            # Results of one step must share a message, before any text.
            wire[-1]["content"] += blocks
        elif blocks:
            wire.append({"role": role, "content": blocks})
    _trim_prefill(wire)
    return system, wire


def _forget_old_marks(system: list[Block], messages: list[dict[str, Any]], *, most: int) -> None:
    """Leave the newest cache marks only: the wire refuses more than a few, and long conversations gather them."""
    blocks = [*system, *(block for message in messages for block in message["content"])]
    marked = [block for block in blocks if "cache_control" in block and block["type"] in _MARKABLE]
    for block in marked[: max(0, len(marked) - most)]:
        del block["cache_control"]


def _trim_prefill(wire: list[dict[str, Any]]) -> None:
    """The wire refuses a last assistant text that ends in blanks."""
    if wire and wire[-1]["role"] == "assistant" and wire[-1]["content"][-1]["type"] == "text":
        last = wire[-1]["content"][-1]
        wire[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}


def _blocks(message: Message, replay: Replay, before: list[Block]) -> list[Block]:
    match message:
        case AIMessage():
            return list(_answer_blocks(message, replay))
        case ToolMessage():
            return [_result(message)]
        case SystemMessage():
            return [{**block, "text": f"<system>{block['text']}</system>"} for block in _said(message.parts, before)]
    return _said(message.parts, before)


def _said(parts: Iterable[Part], before: list[Block]) -> list[Block]:
    """The blocks of what a user or the application says; a cache point marks the block before it, in here or there."""
    blocks: list[Block] = []
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, Modality):
            blocks.append(_media(part))
        elif isinstance(part, CachePoint):
            _mark(blocks or before, part)
    return blocks


def _mark(blocks: list[Block], point: CachePoint) -> None:
    # A thought goes back as it came, and takes no mark.
    if blocks and blocks[-1]["type"] in _MARKABLE:
        blocks[-1] = {**blocks[-1], "cache_control": _cache_control(point)}


def _media(part: Modality) -> Block:
    source = {"type": "url", "url": part.uri}
    if part.data is not None:
        source = {"type": "base64", "media_type": part.mime_type, "data": part.base64}
    return {"type": "document" if part.type == "pdf" else "image", "source": source}


def _cache_control(point: CachePoint) -> Block:
    return {"type": "ephemeral"} if point.ttl is None else {"type": "ephemeral", "ttl": point.ttl}


def _result(message: ToolMessage) -> Block:
    result: Block = {"type": "tool_result", "tool_use_id": _wire_id(message.call_id)}
    if message.modalities:
        result["content"] = _said((part for part in message.parts if not isinstance(part, CachePoint)), [])
    elif message.text.strip():
        result["content"] = message.text
    if message.is_error:
        result["is_error"] = True
    for point in message.parts:
        if isinstance(point, CachePoint):
            result["cache_control"] = _cache_control(point)
    return result


def _answer_blocks(message: AIMessage, replay: Replay) -> Iterator[Block]:
    following: Mapping[str, Any] = {}
    for part in message.parts:
        if isinstance(part, Thought):
            following = (replay.payload(part) or {}).get("next") or {}
            block = _replayed(part, replay)
            if block is not None:
                yield block
            continue
        if isinstance(part, ToolCall):
            call = {"type": "tool_use", "id": _wire_id(part.id), "name": part.name, "input": part.args or {}}
            yield {**call, **following}
        elif isinstance(part, Text) and part.text.strip():
            yield {"type": "text", "text": part.text}
        following = {}


def _replayed(thought: Thought, replay: Replay) -> Block | None:
    """The block a thought goes back as, or None where it stays behind."""
    block: Block | None = (replay.payload(thought) or {}).get("block")
    words = replay.words(thought)
    return {"type": "text", "text": words} if words else block


def _wire_id(id: str) -> str:
    return fitting_id(id, _ID)


OWN_REPLAYS = frozenset({REPLAY_TAG})
