"""A user who speaks while a run goes on: the reply is cut, calls are not, and the next request has the words."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web.agentic import NullRecorder, Stop
from langfx_web.events import TextDelta, ToolEnd
from langfx_web.messages import UserMessage
from langfx_web.testing import StaticSequence
from langfx_web.tools import tool
from tests.agentic.trial import Heard, agent, calls, loop_of, run


async def test_a_recorder_may_end_the_run_between_two_steps() -> None:
    """With its own stop reason."""

    class Ending(NullRecorder):
        async def before_request(self, step: int) -> Any:
            return Stop("steered") if step == 1 else ()

    lm = StaticSequence([calls(("double", {"n": 1})), "never"])
    loop = loop_of(agent(lm), recorder=Ending())
    await run(loop)
    assert (loop.outcome.stop_reason, len(lm.requests)) == ("steered", 1)


class Steered(Heard):
    """Cuts the reply after some text, as a user does who has something to say."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = list(words)
        self.loop: Any = None
        self.said = 0

    async def event(self, event: Any) -> None:
        """Interrupt at each of the words."""
        await super().event(event)
        if isinstance(event, TextDelta) and self.words and self.words[0] in event.delta:
            self.words.pop(0)
            self.loop.interrupt()
            self.said += 1

    async def before_request(self, step: int) -> Any:
        """Say it."""
        said, self.said = self.said, 0
        return [UserMessage("No, in French.")] * said


async def test_a_user_who_speaks_while_a_reply_streams_cuts_it() -> None:
    """Its text stays, marked as incomplete, its calls do not; then the model hears of it."""
    recorder = Steered("world")
    lm = StaticSequence([calls(("double", {"n": 1}), text="Hello world, how"), "Bonjour"], chunk_size=6)
    loop = loop_of(agent(lm), recorder=recorder)
    recorder.loop = loop
    events = await run(loop)
    assert [message.text for message in loop.transcript] == ["go", "Hello world,", "No, in French.", "Bonjour"]
    assert loop.transcript[1].metadata == {"incomplete": True}
    assert not [event for event in events if isinstance(event, ToolEnd)]
    assert loop.outcome.stop_reason == "end_turn"


async def test_a_user_may_speak_before_the_reply_has_begun() -> None:
    """From another task, while the model is silent: it is asked again, with nothing of its own in between."""
    asked, answers = asyncio.Event(), [asyncio.Event(), asyncio.Event()]

    async def slow(request: Any) -> str:
        asked.set()
        await answers.pop(0).wait()
        return "late"

    recorder = Heard()
    said = [(), [UserMessage("Quick!")]]
    recorder.before_request = lambda step: asyncio.sleep(0, said[step])
    lm = StaticSequence([slow, "Bonjour"])
    loop = loop_of(agent(lm), recorder=recorder)
    task = asyncio.ensure_future(run(loop))
    await asked.wait()
    loop.interrupt()
    loop.interrupt()
    await task
    assert [message.text for message in loop.transcript] == ["go", "Quick!", "Bonjour"]
    assert (task.cancelling(), loop.outcome.stop_reason) == (0, "end_turn")


async def test_between_replies_there_is_nothing_to_cut() -> None:
    """The calls finish, and the words come with the next request."""

    @tool(idempotent=True)
    async def look() -> str:
        """Let the user speak meanwhile."""
        loop.interrupt()
        await asyncio.sleep(0)
        return "seen"

    lm = StaticSequence([calls(("look", {})), "done"])
    loop = loop_of(agent(lm, look))
    await run(loop)
    assert [message.text for message in loop.transcript] == ["go", "", "seen", "done"]


async def test_cancelling_counts_more_than_an_interruption() -> None:
    """Both at once end the run."""
    asked = asyncio.Event()

    async def slow(request: Any) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "never"

    lm = StaticSequence([slow, "never"])
    loop = loop_of(agent(lm))
    task = asyncio.ensure_future(run(loop))
    await asked.wait()
    loop.interrupt()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(lm.requests) == 1
