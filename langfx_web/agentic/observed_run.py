"""What an observer is told of one run: steps and requests are counted here, and what is open when the run ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from langfx_web.agentic.recorder import PlannedCall
from langfx_web.agentic.run import Place
from langfx_web.clock import Clock
from langfx_web.errors import LangfxError, LMError
from langfx_web.events import GateClosed, GateOpen, ToolEnd, ToolStart
from langfx_web.json_text import dumps
from langfx_web.llms import LanguageModel, ModelRequest, SamplingOptions
from langfx_web.masking import masked
from langfx_web.messages import AIMessage, Message, SystemMessage, ToolMessage, UserMessage
from langfx_web.observation import (
    Content,
    ObservedEvent,
    ObservedMessage,
    ObservedModelEnd,
    ObservedModelFirstOutput,
    ObservedModelRequest,
    ObservedStepEnd,
    ObservedStepStart,
    ObservedToolEnd,
    ObservedToolResult,
    ObservedToolStart,
    ObservedTurnEnd,
    ObservedTurnStart,
    ObservedWaitEnd,
    ObservedWaitStart,
    Observer,
    ParentCall,
    RequestedCall,
)
from langfx_web.usage import Usage

Given = ParamSpec("Given")

_APPROVAL = "approval:"
"""How the id of a gate begins that asks whether a call may run."""

_OPTIONS = ("max_tokens", "random_seed", "reasoning_effort", "temperature", "top_k", "top_p")
"""Options that are told: numbers and words, none of the application's texts."""


def _harmless(tell: Callable[Concatenate[ObservedRun, Given], None]) -> Callable[Concatenate[ObservedRun, Given], None]:
    """A method that tells something: whatever goes wrong in it, the run goes on."""

    @wraps(tell)
    def told(run: ObservedRun, /, *args: Given.args, **kwargs: Given.kwargs) -> None:
        try:
            tell(run, *args, **kwargs)
        except Exception as error:  # noqa: BLE001  # watching a run must not end it
            run.observer.failed(error)

    return told


@dataclass(frozen=True, slots=True)
class _Running:
    """A call whose tool has begun, and when."""

    step: int
    call_id: str
    name: str
    since: float


class ObservedRun:
    """One run of an agent: it says what happens, and the observer is told in which step, request and call."""

    def __init__(
        self, observer: Observer, *, agent: str, place: Place, new_id: Callable[[str], str], clock: Clock
    ) -> None:
        self.observer = observer
        self._agent = agent
        self._clock = clock
        self._place = place
        self._run_id = new_id("run_")
        self._lm: LanguageModel | None = None
        self._step = 0
        self._request = 0
        self._is_in_step = False
        self._is_asking = False
        self._has_output = False
        self._running: dict[str, _Running] = {}
        self._execution_ids: dict[str, str] = {}
        self._waits: dict[str, tuple[str, str | None]] = {}

    def child(self, execution_id: str) -> Observer:
        """The observer of an agent that runs inside a call."""
        place = self._place
        return self.observer.child(
            ParentCall(
                session_id=place.session_id, turn_id=place.turn_id, run_id=self._run_id, execution_id=execution_id
            )
        )

    @_harmless
    def begins(self, lm: LanguageModel, messages: Sequence[Message]) -> None:
        """The run begins; the newest message of the user is its prompt."""
        self._lm = lm
        prompt = next((message for message in reversed(messages) if isinstance(message, UserMessage)), None)
        content = self.observer.content()
        input = _seen(content, prompt)
        self._tell(ObservedTurnStart, content, agent=self._agent, provider=lm.provider, model=lm.model, input=input)

    @_harmless
    def ends(self, stop_reason: str, usage: Usage | None, message: AIMessage | None, error: LangfxError | None) -> None:
        """The run is over, and so is all that it left open."""
        self._end_request(error.partial if isinstance(error, LMError) else None, error)
        for execution_id in list(self._running):
            self._end_tool(execution_id)
        self._end_step()
        content = self.observer.content()
        output = _seen(content, message)
        self._tell(
            ObservedTurnEnd, content, stop_reason=stop_reason, usage=usage, output=output, **_failure(content, error)
        )

    @_harmless
    def between_steps(self) -> None:
        """The step before, if there was one, is over."""
        self._end_request(None)
        self._end_step()

    @_harmless
    def step_begins(self) -> None:
        """Another step begins."""
        self._step += 1
        self._is_in_step = True
        self._tell(ObservedStepStart, step=self._step)

    @_harmless
    def sending(self, request: ModelRequest) -> None:
        """A request is about to be sent; when it is tried again, it is still the same one."""
        if self._is_asking or self._lm is None:
            return
        self._is_asking, self._has_output = True, False
        self._request += 1
        content = self.observer.content()
        texts = {} if content is None else _texts(content, request)
        self._tell(
            ObservedModelRequest,
            content,
            step=self._step,
            request=self._request,
            provider=self._lm.provider,
            model=self._lm.model,
            options=_options(request.options),
            message_count=len(request.messages),
            tool_count=len(request.tools),
            **texts,
        )

    @_harmless
    def output(self) -> None:
        """A piece of the answer is here."""
        if self._is_asking and not self._has_output:
            self._has_output = True
            self._tell(ObservedModelFirstOutput, step=self._step, request=self._request)

    @_harmless
    def replied(self, message: AIMessage, calls: Sequence[PlannedCall]) -> None:
        """The whole answer is here, or what a hook said in its place."""
        self._execution_ids = {planned.call.id: planned.execution_id for planned in calls}
        asked = [
            RequestedCall(call_id=planned.call.id, execution_id=planned.execution_id, name=planned.call.name)
            for planned in calls
        ]
        self._end_request(message, calls=tuple(asked))

    @_harmless
    def tool_begins(self, event: ToolStart) -> None:
        """A tool is about to run."""
        running = _Running(self._step, event.id, event.name, self._clock.monotonic())
        self._running[event.execution_id] = running
        content = self.observer.content()
        arguments = None
        if content is not None:
            arguments = content.text(event.input_preview or "") if event.input_truncated else content.json(event.input)
            content.is_truncated |= bool(event.input_truncated)
        self._tell(
            ObservedToolStart,
            content,
            step=self._step,
            call_id=event.id,
            execution_id=event.execution_id,
            name=event.name,
            checksum=event.checksum,
            rerun=event.rerun,
            arguments=arguments,
        )

    @_harmless
    def tool_ended(self, result: ToolMessage, end: ToolEnd) -> None:
        """A tool has run; of a call that was refused there is nothing to tell yet."""
        if end.execution_id in self._running:
            self._end_tool(end.execution_id, result, end)

    @_harmless
    def result_joined(self, result: ToolMessage, end: ToolEnd) -> None:
        """A result is part of the conversation."""
        content = self.observer.content()
        text = None if content is None else content.text(result.text)
        self._tell(
            ObservedToolResult,
            content,
            step=self._step,
            call_id=end.id,
            execution_id=end.execution_id,
            name=end.name,
            is_error=end.is_error,
            error_code=end.error_code,
            result=text,
        )

    @_harmless
    def gate_opened(self, gate: GateOpen) -> None:
        """A person is asked by one of our gates."""
        kind = "approval" if gate.id.startswith(_APPROVAL) else "question"
        self.wait_begins(gate.id, kind, self._execution_ids.get(gate.call_id or ""), gate.reason)

    @_harmless
    def gate_closed(self, gate: GateClosed) -> None:
        """One of our gates is settled."""
        self.wait_ended(gate.id, gate.outcome)

    @_harmless
    def wait_begins(self, wait_id: str, kind: str, execution_id: str | None, request: str) -> None:
        """A person is asked."""
        self._waits[wait_id] = (kind, execution_id)
        content = self.observer.content()
        text = None if content is None else content.text(str(request))
        self._tell(ObservedWaitStart, content, wait_id=wait_id, kind=kind, execution_id=execution_id, request=text)

    @_harmless
    def wait_ended(self, wait_id: str, outcome: str, answer: str | None = None) -> None:
        """A question is settled."""
        kind, execution_id = self._waits.pop(wait_id)
        content = self.observer.content()
        text = None if content is None or answer is None else content.text(answer)
        self._tell(
            ObservedWaitEnd,
            content,
            wait_id=wait_id,
            kind=kind,
            outcome=outcome,
            execution_id=execution_id,
            answer=text,
        )

    def _end_step(self) -> None:
        if self._is_in_step:
            self._is_in_step = False
            self._tell(ObservedStepEnd, step=self._step)

    def _end_request(
        self, message: AIMessage | None, error: LangfxError | None = None, calls: tuple[RequestedCall, ...] = ()
    ) -> None:
        """A request ended with an answer, with an error and perhaps a part of one, or with neither: it was cut."""
        if not self._is_asking:
            return
        self._is_asking = False
        content = self.observer.content()
        known = {"output": _seen(content, message), **_ending(message), **_failure(content, error)}
        if isinstance(error, LMError):
            known |= {"finish_reason": error.finish_reason, "usage": error.usage}
        if message is None and error is None:
            known["error_code"] = "cancelled"
        self._tell(ObservedModelEnd, content, step=self._step, request=self._request, tool_calls=calls, **known)

    def _end_tool(self, execution_id: str, result: ToolMessage | None = None, end: ToolEnd | None = None) -> None:
        running = self._running.pop(execution_id)
        content = self.observer.content()
        text = None if content is None or result is None else content.text(result.text)
        elapsed = round((self._clock.monotonic() - running.since) * 1000)
        self._tell(
            ObservedToolEnd,
            content,
            step=running.step,
            call_id=running.call_id,
            execution_id=execution_id,
            name=running.name,
            is_error=end is None or end.is_error,
            duration_ms=elapsed if end is None else end.duration_ms,
            error_code="interrupted" if end is None else end.error_code,
            result=text,
        )

    def _tell(self, make: Callable[..., ObservedEvent], content: Content | None = None, /, **fields: Any) -> None:
        event = make(
            at=self._clock.now(),
            session_id=self._place.session_id,
            turn_id=self._place.turn_id,
            run_id=self._run_id,
            parent=self.observer.parent,
            content_truncated=content is not None and content.is_truncated,
            **fields,
        )
        self.observer.tell(event)


def _texts(content: Content, request: ModelRequest) -> dict[str, Any]:
    """What a request says; put in by importance, the conversation first."""
    system = [message.text for message in request.messages if isinstance(message, SystemMessage)]
    messages = content.messages([message for message in request.messages if not isinstance(message, SystemMessage)])
    return {
        "messages": messages,
        "instructions": content.text("\n\n".join(system)) if system else None,
        "tools": content.tools(request.tools),
    }


def _seen(content: Content | None, message: Message | None) -> ObservedMessage | None:
    return None if content is None or message is None else content.message(message)


def _ending(message: AIMessage | None) -> dict[str, Any]:
    """How an answer ended, and at what cost."""
    names = ("model", "response_id", "finish_reason", "usage")
    return {} if message is None else {name: getattr(message, name) for name in names}


def _failure(content: Content | None, error: LangfxError | None) -> dict[str, Any]:
    """An error: its code always, what it says as content."""
    if error is None:
        return {}
    text = None if content is None else content.text(masked(error.message))
    return {"error_code": error.code, "error_message": text}


def _options(options: SamplingOptions) -> dict[str, Any]:
    return {name: value for name in _OPTIONS if (value := getattr(options, name)) is not None}


def answer_text(value: Any) -> str | None:
    """An answer as JSON text; None for what has no such form."""
    try:
        return dumps(value)
    except LangfxError:
        return None
