"""What the bridge bench asks of the worker."""

from collections.abc import AsyncIterator, Iterator

from js import location

import langfx_web as lf


def nothing() -> None:
    """The smallest command."""


def same(value: object) -> object:
    """Give back what was given."""
    return value


def words(count: int) -> Iterator[str]:
    """Texts as a model writes them."""
    return ("word " for _ in range(count))


def rows(count: int) -> Iterator[object]:
    """Small objects as an application makes them."""
    return ({"id": number, "name": "Ada", "score": 0.5} for number in range(count))


async def chunks() -> AsyncIterator[str]:
    """The text of each delta of an answer."""
    async for chunk in lf.llms.Anthropic("bench", base_url=f"{location.origin}/v1", api_key="none").stream("Speak."):
        if chunk.delta.text:
            yield chunk.delta.text
