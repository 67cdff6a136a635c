"""Whether and when a failed attempt is made again; what a server says about waiting."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from langfx_web.errors import JSONTextError, LMError, TransportError
from langfx_web.json_text import loads

_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long apart. `max_attempts` counts all attempts; None is one. Times in seconds."""

    max_attempts: int | None = None
    interval: float = 0.5
    exponential: bool = True
    max_interval: float = 60.0
    chance: Callable[[], float] = random.random

    def wait(self, error: LMError, attempt: int, *, unreachable_before: bool = False) -> float | None:
        """Seconds until the next attempt after this failed one (the first is 1), or None where there is none.

        A server's wait is not shortened; one above `max_interval` is not slept. A place that cannot be reached is tried
        once more only.
        """
        if not error.retryable or attempt >= (self.max_attempts or 1):
            return None
        if unreachable_before and is_unreachable(error):
            return None
        if error.retry_after is not None:
            return error.retry_after + 0.1 * self.chance() if error.retry_after <= self.max_interval else None
        backoff = self.interval * 2.0 ** (attempt - 1) if self.exponential else self.interval
        return float(min(self.max_interval, backoff) * (1 - 0.25 * self.chance()))


def is_unreachable(error: LMError) -> bool:
    """Whether no connection was made at all."""
    return isinstance(error.__cause__, TransportError) and error.__cause__.code == "unreachable"


def server_wait(headers: Mapping[str, str], body: Any, now: datetime) -> float | None:
    """Seconds the server asks to wait, from its headers and from the body of its error; the longer counts."""
    waits = [wait for wait in (_header_wait(headers, now), *_body_waits(body)) if wait is not None]
    return max(waits, default=None)


def _header_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    exact = _NUMBER.fullmatch(headers.get("retry-after-ms", ""))
    if exact and float(exact.group(1)) > 0:
        return float(exact.group(1)) / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    if number := _NUMBER.fullmatch(value):
        return float(number.group(1))
    try:
        date = parsedate_to_datetime(value)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (date - now).total_seconds())
    except (ValueError, OverflowError):
        return None


def _body_waits(body: Any, levels: int = 3) -> Iterator[float]:
    """`RetryInfo` of Google's error details: in an error object, in a list of them, in a JSON text inside a message."""
    if not levels:
        return
    if isinstance(body, list):
        for item in body:
            yield from _body_waits(item, levels)
    elif isinstance(body, Mapping):
        error = body.get("error")
        error = error if isinstance(error, Mapping) else body
        details = error.get("details")
        for detail in details if isinstance(details, list) else []:
            delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
            if isinstance(delay, str) and (match := _DURATION.fullmatch(delay)):
                yield float(match.group(1))
        message = error.get("message")
        if isinstance(message, str) and message.lstrip()[:1] in ("{", "["):
            yield from _body_waits(_parsed(message), levels - 1)


def _parsed(text: str) -> Any:
    try:
        return loads(text)
    except JSONTextError:
        return None
