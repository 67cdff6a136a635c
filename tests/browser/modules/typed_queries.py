"""Typed answers of the scripted provider."""

from dataclasses import dataclass
from datetime import date

from js import location

import langfx_web as lf

lm = lf.llms.Anthropic(model="scripted", base_url=f"{location.origin}/v1")


@dataclass
class Note:
    """What was said, when, and how often."""

    text: str
    day: date
    times: list[int]


async def note(prompt: str) -> Note:
    """The answer as a value."""
    return await lf.query(prompt, Note, lm=lm)


def stream(prompt: str) -> lf.QueryStream:
    """The answer while it is written."""
    return lf.query_stream(prompt, Note, lm=lm)
