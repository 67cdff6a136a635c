"""An agent: configuration with two doors, the one-shot `invoke` and the stored conversation of `session`."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from langfx_web.agentic import (
    Action,
    Limits,
    Loop,
    Place,
    RunEnd,
    Session,
    error_info,
    of_one_run,
    opening,
)
from langfx_web.durable import AgentSession, new_id
from langfx_web.errors import BudgetExceededError, DeadlineExceededError, InvalidValueError, LangfxError
from langfx_web.events import TurnEnd, TurnEvent
from langfx_web.llms import Capabilities, LanguageModel, ModelChoice, Models
from langfx_web.messages import AIMessage, Message, Part
from langfx_web.stores import MemoryStore, Store
from langfx_web.tools import MAX_TOOLS, Tool, ToolRegistry

NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
MAX_INSTRUCTIONS = 64 * 1024

Prompt = str | Part | Message | Sequence[str | Part]


class Agent(Action):
    """A model, instructions and tools under a name; making one does no I/O.

    `instructions` (a str, or several joined by a blank line) are the whole system message. `limits` bound each run:
    `lf.Limits()` by default. `store` is where `session()` keeps conversations unless told otherwise; without one, in
    this object's own memory. `models` says what other models can do that a session may switch to: capabilities by id.
    `invalid_agent` or `invalid_tool` names what is wrong.
    """

    def __init__(
        self,
        *,
        lm: LanguageModel,
        name: str = "default",
        instructions: str | Sequence[str] | None = None,
        tools: Iterable[Tool] | Mapping[str, Tool] = (),
        limits: Limits | None = None,
        store: Store | None = None,
        models: Models | None = None,
    ) -> None:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise InvalidValueError(f"name: {name!r} is not 1 to 128 of A-Z a-z 0-9 . _ -", code="invalid_agent")
        if not isinstance(lm, LanguageModel):
            raise InvalidValueError(f"lm: {type(lm).__name__} is no LanguageModel", code="invalid_agent")
        self._name = name
        self._lm = lm
        self._instructions = _joined(instructions)
        self._tools = ToolRegistry(tools)
        if len(self._tools) > MAX_TOOLS:
            raise InvalidValueError(f"tools: an agent has at most {MAX_TOOLS}", code="invalid_agent")
        self._limits = limits or Limits()
        self._store = store
        self._models = _checked(models)

    @property
    def name(self) -> str:
        """Its name, the owner of its sessions."""
        return self._name

    @property
    def action_name(self) -> str:
        """What the trace calls it."""
        return f"Agent:{self._name}"

    @property
    def lm(self) -> LanguageModel:
        """The model it asks."""
        return self._lm

    @property
    def instructions(self) -> str | None:
        """The whole system message, None without one."""
        return self._instructions

    @property
    def tools(self) -> ToolRegistry:
        """What its model may call."""
        return self._tools

    @property
    def limits(self) -> Limits:
        """Bounds of each run, as its author gave them."""
        return self._limits

    @property
    def models(self) -> Models:
        """What is known of other models that a session may switch to, by id."""
        return self._models

    def with_tools(self, tools: Iterable[Tool]) -> Agent:
        """The same agent with more tools; `invalid_tool` for a name it has already."""
        return self._copy(tools=self._tools.joined(tools))

    def with_model(self, lm: LanguageModel) -> Agent:
        """The same agent with another model."""
        return self._copy(lm=lm)

    def _copy(self, **changes: Any) -> Agent:
        options: dict[str, Any] = {
            "lm": self._lm,
            "name": self._name,
            "instructions": self._instructions,
            "tools": self._tools,
            "limits": self._limits,
            "store": self._store,
            "models": self._models,
        }
        return Agent(**options | changes)

    async def invoke(  # type: ignore[override]  # an agent takes a prompt where other actions take fields
        self,
        session: Session | None = None,
        *,
        prompt: Prompt,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        returns_message: bool = False,
    ) -> Any:
        """One bounded run: the text of the last answer, or with `returns_message` the `AIMessage` with the run's usage.

        Raises what ended the run otherwise: `BudgetExceededError` with `.limit`, `DeadlineExceededError`,
        `IncompleteGenerationError` with `.partial`, `ContentFilteredError`, or the model's error.
        """
        message = await super().invoke(session, lm=lm or self._lm, timeout=timeout, prompt=prompt)
        return message if returns_message else message.text

    async def call(self, session: Session, **inputs: Any) -> AIMessage:
        """The run behind `invoke`."""
        loop = self._loop(inputs["prompt"], session.lm or self._lm)
        async with aclosing(loop.events()) as events:
            async for _ in events:
                pass
        assert loop.outcome is not None  # events() ends with an outcome
        session.spent(loop.outcome.usage)
        return _answer(loop.outcome)

    async def stream(self, prompt: Prompt, *, lm: LanguageModel | None = None) -> AsyncGenerator[TurnEvent, None]:
        """One bounded run as its events, the last one a `TurnEnd` that also tells of failure; leaving early cancels."""
        loop = self._loop(prompt, lm or self._lm)
        async with aclosing(loop.events()) as events:
            async for event in events:
                yield event
        outcome = loop.outcome
        assert outcome is not None  # events() ends with an outcome
        error = None if outcome.error is None else error_info(outcome.error)
        yield TurnEnd(stop_reason=outcome.stop_reason, usage=outcome.usage, error=error)

    def session(
        self,
        id: str | None = None,
        *,
        store: Store | None = None,
        model: ModelChoice | None = None,
        instructions: str | Sequence[str] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> AgentSession:
        """A stored conversation with this agent: an existing one by its id, or a new one. No I/O until first used.

        `model` (an id, `lf.ModelSettings` or the same as a mapping), `instructions` and `context` (JSON for its tools)
        hold for the turns that this object starts. Every tool must say whether it is `idempotent` (`invalid_tool`).
        """
        for tool in self._tools:
            if tool.idempotent is None:
                raise InvalidValueError(
                    f"tool {tool.name!r}: a stored conversation needs to know whether it is idempotent",
                    code="invalid_tool",
                )
        if store is None:
            store = self._store = self._store or MemoryStore()
        own = _joined(instructions)
        return AgentSession(self, id, store=store, model=model, instructions=own, context=context)

    def _loop(self, prompt: Prompt, lm: LanguageModel) -> Loop:
        return Loop(
            self,
            opening(self, Message.of(prompt)),
            lm=lm,
            limits=of_one_run(self._limits),
            place=Place(turn_id=new_id("msg_")),
            new_id=new_id,
        )

    def __repr__(self) -> str:
        return f"Agent({self._name!r}, tools={self._tools.names()})"


def _joined(instructions: str | Sequence[str] | None) -> str | None:
    texts = [instructions] if isinstance(instructions, str) else list(instructions or ())
    if not all(isinstance(text, str) for text in texts):
        raise InvalidValueError("instructions: must be a str or several", code="invalid_agent")
    joined = "\n\n".join(text for text in texts if text.strip())
    if len(joined.encode("utf-8", "replace")) > MAX_INSTRUCTIONS:
        raise InvalidValueError("instructions: more than 64 KiB", code="invalid_agent")
    return joined or None


def _checked(models: Models | None) -> Models:
    try:
        for known in (models := dict(models or {})).values():
            Capabilities().updated(known)
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidValueError(f"models: {error}", code="invalid_agent") from error
    return models


def _answer(outcome: RunEnd) -> AIMessage:
    reason = outcome.stop_reason
    if reason == "end_turn" and outcome.message is not None:
        return outcome.message.replace(usage=outcome.usage)
    if isinstance(outcome.error, LangfxError):
        raise outcome.error
    if reason == "max_time":
        raise DeadlineExceededError("the run reached its time limit")
    raise BudgetExceededError(f"the run ended at its limit {reason}", limit=reason)
