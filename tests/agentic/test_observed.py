"""What an observer is told of an agent's runs."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from langfx_web import Agent, Limits, Observer, ToolContext, tool
from langfx_web.agentic import Gate
from langfx_web.errors import InvalidValueError, LangfxError, RateLimitError, TemporaryLMError, ToolExecutionError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, Image, Thought, ToolCall, UserMessage
from langfx_web.observation import (
    ObservedCall,
    ObservedEvent,
    ObservedMedia,
    ObservedMessage,
    ObservedModelEnd,
    ObservedModelRequest,
    ObservedText,
    ObservedThought,
    ObservedTool,
    ObservedToolEnd,
    ObservedToolResult,
    ObservedToolStart,
    ObservedTurnEnd,
    ObservedTurnStart,
    ObservedWaitEnd,
    ObservedWaitStart,
    ParentCall,
    RequestedCall,
)
from langfx_web.testing import Echo, StaticResponse, StaticSequence
from langfx_web.usage import Usage
from tests.agentic.trial import calls, double, loop_of

COST = Usage(input_tokens=2, output_tokens=1, total_tokens=3)
SECRET = "the user's own words"


@tool(idempotent=True)
def fail() -> str:
    """Fail."""
    raise ValueError(f"no such order: {SECRET}")


class Heard(list[Any]):
    """The events that an observer was told, of all runs."""

    def observer(self, **options: Any) -> Observer:
        """One that keeps them here."""
        return Observer(self.append, **options)

    def of(self, kind: type[Any]) -> list[Any]:
        """Those of one class."""
        return [event for event in self if isinstance(event, kind)]

    @property
    def types(self) -> list[str]:
        """What they are called."""
        return [event.type for event in self]


def watched(lm: LanguageModel | list[Any], *tools: Any, content: bool = False, **options: Any) -> tuple[Agent, Heard]:
    """An agent, and what its observer hears."""
    heard = Heard()
    model = lm if isinstance(lm, LanguageModel) else StaticSequence(lm)
    observer = heard.observer(capture_content=content)
    return Agent(lm=model, name="math", tools=tools or [double, fail], observer=observer, **options), heard


async def test_a_run_is_told_from_its_start_to_its_end() -> None:
    """Each thing in its order: steps hold requests, and the tools that ran between them."""
    some, heard = watched([calls(("double", {"n": 2})), "four"])
    assert await some.invoke(prompt="go") == "four"
    assert heard.types == [
        "turn.start",
        "step.start",
        "model.request",
        "model.first_output",
        "model.end",
        "tool.start",
        "tool.end",
        "tool.result",
        "step.end",
        "step.start",
        "model.request",
        "model.first_output",
        "model.end",
        "step.end",
        "turn.end",
    ]


async def test_ids_and_numbers_join_what_belongs_together() -> None:
    """One turn and run id for all; steps and requests count from 1; a tool has the id that its model's event names."""
    some, heard = watched([calls(("double", {"n": 2}), usage=COST, model="m-2", response_id="r"), "four"])
    await some.invoke(prompt="go")
    assert {event.run_id[:4] for event in heard} == {"run_"}
    assert len({(event.turn_id, event.run_id) for event in heard}) == 1
    assert {(event.session_id, event.parent, event.content_truncated) for event in heard} == {(None, None, False)}
    assert [event.at for event in heard] == sorted(event.at for event in heard)
    (start,) = heard.of(ObservedTurnStart)
    assert (start.agent, start.provider, start.model) == ("math", "custom", "StaticSequence")
    first, second = heard.of(ObservedModelRequest)
    assert [(event.step, event.request, event.message_count, event.tool_count) for event in (first, second)] == [
        (1, 1, 1, 2),
        (2, 2, 3, 2),
    ]
    answered, _ = heard.of(ObservedModelEnd)
    (ran,) = heard.of(ObservedToolStart)
    assert answered.tool_calls == (RequestedCall(call_id="c1", execution_id=ran.execution_id, name="double"),)
    assert (answered.usage, answered.model, answered.response_id) == (COST, "m-2", "r")
    assert (answered.finish_reason, answered.error_code) == ("tool_calls", None)
    (done,), (joined,) = heard.of(ObservedToolEnd), heard.of(ObservedToolResult)
    assert {(event.execution_id, event.call_id, event.name, event.step) for event in (ran, done, joined)} == {
        (ran.execution_id, "c1", "double", 1)
    }
    assert (ran.rerun, done.is_error, done.error_code, joined.is_error) == (False, False, None, False)
    (end,) = heard.of(ObservedTurnEnd)
    assert (end.stop_reason, end.usage, end.error_code) == ("end_turn", COST.as_lower_bound(), None)


async def test_every_run_has_an_id_of_its_own() -> None:
    """Two runs at once are told apart, and each is counted by itself."""
    some, heard = watched(Echo())
    await asyncio.gather(some.invoke(prompt="a"), some.invoke(prompt="b"))
    starts = heard.of(ObservedTurnStart)
    assert len({event.run_id for event in starts}) == len({event.turn_id for event in starts}) == 2
    assert [(event.step, event.request) for event in heard.of(ObservedModelRequest)] == [(1, 1), (1, 1)]


async def test_without_content_there_are_no_words() -> None:
    """Not of the user, the author, the model, the tools, and not what an error says."""
    some, heard = watched(
        [calls(("double", {"n": SECRET}), ("fail", {}), text=SECRET), LangfxError(SECRET)],
        instructions=SECRET,
    )
    with pytest.raises(LangfxError):
        await some.invoke(prompt=SECRET)
    assert len(heard) > 10
    assert SECRET not in repr(list(heard))
    assert {event.error_code for event in heard.of(ObservedToolResult)} == {"tool_arguments_invalid", "tool_failed"}


async def test_with_content_an_event_has_what_was_said() -> None:
    """Messages without the system's, instructions, tools, arguments, results, the answer; no bytes, no payloads."""
    picture = Image.from_bytes(b"\x89PNG\r\n\x1a\n" + bytes(30))
    thought = Thought("Hm.", payload={"signature": "opaque"}, replay_compatibility="wire")
    answer = AIMessage(thought, ToolCall("c1", "double", {"n": 2}))
    some, heard = watched([answer, "four"], double, content=True, instructions="Be brief.")
    await some.invoke(prompt=UserMessage("2 + 2?", picture))
    asked = ObservedMessage(
        role="user",
        parts=(ObservedText(text="2 + 2?"), ObservedMedia(kind="image", mime_type="image/png", size=38)),
    )
    replied = ObservedMessage(
        role="assistant",
        parts=(ObservedThought(text="Hm."), ObservedCall(call_id="c1", name="double", arguments='{"n":2}')),
    )
    told = ObservedMessage(role="tool", parts=(ObservedText(text="4"),), call_id="c1")
    (start,), (end,) = heard.of(ObservedTurnStart), heard.of(ObservedTurnEnd)
    first, second = heard.of(ObservedModelRequest)
    assert (start.input, first.messages, second.messages) == (asked, (asked,), (asked, replied, told))
    assert first.instructions == "Be brief."
    schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}'
    assert first.tools == (ObservedTool(name="double", description="Double a number.", input_schema=schema),)
    assert [event.output for event in heard.of(ObservedModelEnd)] == [replied, end.output]
    assert end.output == ObservedMessage(role="assistant", parts=(ObservedText(text="four"),))
    assert [event.arguments for event in heard.of(ObservedToolStart)] == ['{"n":2}']
    assert [event.result for event in (*heard.of(ObservedToolEnd), *heard.of(ObservedToolResult))] == ["4", "4"]
    assert "opaque" not in repr(list(heard))


async def test_what_is_too_long_is_cut_and_marked() -> None:
    """64 KiB of text per event, also of arguments and results that were cut for display before."""

    @tool(idempotent=True)
    def repeat(text: str) -> str:
        """Say it again."""
        return text

    long = "x" * 100_000
    some, heard = watched([calls(("repeat", {"text": long})), "done"], repeat, content=True)
    await some.invoke(prompt=long)
    for kind, texts in (
        (ObservedTurnStart, lambda event: event.input.parts[0].text),
        (ObservedToolStart, lambda event: event.arguments),
        (ObservedToolResult, lambda event: event.result),
    ):
        (event,) = heard.of(kind)
        assert (len(texts(event)), event.content_truncated) == (64 * 1024, True)
    assert not heard.of(ObservedTurnEnd)[0].content_truncated


async def test_a_call_that_is_not_run_has_a_result_and_nothing_else() -> None:
    """Unknown names, bad arguments and denials are told where they join the conversation."""
    answer = calls(("nothing", {}), ("double", {"n": "x"}), ("fail", {}))
    some, heard = watched([answer, "so"], allow_tool=lambda call, step: call.name != "fail")
    await some.invoke(prompt="go")
    assert not heard.of(ObservedToolStart)
    assert not heard.of(ObservedToolEnd)
    assert [(event.name, event.error_code) for event in heard.of(ObservedToolResult)] == [
        ("nothing", "tool_not_found"),
        ("double", "tool_arguments_invalid"),
        ("fail", "tool_denied"),
    ]


async def test_a_failed_request_ends_with_its_error() -> None:
    """Its code and its cost are told, in the request's own event and in the turn's."""
    error = RateLimitError("slow down", usage=COST)
    some, heard = watched([error], content=True)
    with pytest.raises(RateLimitError):
        await some.invoke(prompt="go")
    assert heard.types[-3:] == ["model.end", "step.end", "turn.end"]
    ended, over = heard.of(ObservedModelEnd)[0], heard.of(ObservedTurnEnd)[0]
    assert (ended.error_code, ended.error_message, ended.usage, ended.output) == ("rate_limit", "slow down", COST, None)
    assert (over.stop_reason, over.error_code, over.error_message) == ("error", "rate_limit", "slow down")


async def test_a_request_that_is_tried_again_is_one_request() -> None:
    """Attempts are no requests of their own."""
    lm = StaticSequence([TemporaryLMError("busy"), "yes"], max_attempts=2, retry_interval=0.0)
    some, heard = watched(lm)
    await some.invoke(prompt="go")
    assert len(lm.requests) == 2
    assert [type(event) for event in heard if event.type.startswith("model.") and "first" not in event.type] == [
        ObservedModelRequest,
        ObservedModelEnd,
    ]
    assert heard.of(ObservedModelEnd)[0].error_code is None


async def test_an_answer_that_was_cut_is_told_as_far_as_it_came() -> None:
    """At the output limit: the reason, the code and the part that is there."""
    some, heard = watched([AIMessage("Once upon", finish_reason="length", usage=COST)], content=True)
    with pytest.raises(LangfxError):
        await some.invoke(prompt="go")
    (ended,) = heard.of(ObservedModelEnd)
    assert (ended.finish_reason, ended.error_code, ended.usage) == ("length", "incomplete_generation", COST)
    assert ended.output == ObservedMessage(role="assistant", parts=(ObservedText(text="Once upon"),))
    assert heard.of(ObservedTurnEnd)[0].stop_reason == "max_output_tokens"


async def test_a_cancelled_run_closes_what_it_opened() -> None:
    """The tool that ran was interrupted, and step and turn are over."""
    started = asyncio.Event()

    @tool(idempotent=True)
    async def wait() -> str:
        """Wait."""
        started.set()
        await asyncio.sleep(60)
        return ""

    some, heard = watched([calls(("wait", {}))], wait)
    task = asyncio.ensure_future(some.invoke(prompt="go"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.types[-3:] == ["tool.end", "step.end", "turn.end"]
    assert [(event.is_error, event.error_code) for event in heard.of(ObservedToolEnd)] == [(True, "interrupted")]
    assert heard.of(ObservedTurnEnd)[0].stop_reason == "cancelled"


async def test_a_request_that_is_given_up_is_cancelled() -> None:
    """No error of the model's."""
    asked = asyncio.Event()

    async def silent(request: Any) -> str:
        asked.set()
        await asyncio.sleep(60)
        return ""

    some, heard = watched(StaticResponse(silent))
    task = asyncio.ensure_future(some.invoke(prompt="go"))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(event.error_code, event.usage) for event in heard.of(ObservedModelEnd)] == [("cancelled", None)]


async def test_limits_end_a_turn_by_their_name() -> None:
    """A call that no step could read is refused, and told so."""
    some, heard = watched([calls(("double", {"n": 2}))], limits=Limits(max_steps=1))
    with pytest.raises(LangfxError):
        await some.invoke(prompt="go")
    assert [event.error_code for event in heard.of(ObservedToolResult)] == ["budget_exceeded"]
    assert heard.of(ObservedTurnEnd)[0].stop_reason == "max_steps"


async def test_models_that_hooks_and_tools_ask_are_not_the_runs_requests() -> None:
    """Only what the loop itself asks is counted."""

    async def before_step(step: Any) -> None:
        await step.session.query("What do you think?")

    lm = Echo()
    some, heard = watched(lm, before_step=before_step)
    await some.invoke(prompt="go")
    assert len(lm.requests) == 2
    assert [event.request for event in heard.of(ObservedModelRequest)] == [1]


async def test_questions_to_a_person_are_told_with_their_call() -> None:
    """Our gates: what kind, of which call, how they ended; words only where they are captured."""

    @tool(idempotent=True, approval=True)
    async def pay(context: ToolContext) -> str:
        """Pay."""
        return str(await context.ask("Which card?", schema=str))

    async def allow(call: ToolCall, step: Any) -> bool:
        return bool(await step.ask("Really?"))

    async def on_gate(gate: Gate) -> Any:
        return "blue" if gate.reason == "Which card?" else True

    some, heard = watched([calls(("pay", {})), "paid"], pay, allow_tool=allow, content=True)
    await some.invoke(prompt="go", on_gate=on_gate)
    asked, settled = heard.of(ObservedWaitStart), heard.of(ObservedWaitEnd)
    (ran,) = heard.of(ObservedToolStart)
    assert [(event.kind, event.execution_id, event.request) for event in asked] == [
        ("question", None, "Really?"),
        ("approval", ran.execution_id, "May the tool pay run?"),
        ("question", ran.execution_id, "Which card?"),
    ]
    assert [(event.wait_id, event.kind, event.outcome) for event in settled] == [
        (event.wait_id, event.kind, "answered") for event in asked
    ]
    assert [heard.types.index("tool.start") > place for place, event in enumerate(heard) if event in asked] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("is_watched", [True, False])
async def test_a_tool_asks_by_the_apps_own_means(is_watched: bool) -> None:
    """The effect runs in any case, and decides; with an observer it is told around it."""
    outcomes: list[Any] = []

    async def yes() -> bool:
        await asyncio.sleep(0)
        return True

    def no() -> bool:
        raise PermissionError("not today")

    @tool(idempotent=True)
    async def pay(context: ToolContext) -> str:
        """Pay."""
        outcomes.append(await context.observation.wait("May I?", yes))
        try:
            await context.observation.wait("Are you sure?", no)
        except PermissionError as error:
            outcomes.append(str(error))
        return "done"

    some, heard = watched([calls(("pay", {})), "so"], pay, content=True)
    if not is_watched:
        some = Agent(lm=some.lm, tools=[pay])
    assert await some.invoke(prompt="go") == "so"
    assert outcomes == [True, "not today"]
    if not is_watched:
        assert heard == []
        return
    starts, ends = heard.of(ObservedWaitStart), heard.of(ObservedWaitEnd)
    (ran,) = heard.of(ObservedToolStart)
    assert {event.execution_id for event in (*starts, *ends)} == {ran.execution_id}
    assert [(event.kind, event.request) for event in starts] == [("app", "May I?"), ("app", "Are you sure?")]
    assert [(event.outcome, event.answer) for event in ends] == [("answered", "true"), ("failed", None)]
    assert [event.wait_id for event in starts] == [event.wait_id for event in ends]
    assert len({event.wait_id for event in starts}) == 2


async def test_a_question_dies_with_its_run() -> None:
    """Cancelling goes through, and is told."""
    asked = asyncio.Event()

    async def ask() -> None:
        asked.set()
        await asyncio.sleep(60)

    @tool(idempotent=True)
    async def pay(context: ToolContext) -> str:
        """Pay."""
        await context.observation.wait("May I?", ask)
        return "done"

    some, heard = watched([calls(("pay", {}))], pay)
    task = asyncio.ensure_future(some.invoke(prompt="go"))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.outcome for event in heard.of(ObservedWaitEnd)] == ["cancelled"]


@pytest.mark.parametrize("is_watched", [True, False])
async def test_an_agent_inside_a_tool_names_its_parent(is_watched: bool) -> None:
    """With the child's observer its events say in which call it ran; without an observer there is none to pass on."""

    @tool(idempotent=True)
    async def ask_another(context: ToolContext) -> str:
        """Ask another agent."""
        inner = Agent(lm=Echo("inner: "), name="inner", observer=context.observation.child())
        return str(await inner.invoke(prompt="go"))

    some, heard = watched([calls(("ask_another", {})), "so"], ask_another)
    if not is_watched:
        some = Agent(lm=some.lm, tools=[ask_another])
    assert await some.invoke(prompt="go") == "so"
    if not is_watched:
        assert heard == []
        return
    outer, inner = heard.of(ObservedTurnStart)
    (ran,) = heard.of(ObservedToolStart)
    parent = ParentCall(session_id=None, turn_id=outer.turn_id, run_id=outer.run_id, execution_id=ran.execution_id)
    assert [event.parent for event in heard if event.run_id == inner.run_id] == [parent] * 7
    assert {event.parent for event in heard if event.run_id == outer.run_id} == {None}


async def test_an_agent_as_a_tool_is_watched_as_part_of_its_call() -> None:
    """By the outer agent's observer, or by its own where it has one; either is told which call it is."""
    own = Heard()
    plain = Agent(lm=Echo("inner: "), name="plain")
    watching = Agent(lm=Echo("inner: "), name="watching", observer=own.observer())
    asked = calls(("plain", {"prompt": "go"}), ("watching", {"prompt": "go"}))
    some, heard = watched([asked, "so"], plain.as_tool(), watching.as_tool())
    assert await some.invoke(prompt="go") == "so"
    outer, inner = heard.of(ObservedTurnStart)
    (apart,) = own.of(ObservedTurnStart)
    assert (outer.agent, inner.agent, apart.agent) == ("math", "plain", "watching")
    ran = {event.name: event.execution_id for event in heard.of(ObservedToolStart)}
    assert [(event.parent.run_id, event.parent.execution_id) for event in (inner, apart)] == [
        (outer.run_id, ran["plain"]),
        (outer.run_id, ran["watching"]),
    ]
    assert await watching.invoke(prompt="go") == "inner: go"
    assert own.of(ObservedTurnStart)[1].parent is None


async def test_a_cut_reply_is_a_cancelled_request() -> None:
    """What the user says meanwhile ends the request, and the next one belongs to another step."""
    heard = Heard()
    asked: list[Any] = []

    async def slow(request: Any) -> str:
        asked.append(request)
        if len(asked) == 1:
            asyncio.get_running_loop().call_soon(loop.interrupt)
            await asyncio.sleep(60)
        return "So be it."

    loop = loop_of(Agent(lm=StaticResponse(slow), observer=heard.observer()))
    await loop.run()
    assert heard.types == [
        "turn.start",
        "step.start",
        "model.request",
        "model.end",
        "step.end",
        "step.start",
        "model.request",
        "model.first_output",
        "model.end",
        "step.end",
        "turn.end",
    ]
    assert [event.error_code for event in heard.of(ObservedModelEnd)] == ["cancelled", None]


async def test_streams_are_told_like_invocations() -> None:
    """The same events, whichever door a run came in by."""
    answer = [calls(("double", {"n": 2})), "four"]
    some, heard = watched(answer)
    async for _ in some.stream(prompt="go"):
        pass
    other, other_heard = watched(answer)
    await other.invoke(prompt="go")
    assert heard.types == other_heard.types


async def test_what_goes_wrong_in_telling_changes_nothing() -> None:
    """A failing observer, and one that an event cannot be made for, hear of it in `on_error`; the run is the same."""
    errors: list[BaseException] = []

    def on_event(event: ObservedEvent) -> None:
        raise ToolExecutionError("no", tool="observer")

    class Broken(Observer):
        def content(self) -> None:
            raise RuntimeError("no room")

    for observer in (Observer(on_event, errors.append), Broken(print, errors.append)):
        lm = StaticSequence([calls(("double", {"n": 2})), "four"])
        assert await Agent(lm=lm, tools=[double], observer=observer).invoke(prompt="go") == "four"
    assert [str(error) for error in errors[:15]] == ["no"] * 15
    assert {str(error) for error in errors[15:]} == {"no room"}


def test_an_observer_is_one() -> None:
    """Anything else is refused when the agent is made."""
    with pytest.raises(InvalidValueError, match="observer: function is no Observer") as raised:
        Agent(lm=Echo(), observer=lambda event: None)  # type: ignore[arg-type]  # that is the point
    assert raised.value.code == "invalid_agent"


async def test_an_agent_without_an_observer_reads_nothing_of_this() -> None:
    """Watching costs those who do not watch neither time nor modules."""
    program = (
        "import sys, asyncio, langfx_web as lf\n"
        "from langfx_web.testing import Echo\n"
        "print(asyncio.run(lf.Agent(lm=Echo()).invoke(prompt='hello')))\n"
        "print(*[name for name in sys.modules if 'observ' in name])"
    )
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    out, _ = await done.communicate()
    assert out.decode().split() == ["hello", "langfx_web.tools.observation"]
