"""What the stream bench asks of the worker: the texts of a model's answer, and a turn of an agent on the same model."""

from collections.abc import AsyncIterator

from js import location

import langfx_web as lf

MODELS: dict[str, type[lf.LanguageModel]] = {
    "anthropic": lf.llms.Anthropic,
    "openai": lf.llms.OpenAI,
    "chat": lf.llms.OpenAIChat,
    "gemini": lf.llms.Gemini,
}


def model(wire: str, pace: str) -> lf.LanguageModel:
    """The scripted model behind a wire at one pace."""
    return MODELS[wire]("bench", base_url=f"{location.origin}/{pace}/v1", api_key="none")


async def texts(wire: str, pace: str) -> AsyncIterator[str]:
    """The text of each delta."""
    async for chunk in model(wire, pace).stream("Speak."):
        if chunk.delta.text:
            yield chunk.delta.text


agent = lf.Agent(name="bench", lm=model("anthropic", "bursts"))
