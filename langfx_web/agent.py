"""An agent: configuration with two doors, the one-shot `invoke` and the stored conversation of `session`."""

from __future__ import annotations

import copy
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langfx_web.agentic import (
    Action,
    AfterStep,
    AllowTool,
    BeforeStep,
    Hooks,
    Limits,
    Policy,
    of_one_run,
    several,
)
from langfx_web.deferred import later
from langfx_web.errors import InvalidValueError, SchemaError
from langfx_web.events import TurnEvent
from langfx_web.llms import Capabilities, LanguageModel, ModelChoice, Models
from langfx_web.messages import AIMessage, Message, Part
from langfx_web.stores import MemoryStore, Store
from langfx_web.tools import MAX_TOOLS, Tool, ToolRegistry

if TYPE_CHECKING:
    from langfx_web import durable, observation
    from langfx_web.agentic import Answers, Budget, OnGate, Session, agent_tool, handover, loop, one_shot, run
    from langfx_web.agentic import output as outputs
    from langfx_web.durable import AgentSession
    from langfx_web.observation import Observer
else:
    # A worker is ready before it has read what runs an agent, and what few agents need.
    agent_tool = later("langfx_web.agentic.agent_tool")
    durable = later("langfx_web.durable")
    handover = later("langfx_web.agentic.handover")
    loop = later("langfx_web.agentic.loop")
    observation = later("langfx_web.observation")
    one_shot = later("langfx_web.agentic.one_shot")
    outputs = later("langfx_web.agentic.output")
    run = later("langfx_web.agentic.run")

NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")
MAX_INSTRUCTIONS = 64 * 1024

Prompt = str | Part | Message | Sequence[str | Part]


class Agent(Action):
    """A model, instructions and tools under a name; making one does no I/O.

    `instructions` (a str, or several joined by a blank line) are the whole system message, `limits` bound each run, and
    `store` is where `session()` keeps conversations unless told otherwise; without one, in this object's own memory.
    `models` says what other models can do that a session may switch to: capabilities by id. An `observer` is told what
    happens in every run, and changes none.

    `output` is a type: a run then ends with a value of it. `invoke` returns it, `turn_end` of `stream` has it. A model
    that knows schemas by itself gets the schema, if the agent has no tools; otherwise the system message says how to
    write the value. An answer that is none is shown to the model with what is wrong, and asked for again, one step
    each; with the last step the run ends with that `MappingError`.

    `allow_tool(call, step)` says whether a call may run: True, False, or `ToolDeniedError(reason)`. `on_tool_error` and
    `on_denied` decide what becomes of a failed or denied call: `"result"` tells the model, `"raise"` ends the run.
    `before_step(step)` and `after_step(step, response, results)`, one function or several, see each step, and
    `before_step` may change its request. All of these may be async; what they raise ends the run (`hook_failed`).

    `invalid_agent`, `invalid_tool` or `tool_name_taken` names what is wrong.
    """

    def __init__(
        self,
        *,
        lm: LanguageModel,
        name: str = "default",
        instructions: str | Sequence[str] | None = None,
        tools: Iterable[Tool] | Mapping[str, Tool] = (),
        output: Any = None,
        limits: Limits | None = None,
        allow_tool: AllowTool | None = None,
        on_tool_error: Policy = "result",
        on_denied: Policy = "result",
        before_step: BeforeStep | Sequence[BeforeStep] | None = None,
        after_step: AfterStep | Sequence[AfterStep] | None = None,
        store: Store | None = None,
        models: Models | None = None,
        observer: Observer | None = None,
    ) -> None:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise _invalid(f"name: {name!r} is not 1 to 128 of A-Z a-z 0-9 . _ -")
        if not isinstance(lm, LanguageModel):
            raise _invalid(f"lm: {type(lm).__name__} is no LanguageModel")
        if limits is not None and not isinstance(limits, Limits):
            raise _invalid(f"limits: {type(limits).__name__} is no Limits")
        self._name = name
        self._lm = lm
        self._instructions = _joined(instructions)
        self._tools = ToolRegistry(tools)
        if len(self._tools) > MAX_TOOLS:
            raise _invalid(f"tools: an agent has at most {MAX_TOOLS}")
        self._output = None if output is None else _output(output)
        self._limits = limits or Limits()
        self._hooks = Hooks(
            allow_tool=allow_tool,
            before_step=several(before_step),
            after_step=several(after_step),
            on_tool_error=on_tool_error,
            on_denied=on_denied,
        )
        self._store = _checked_store(store)
        self._models = _checked(models)
        if observer is not None and not isinstance(observer, observation.Observer):
            raise _invalid(f"observer: {type(observer).__name__} is no Observer")
        self._observer = observer

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
        """What its author tells the model, None for nothing."""
        return self._instructions

    @property
    def tools(self) -> ToolRegistry:
        """What its model may call."""
        return self._tools

    @property
    def output(self) -> outputs.Output | None:
        """The kind of value that a run ends with; None is text."""
        return self._output

    @property
    def limits(self) -> Limits:
        """Bounds of each run, as its author gave them."""
        return self._limits

    @property
    def hooks(self) -> Hooks:
        """The author's own functions in each run."""
        return self._hooks

    @property
    def observer(self) -> Observer | None:
        """Who is told what happens in its runs; None for nobody."""
        return self._observer

    @property
    def models(self) -> Models:
        """What is known of other models that a session may switch to, by id."""
        return self._models

    def with_tools(self, tools: Iterable[Tool]) -> Agent:
        """The same agent with more tools; `tool_name_taken` for a name it has already, unless they say otherwise."""
        return self._copy(_tools=ToolRegistry.merge([self._tools, ToolRegistry(tools)]))

    def with_model(self, lm: LanguageModel) -> Agent:
        """The same agent with another model."""
        return self._copy(_lm=lm)

    def _copy(self, **changes: Any) -> Agent:
        twin = copy.copy(self)
        vars(twin).update(changes)
        if len(twin._tools) > MAX_TOOLS:
            raise _invalid(f"tools: an agent has at most {MAX_TOOLS}")
        return twin

    async def invoke(  # type: ignore[override]  # an agent takes a prompt where other actions take fields
        self,
        session: Session | None = None,
        *,
        prompt: Prompt,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        returns_message: bool = False,
        on_gate: OnGate | None = None,
    ) -> Any:
        """One bounded run: the text of the last answer, of an agent with an `output` the value.

        With `returns_message`, the last `AIMessage`, with the usage of the whole run and the value as `.result`.
        `on_gate` is an async function that answers questions of tools and hooks. Raises what ended the run otherwise:
        `BudgetExceededError` with `.limit`, `DeadlineExceededError`, `IncompleteGenerationError` with `.partial`,
        `ContentFilteredError`, or the model's, tool's or hook's error.
        """
        entry = one_shot.Entry(answers=one_shot.answers_of(on_gate))
        message = await super().invoke(
            session, lm=lm or self._lm, timeout=timeout, budget=budget, prompt=prompt, entry=entry
        )
        return message if returns_message else self._value(message)

    async def stream(
        self,
        session: Session | None = None,
        *,
        prompt: Prompt,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        budget: Budget | None = None,
        on_gate: OnGate | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        """One bounded run as its events; the last one is a `TurnEnd`, which also tells of failure.

        The run goes on as its events are read, and leaving early cancels it.
        """
        events = handover.Handover()
        entry = one_shot.Entry(recorder=events, answers=one_shot.answers_of(on_gate))
        run = super().invoke(session, lm=lm or self._lm, timeout=timeout, budget=budget, prompt=prompt, entry=entry)
        task = events.run(one_shot.ending(run, entry))
        try:
            while (event := await events.next()) is not None:
                yield event
            yield task.result()
        finally:
            await events.stop()

    def as_tool(
        self,
        name: str | None = None,
        *,
        description: str | None = None,
        input: Any = None,
        idempotent: bool | None = None,
        writes: bool | None = None,
        timeout: float | None = None,
    ) -> Tool:
        """This agent as a tool of another: each call is a run of its own, and only its answer comes back.

        The run begins with nothing but the call's argument `prompt`; with `input`, a type or a JSON Schema of an
        object, the call's arguments are that, and the prompt is their JSON text. The result is the last text, or the
        value of an agent with an `output`; a run that fails is a failed call. The run has its own limits, within the
        time and budget of the run around it, which also passes its questions on and cancels it. It is idempotent if all
        its tools are, and writes if one of them does, unless you say otherwise. `timeout` is in seconds.
        """
        return agent_tool.agent_tool(
            self,
            self._asked,
            name=name,
            description=description,
            input=input,
            idempotent=idempotent,
            writes=writes,
            timeout=timeout,
        )

    async def _asked(
        self, session: Session | None, prompt: str, answers: Answers | None, observer: Observer | None
    ) -> Any:
        entry = one_shot.Entry(answers=answers, observer=observer)
        return self._value(await super().invoke(session, lm=self._lm, prompt=prompt, entry=entry))

    def _value(self, message: AIMessage) -> Any:
        return message.text if self._output is None or self._output.schema.is_text else message.result

    async def call(self, session: Session, **inputs: Any) -> AIMessage:
        """The run behind `invoke` and `stream`."""
        entry: one_shot.Entry = inputs["entry"]
        entry.loop = loop.Loop(
            self._seen_from(entry.observer),
            [Message.of(inputs["prompt"])],
            session=session,
            lm=session.lm or self._lm,
            limits=of_one_run(self._limits),
            place=run.Place(turn_id=durable.new_id("msg_")),
            new_id=durable.new_id,
            recorder=entry.recorder,
            answers=entry.answers,
        )
        return one_shot.answer(await entry.loop.run())

    def _seen_from(self, call: Observer | None) -> Agent:
        """This agent inside a call of another: its own observer, else that one's, is told which call it is."""
        if call is None or call.parent is None:
            return self
        return self._copy(_observer=call if self._observer is None else self._observer.child(call.parent))

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
        _checked_store(store)
        own = _joined(instructions)
        return durable.AgentSession(self, id, store=store, model=model, instructions=own, context=context)

    def __repr__(self) -> str:
        return f"Agent({self._name!r}, tools={self._tools.names()})"


def _output(wanted: Any) -> outputs.Output:
    try:
        return outputs.Output(wanted)
    except SchemaError as error:
        raise _invalid(f"output: {error}") from error


def _joined(instructions: str | Sequence[str] | None) -> str | None:
    texts = [instructions] if isinstance(instructions, str) else instructions or ()
    if not isinstance(texts, Iterable) or not all(isinstance(text, str) for text in texts):
        raise _invalid("instructions: must be a str or several")
    joined = "\n\n".join(text for text in texts if text.strip())
    if len(joined.encode("utf-8", "replace")) > MAX_INSTRUCTIONS:
        raise _invalid("instructions: more than 64 KiB")
    return joined or None


def _checked_store(store: Store | None) -> Store | None:
    if store is not None and not callable(getattr(store, "load", None)):
        raise _invalid(f"store: {type(store).__name__} is no store")
    return store


def _checked(models: Models | None) -> Models:
    try:
        for known in (models := dict(models or {})).values():
            Capabilities().updated(known)
    except (TypeError, ValueError, AttributeError) as error:
        raise _invalid(f"models: {error}") from error
    return models


def _invalid(what: str) -> InvalidValueError:
    return InvalidValueError(what, code="invalid_agent")
