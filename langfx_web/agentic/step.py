"""One step of a run as the app's hooks see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langfx_web.agentic.run import Run
from langfx_web.agentic.session import Session
from langfx_web.errors import InvalidValueError
from langfx_web.messages import Message, SystemMessage
from langfx_web.tools import Registry, Tool, ToolRegistry
from langfx_web.usage import Usage


class Step:
    """A model request and the calls that answer it, before, between and after.

    Setting `messages`, `instructions` or `tools` in a `before_step` hook changes this one request; the conversation
    stays. `index` counts from 0, `usage` is the run's cost so far, `stash` keeps what hooks want to remember until the
    run's end, `session` is where they can ask models of their own.
    """

    __slots__ = (
        "_closing",
        "_instructions",
        "_is_changed",
        "_messages",
        "_own",
        "_run",
        "_tools",
        "_transcript",
        "index",
        "is_stopped",
        "session",
        "text",
    )

    def __init__(
        self,
        run: Run,
        index: int,
        session: Session,
        transcript: Sequence[Message],
        *,
        tools: ToolRegistry,
        instructions: str | None,
        closing: str | None = None,
    ) -> None:
        """`transcript` is what is sent if nothing is changed; `closing` ends every system message."""
        self.index = index
        self.session = session
        self.is_stopped = False
        self.text: str | None = None
        self._run = run
        self._transcript = transcript
        self._tools = self._own = tools
        self._instructions = instructions
        self._closing = closing
        self._messages: tuple[Message, ...] | None = None
        self._is_changed = False

    @property
    def turn_id(self) -> str:
        """The id of the run; in a stored conversation that of its prompt."""
        return self._run.place.turn_id

    @property
    def session_id(self) -> str | None:
        """The stored conversation; None in a one-shot run."""
        return self._run.place.session_id

    @property
    def usage(self) -> Usage | None:
        """The cost of the run so far; None where it is not known."""
        return self._run.usage

    @property
    def stash(self) -> Registry:
        """Values of the app's own that live as long as the run."""
        return self._run.stash

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is sent, without the system message."""
        if self._messages is not None:
            return self._messages
        return tuple(self._transcript[1:] if isinstance(self._transcript[0], SystemMessage) else self._transcript)

    @messages.setter
    def messages(self, messages: Iterable[Message]) -> None:
        given = tuple(messages)
        for message in given:
            if not isinstance(message, Message):
                raise InvalidValueError(f"step.messages cannot have a {type(message).__name__}")
        self._messages = given
        self._is_changed = True

    @property
    def instructions(self) -> str | None:
        """What the agent's author tells the model, None for nothing."""
        return self._instructions

    @instructions.setter
    def instructions(self, text: str | None) -> None:
        if text is not None and not isinstance(text, str):
            raise InvalidValueError(f"step.instructions must be a str, not {type(text).__name__}")
        self._instructions = text
        self._is_changed = True

    @property
    def tools(self) -> ToolRegistry:
        """What the model may call in this step; changing it changes nothing but this step."""
        if self._tools is self._own:
            self._tools = ToolRegistry(self._own)
        return self._tools

    @tools.setter
    def tools(self, tools: Iterable[Tool]) -> None:
        self._tools = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)

    @property
    def offered(self) -> ToolRegistry:
        """The same, not to be changed; the agent's own tools as long as nobody looked at them."""
        return self._tools

    def request(self) -> Sequence[Message]:
        """The whole conversation as it is sent."""
        if not self._is_changed:
            return self._transcript
        text = paragraphs(self._instructions, self._closing)
        return [*([SystemMessage(text)] if text else []), *self.messages]

    def call_count(self, checksum: str) -> int:
        """How many calls of this checksum the run has seen, refused ones too."""
        return self._run.checksums[checksum]

    async def ask(self, reason: str, *, payload: Any = None, schema: Any = bool, timeout: float | None = None) -> Any:
        """Ask a person and wait for the answer, a value of `schema` (a type); `timeout` in seconds.

        `GateDeclinedError`, `GateTimeoutError`; `GateUnsupportedError` where nobody can be asked.
        """
        gate_id = self._run.next_gate(f"{self.turn_id}:{self.index}")
        return await self._run.ask(gate_id, reason, payload=payload, schema=schema, timeout=timeout)

    def stop(self, text: str | None = None) -> None:
        """End the run after this hook as if the model had finished; with `text`, that is the answer."""
        self.is_stopped = True
        self.text = text


def paragraphs(*texts: str | None) -> str | None:
    """Texts as one, a blank line between them; None where there is none."""
    return "\n\n".join(text for text in texts if text) or None
