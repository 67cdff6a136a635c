"""What the cancel bench asks of the worker: an answer that is read on, or not, after its first text."""

import asyncio
from collections.abc import AsyncIterator

from js import location

import langfx_web as lf


async def texts(state: str) -> AsyncIterator[str]:
    """The text of each delta; a busy consumer takes a minute over the first one."""
    async for chunk in lf.llms.Anthropic("bench", base_url=f"{location.origin}/{state}/v1").stream("Speak."):
        if chunk.delta.text:
            yield chunk.delta.text
            if state == "consumer_busy":
                await asyncio.sleep(60)
