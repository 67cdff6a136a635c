"""What the stream bench asks of the worker: the texts of a model's answer, and a turn of an agent on the same model."""

from collections.abc import AsyncIterator

from js import location

import langfx_web as lf


def model(pace: str) -> lf.llms.Anthropic:
    """The scripted model at one pace."""
    return lf.llms.Anthropic("bench", base_url=f"{location.origin}/{pace}/v1", api_key="none")


async def texts(pace: str) -> AsyncIterator[str]:
    """The text of each delta."""
    async for chunk in model(pace).stream("Speak."):
        if chunk.delta.text:
            yield chunk.delta.text


agent = lf.Agent(name="bench", lm=model("bursts"))
