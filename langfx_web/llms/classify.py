"""Which error a provider's or transport's failure is: one set of rules for HTTP errors and errors inside a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import (
    AuthenticationError,
    ContentFilteredError,
    ContextLimitError,
    JSONTextError,
    LMConnectionError,
    LMError,
    LMInputError,
    LMProtocolError,
    LMTimeoutError,
    MalformedGenerationError,
    ModelNotFoundError,
    QuotaExceededError,
    RateLimitError,
    TemporaryLMError,
    TransportError,
)
from langfx_web.json_text import loads
from langfx_web.masking import masked

MAX_TEXT = 500
"""Characters of an error's text."""

_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status that an error type inside a stream stands for."""

_CONTEXT = {"context_length_exceeded", "too_many_prompt_tokens", "request_too_large"}
_CONTEXT_WORDS = (
    "prompt is too long",
    "prompt too long",
    "context length",
    "context window",
    "maximum number of tokens",
)
_FILTER = {
    "content_filter",
    "content_policy_violation",
    "invalid_prompt",
    "bio_policy",
    "misalignment_policy_violation",
}
_AUTHENTICATION = {"authentication_error", "permission_error", "invalid_api_key", "API_KEY_INVALID"}
_QUOTA = {"billing_error", "insufficient_quota"}
_MODEL = {"model_not_found", "DeploymentNotFound"}
_RATE = {"rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"}
_TEMPORARY = {
    "overloaded_error",
    "api_error",
    "timeout_error",
    "server_error",
    "UNAVAILABLE",
    "INTERNAL",
    "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a provider says of a failure, in whatever shape it says it."""

    message: str = ""
    words: tuple[str, ...] = ()
    status: int | None = None
    request_id: str | None = None
    body: Any = None

    @property
    def code(self) -> str | None:
        """The most telling of the provider's own words."""
        return self.words[0] if self.words else None


def read_failure(body: Any) -> Failure | None:
    """The failure that a JSON document or event states, or None where it states none."""
    if isinstance(body, list):
        return next((failure for failure in map(read_failure, body) if failure), None)
    if not isinstance(body, Mapping):
        return None
    error = body.get("error")
    request_id = body.get("request_id")
    if isinstance(error, Mapping):
        return _failure(error, body, request_id)
    if body.get("type") == "error":
        return _failure(body, body, request_id)
    if error:
        return _failure({"message": str(error), "code": body.get("code")}, body, request_id)
    return None


def read_error_body(body: bytes) -> Failure:
    """The failure in the body of an HTTP error; text that is no JSON is its message."""
    text = body.decode("utf-8", "replace").strip()
    parsed: Any = None
    if text[:1] in ("{", "["):
        try:
            parsed = loads(text)
        except JSONTextError:
            parsed = None
    found = read_failure(parsed)
    if found is not None:
        return found
    if isinstance(parsed, Mapping):
        text = str(parsed.get("detail") or parsed.get("message") or text)
    return Failure(message=" ".join(text.split()), body=parsed)


def to_error(failure: Failure, *, status: int | None, sentence: str) -> LMError:
    """The error of our tree, by status and the provider's words; its text is `sentence` and the provider's message."""
    status = status or failure.status
    kind, hint = _kind(failure, status)
    detail = f": {failure.message}" if failure.message else ""
    word = f" ({failure.code})" if failure.code else ""
    error = kind(sentence + word + detail + hint)
    error.status = status
    error.provider_code = failure.code
    error.request_id = failure.request_id
    return error


def _kind(failure: Failure, status: int | None) -> tuple[type[LMError], str]:
    words = {*failure.words, *_reasons(failure.body)}
    message = failure.message.lower()
    if words & _CONTEXT or status == 413 or (status == 400 and any(word in message for word in _CONTEXT_WORDS)):
        return ContextLimitError, ""
    if words & _FILTER:
        return ContentFilteredError, ""
    if "tool_use_failed" in words:
        return MalformedGenerationError, ""
    if status in (401, 403) or words & _AUTHENTICATION or "incorrect api key" in message:
        return AuthenticationError, ""
    if status == 402 or words & _QUOTA:
        return QuotaExceededError, ""
    if words & _MODEL or (status == 404 and ("model" in message or "deployment" in message)):
        return ModelNotFoundError, ""
    if status == 404:
        return LMInputError, " (is base_url the version root of this API?)"
    if status == 429 or words & _RATE:
        return RateLimitError, ""
    if status in (408, 409, 425) or (status or 0) >= 500 or words & _TEMPORARY:
        return TemporaryLMError, ""
    return (LMInputError, "") if 400 <= (status or 0) < 500 else (LMError, "")


def _failure(error: Mapping[str, Any], whole: Mapping[str, Any], request_id: Any) -> Failure:
    """An error object: `type`, `code` (text or number) and `status` (a word) are its words."""
    words = tuple(
        value
        for key in ("code", "type", "status")
        if isinstance(value := error.get(key), str) and value and not (error is whole and value == "error")
    )
    numbers = [error.get(key) for key in ("code", "status_code")]
    status = next((number for number in numbers if isinstance(number, int) and 400 <= number < 600), None)
    return Failure(
        message=" ".join(str(error.get("message") or "").split()),
        words=words,
        status=status or next((_STATUS[word] for word in words if word in _STATUS), None),
        request_id=request_id if isinstance(request_id, str) else None,
        body=whole,
    )


def _reasons(body: Any) -> list[str]:
    error = body.get("error") if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    if not isinstance(details, list):
        return []
    return [str(detail["reason"]) for detail in details if isinstance(detail, Mapping) and "reason" in detail]


def from_transport(error: TransportError) -> LMError:
    """The model error of a failed exchange; the caller raises it from the original."""
    match error.code:
        case "connect_timeout" | "idle_timeout":
            return LMTimeoutError(error.message, retryable=True)
        case "insecure_url" | "mixed_content":
            return LMInputError(error.message, code=error.code)
        case "event_too_large" | "body_too_large":
            return LMProtocolError(error.message)
    return LMConnectionError(error.message, retryable=error.retryable)


def told(text: str, secrets: Sequence[str] = ()) -> str:
    """A text for people: keys masked, at most `MAX_TEXT` characters."""
    text = masked(text, secrets)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
