"""Which error a failure is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langfx_web import errors
from langfx_web.errors import LMError, TransportError
from langfx_web.llms.classify import from_transport, read_error_body, read_failure, to_error, told


def error_of(status: int | None, body: Any) -> LMError:
    """The error of a body with a status."""
    return to_error(read_error_body(json.dumps(body).encode()), status=status, sentence="The provider answered")


def anthropic(kind: str, message: str = "no") -> dict[str, Any]:
    """An error as Anthropic writes it."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def openai(message: str = "no", **fields: Any) -> dict[str, Any]:
    """An error as OpenAI and compatible servers write it."""
    return {"error": {"message": message, **fields}}


CASES = [
    (400, anthropic("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"), errors.ContextLimitError),
    (413, anthropic("request_too_large"), errors.ContextLimitError),
    (400, openai(code="context_length_exceeded"), errors.ContextLimitError),
    (400, openai(code="content_filter"), errors.ContentFilteredError),
    (400, openai(code="tool_use_failed"), errors.MalformedGenerationError),
    (401, anthropic("authentication_error"), errors.AuthenticationError),
    (403, anthropic("permission_error"), errors.AuthenticationError),
    (400, {"code": "bad", "error": "Incorrect API key provided: xa***"}, errors.AuthenticationError),
    (400, openai(status="INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}]), errors.AuthenticationError),
    (402, anthropic("billing_error"), errors.QuotaExceededError),
    (429, openai(type="insufficient_quota", code="insufficient_quota"), errors.QuotaExceededError),
    (404, anthropic("not_found_error", "model: nope"), errors.ModelNotFoundError),
    (404, openai(code="DeploymentNotFound"), errors.ModelNotFoundError),
    (400, openai(code="model_not_found"), errors.ModelNotFoundError),
    (404, {"detail": "Not Found"}, errors.LMInputError),
    (429, anthropic("rate_limit_error"), errors.RateLimitError),
    (None, openai(status="RESOURCE_EXHAUSTED", code=429), errors.RateLimitError),
    (408, {}, errors.TemporaryLMError),
    (409, anthropic("conflict_error"), errors.TemporaryLMError),
    (500, "no JSON object", errors.TemporaryLMError),
    (529, anthropic("overloaded_error"), errors.TemporaryLMError),
    (None, anthropic("overloaded_error"), errors.TemporaryLMError),
    (None, anthropic("rate_limit_error"), errors.RateLimitError),
    (None, openai(code=503), errors.TemporaryLMError),
    (422, openai(type="unprocessable"), errors.LMInputError),
    (None, openai(type="strange"), errors.LMError),
    (302, {}, errors.LMError),
]


@pytest.mark.parametrize(("status", "body", "kind"), CASES)
def test_status_and_words_decide(status: int | None, body: Any, kind: type[LMError]) -> None:
    """One set of rules over the status and the provider's words gives the class, its code, and whether to retry."""
    error = error_of(status, body)
    assert type(error) is kind
    assert (error.code, error.retryable) == (kind.default_code, kind.default_retryable)


def test_an_error_has_what_the_provider_said() -> None:
    """Status, the provider's word and its request id are attributes; the text says all of it in one line."""
    error = error_of(404, anthropic("not_found_error", "model:\n nope"))
    assert (error.status, error.provider_code, error.request_id) == (404, "not_found_error", "req_1")
    assert str(error) == "The provider answered (not_found_error): model: nope"


def test_a_404_without_a_model_hints_at_the_address() -> None:
    """A wrong `base_url` is the usual cause of a 404."""
    assert "base_url" in str(error_of(404, {"detail": "Not Found"}))


@pytest.mark.parametrize(
    ("event", "words", "message"),
    [
        ({"error": {"message": "m", "code": "c", "type": "t"}}, ("c", "t"), "m"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, ("overloaded_error",), "m"),
        ({"type": "error", "code": "c", "message": "m"}, ("c",), "m"),
        ({"error": "died"}, (), "died"),
        ([{"error": {"status": "S", "message": "m"}}], ("S",), "m"),
    ],
)
def test_all_shapes_of_an_error_in_a_stream_are_read(event: Any, words: tuple[str, ...], message: str) -> None:
    """Objects, texts, nested and flat events and arrays all state a failure."""
    failure = read_failure(event)
    assert failure is not None
    assert (failure.words, failure.message) == (words, message)


@pytest.mark.parametrize("event", [{"type": "ping"}, {"error": None, "id": 1}, {"error": ""}, [], [{}], "x", None])
def test_what_states_no_failure_is_none(event: Any) -> None:
    """An event is an error only if it says so."""
    assert read_failure(event) is None


def test_a_body_that_is_no_json_is_its_own_message() -> None:
    """Web pages and plain texts are kept as words, in one line."""
    assert read_error_body(b"<html>\n <b>Bad   gateway</b>").message == "<html> <b>Bad gateway</b>"
    assert read_error_body(b"{broken").message == "{broken"
    assert read_error_body(b"\xff").message == "\ufffd"
    assert read_error_body(b"").message == ""


@pytest.mark.parametrize(
    ("code", "kind", "retryable", "ours"),
    [
        ("unreachable", errors.LMConnectionError, True, "connection"),
        ("body_broken", errors.LMConnectionError, True, "connection"),
        ("connect_timeout", errors.LMTimeoutError, True, "timeout"),
        ("idle_timeout", errors.LMTimeoutError, True, "timeout"),
        ("event_too_large", errors.LMProtocolError, False, "protocol"),
        ("body_too_large", errors.LMProtocolError, False, "protocol"),
        ("insecure_url", errors.LMInputError, False, "insecure_url"),
        ("mixed_content", errors.LMInputError, False, "mixed_content"),
    ],
)
def test_transport_errors_have_a_model_error(code: str, kind: type[LMError], retryable: bool, ours: str) -> None:
    """Each way an exchange fails is one class and code, and keeps whether trying again can help."""
    error = from_transport(TransportError("what happened", code=code))
    assert (type(error), error.retryable, error.code, str(error)) == (kind, retryable, ours, "what happened")


def test_providers_22_keys_are_masked() -> None:
    """The resolved key, and what looks like any key, never stands in an error's text."""
    assert told("key abcdef123 is bad", ("abcdef123",)) == "key *** is bad"
    assert told("Authorization: Bearer eyJ.x-y, sk-ant-api03_abc and AIzaSyD-123") == "Authorization: ***, *** and ***"
    assert told("a short key is no key: abc", ("abc",)) == "a short key is no key: abc"


def test_providers_23_a_text_is_bounded() -> None:
    """However long a provider's message is, an error's text is not."""
    assert len(told("x" * 100_000)) == 500
    assert "abcdef123" not in told("x" * 494 + "abcdef123", ("abcdef123",))
