"""What the options of models have to be; `invalid_argument` names the one that is not.

It never shows a value of the wrong kind, which may be a secret that landed in the wrong place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langfx_web.errors import InvalidArgumentError

NUMBERS = ("temperature", "top_p")
COUNTS = ("max_tokens", "top_k", "random_seed", "top_logprobs", "max_thinking_tokens")
FLAGS = ("logprobs", "thoughts", "parallel_tool_calls")
TEXTS = ("reasoning_effort", "service_tier")


def wrong(option: str, wanted: str, value: object) -> InvalidArgumentError:
    """The error of an option whose value is of the wrong kind."""
    return InvalidArgumentError(
        f"{option} must be {wanted}, not of type {type(value).__name__}", details={"option": option}
    )


def flag(option: str, value: Any) -> bool:
    """True or False as it is."""
    if not isinstance(value, bool):
        raise wrong(option, "True or False", value)
    return value


def count(option: str, value: Any) -> int:
    """A whole number as it is."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(option, "an int", value)
    return value


def text(option: str, value: Any) -> str:
    """A text as it is."""
    if not isinstance(value, str):
        raise wrong(option, "a str", value)
    return value


def texts(option: str, value: Any) -> tuple[str, ...]:
    """Several texts; one alone is a list of one."""
    found = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else None
    if found is None or not all(isinstance(item, str) for item in found):
        raise wrong(option, "a str or several", value)
    return found


def several(option: str, value: Any) -> tuple[Any, ...]:
    """The items of an iterable; a text or mapping, though it can be iterated, is one thing."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise wrong(option, "several in a list", value)
    return tuple(value)


def words(option: str, value: Any) -> tuple[str, ...]:
    """Several texts in a list, even if it is one."""
    return tuple(text(option, item) for item in several(option, value))


def fields(option: str, value: Any) -> Mapping[str, Any]:
    """A mapping whose names are texts, as it is."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise wrong(option, "a mapping with names", value)
    return value


def headers(option: str, value: Any) -> dict[str, str]:
    """Headers by their lower-case names."""
    if not all(isinstance(item, str) for item in fields(option, value).values()):
        raise wrong(option, "a mapping of str to str", value)
    return {name.lower(): item for name, item in value.items()}


def sampling(option: str, value: Any) -> Any:
    """The value of a sampling option in the form in which it is kept."""
    return value if value is None else _SAMPLING[option](option, value)


def _number(option: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise wrong(option, "a number", value)
    return value


def _candidates(option: str, value: Any) -> int:
    if count(option, value) < 1:
        raise InvalidArgumentError(f"{option} must be 1 or more, not {value}", details={"option": option})
    return int(value)


_SAMPLING: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(NUMBERS, _number),
    **dict.fromkeys(COUNTS, count),
    "n": _candidates,
    **dict.fromkeys(FLAGS, flag),
    **dict.fromkeys(TEXTS, text),
    "stop": texts,
    "extras": fields,
}
