"""Whether a failed attempt is made again, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from langfx_web.errors import (
    AuthenticationError,
    LMConnectionError,
    LMError,
    RateLimitError,
    TemporaryLMError,
    TransportError,
)
from langfx_web.llms.retry import RetryPolicy, server_wait

NOW = datetime(2030, 1, 1, 0, 0, 0, 400_000, tzinfo=UTC)


def policy(**settings: Any) -> RetryPolicy:
    """A policy whose chance is always 1."""
    return RetryPolicy(**{"max_attempts": 9, "chance": lambda: 1.0, **settings})


def asked(seconds: float | None) -> LMError:
    """A rate limit with the server's wait."""
    return RateLimitError("slow down", retry_after=seconds)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 3 "}, 3),
        ({"retry-after": "Tue, 01 Jan 2030 00:00:05 GMT"}, 4.6),
        ({"retry-after": format_datetime(NOW + timedelta(hours=1))}, 3599.6),
        ({"retry-after": "Mon, 31 Dec 2029 23:59:00 GMT"}, 0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "0", "retry-after": "1"}, 1),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "Mon, 999999999991 Jan 2030 00:00:00 GMT"}, None),
        ({"retry-after": "86400"}, 86400),
        ({}, None),
    ],
)
def test_bug_066_providers_15_waits_that_headers_ask_for(headers: dict[str, str], wait: float | None) -> None:
    """Seconds, fractions, dates and milliseconds are read; what makes no sense is no wait."""
    assert server_wait(headers, None, NOW) == (None if wait is None else pytest.approx(wait))


def google(delay: str, **error: Any) -> dict[str, Any]:
    """An error with a RetryInfo."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}, {"reason": "x"}]
    return {"error": {"code": 429, "details": details, **error}}


@pytest.mark.parametrize(
    ("body", "wait"),
    [
        (google("26s"), 26),
        (google("0.75s"), 0.75),
        ([google("34.4s")], 34.4),
        ({"error": {"message": '{"error": {"details": [{"retryDelay": "4s"}]}}'}}, 4),
        ({"error": {"message": "{broken"}}, None),
        (google("soon"), None),
        ({"error": "text"}, None),
        ("text", None),
    ],
)
def test_bug_068_providers_17_waits_that_error_bodies_ask_for(body: Any, wait: float | None) -> None:
    """A delay is found in the error's details, in a list of errors, and in JSON inside a message."""
    assert server_wait({}, body, NOW) == wait


def test_the_longer_of_two_waits_counts() -> None:
    """If header and body disagree, nobody is asked too early."""
    assert server_wait({"retry-after": "5"}, google("26s"), NOW) == 26
    assert server_wait({"retry-after": "30"}, google("26s"), NOW) == 30


def test_the_backoff_doubles_up_to_its_limit() -> None:
    """Without a server's wait, each wait is twice the last, less some chance, and never above the limit."""
    full = policy(chance=lambda: 0.0)
    assert [full.wait(TemporaryLMError(""), attempt) for attempt in (1, 2, 3, 8)] == [0.5, 1, 2, 60]
    assert policy().wait(TemporaryLMError(""), 1) == pytest.approx(0.375)
    assert policy(chance=lambda: 0.0, exponential=False).wait(TemporaryLMError(""), 5) == 0.5


def test_a_servers_wait_is_not_shortened() -> None:
    """Up to a tenth of a second is added, nothing is taken off, and no backoff is added."""
    assert policy().wait(asked(2), 1) == pytest.approx(2.1)
    assert policy(chance=lambda: 0.0).wait(asked(2), 5) == 2
    assert policy().wait(asked(0), 1) == pytest.approx(0.1)


def test_providers_16_a_wait_beyond_the_limit_is_not_slept() -> None:
    """A day is not waited for: the error stands, and says how long the server meant."""
    assert policy().wait(asked(86400), 1) is None
    assert policy(max_interval=100_000).wait(asked(86400), 1) is not None


def test_providers_11_retries_are_opt_in() -> None:
    """Unless attempts are given, there is one; the last one is not followed by another."""
    assert policy(max_attempts=None).wait(asked(0), 1) is None
    assert policy(max_attempts=2).wait(asked(0), 1) is not None
    assert policy(max_attempts=2).wait(asked(0), 2) is None


def test_what_cannot_pass_is_not_tried_again() -> None:
    """Errors that say they are not retryable stand at once, whatever their class."""
    assert policy().wait(AuthenticationError("no"), 1) is None
    assert policy().wait(TemporaryLMError("no", retryable=False), 1) is None
    assert policy().wait(AuthenticationError("try", retryable=True), 1) is not None


def test_providers_20_a_place_that_cannot_be_reached_is_tried_once_more() -> None:
    """The second failure to connect stands, however many attempts are left."""
    error = LMConnectionError("gone")
    error.__cause__ = TransportError("gone", code="unreachable")
    assert policy().wait(error, 1) is not None
    assert policy().wait(error, 2, unreachable_before=True) is None
    error.__cause__ = TransportError("cut", code="body_broken")
    assert policy().wait(error, 2, unreachable_before=True) is not None
