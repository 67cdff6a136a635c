"""When an answer that came to its end is a success, and which error it is otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from langfx_web.errors import (
    ContentFilteredError,
    ContextLimitError,
    EmptyGenerationError,
    IncompleteGenerationError,
    LMError,
    MalformedGenerationError,
)
from langfx_web.llms.delta import Finish, FinishReason
from langfx_web.messages import AIMessage, Part, ToolCall


def finish_reason(ended: Finish, parts: Sequence[Part]) -> FinishReason:
    """Our word for an ending; whether it is for tool calls is decided by calls being there."""
    if ended.reason in ("stop", "tool_calls"):
        return "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"
    return ended.reason


def outcome(message: AIMessage, ended: Finish | None, *, refusal: str, has_output: bool) -> LMError | None:
    """The error that this answer is, or None for a success; `has_output` says that there is anything but thoughts."""
    if ended is None:
        return IncompleteGenerationError("the answer was cut off before its end")
    error = _failure(message, ended, refusal, has_output)
    if error is not None:
        error.finish_reason = message.finish_reason
        error.raw_finish_reason = message.raw_finish_reason
    return error


def _failure(message: AIMessage, ended: Finish, refusal: str, has_output: bool) -> LMError | None:
    match message.finish_reason:
        case "length" if ended.failure == "context":
            return ContextLimitError("the answer filled the model's context window")
        case "length":
            return IncompleteGenerationError("the answer reached its output limit (max_tokens)", retryable=False)
        case "content_filter":
            return ContentFilteredError(
                f"the model refused: {refusal[:300] or 'no reason given'}", refusal=refusal or None
            )
        case "malformed":
            return MalformedGenerationError(f"the provider could not use what its model wrote ({ended.raw})")
        case "other" if ended.failure == "unfinished" or not has_output:
            return IncompleteGenerationError(f"the answer ended as {ended.raw!r}", retryable=False)
        case "pause":
            return None
    if refusal:
        return ContentFilteredError(f"the model refused: {refusal[:300]}", refusal=refusal)
    if not has_output:
        return EmptyGenerationError("the model answered nothing")
    return None
