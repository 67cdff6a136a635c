"""Hooks before and after each step: what they see, what they may change, and how they end a run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web import Agent, Budget, Session
from langfx_web.errors import BudgetExceededError, HookError, InvalidValueError
from langfx_web.events import TextDelta
from langfx_web.messages import AIMessage, SystemMessage, UserMessage
from langfx_web.testing import Echo, StaticSequence
from langfx_web.tools import checksum
from langfx_web.usage import Usage
from tests.agentic.trial import agent, calls, double, loop_of, run


async def test_context_38_a_hook_that_shortens_changes_one_request() -> None:
    """Messages, instructions and tools as well; the conversation stays as it was."""

    def shorten(step: Any) -> None:
        if step.index == 1:
            step.messages = step.messages[-2:]
            step.instructions = "Be very brief."
            step.tools = [double]

    lm = StaticSequence([calls(("double", {"n": 1})), calls(("double", {"n": 2})), "done"])
    loop = loop_of(agent(lm, instructions="Be brief.", before_step=shorten))
    await run(loop)
    first, second, third = lm.requests
    assert [message.role for message in first.messages] == ["system", "user"]
    assert [message.role for message in second.messages] == ["system", "assistant", "tool"]
    assert (second.messages[0], [tool.name for tool in second.tools]) == (SystemMessage("Be very brief."), ["double"])
    assert third.messages[0] == SystemMessage("Be brief.")
    assert [tool.name for tool in third.tools] == ["double", "fail"]
    assert list(third.messages) == loop.transcript[:-1]


async def test_context_38_a_hook_may_stop_the_run() -> None:
    """Before any request, with a text that becomes the answer; afterwards with what was said last."""

    def before(step: Any) -> None:
        step.stop("The shop is closed.")

    lm = StaticSequence(["never"])
    loop = loop_of(agent(lm, before_step=before))
    events = await run(loop)
    assert (loop.outcome.stop_reason, loop.outcome.message.text) == ("end_turn", "The shop is closed.")
    assert (events, lm.requests) == ([TextDelta(delta="The shop is closed.")], [])
    assert loop.transcript[-1] == AIMessage("The shop is closed.")

    def after(step: Any, response: AIMessage, results: Any) -> None:
        step.stop()

    lm = StaticSequence([calls(("double", {"n": 1}), text="Let me see."), "never"])
    assert await agent(lm, after_step=after).invoke(prompt="x") == "Let me see."
    assert len(lm.requests) == 1


@pytest.mark.parametrize("where", ["before_step", "after_step"])
async def test_context_38_what_a_hook_raises_ends_the_run(where: str) -> None:
    """As `hook_failed`, which names the hook and has its exception as the cause."""

    async def checks(*given: Any) -> None:
        raise LookupError("no user")

    with pytest.raises(HookError) as caught:
        await agent(["done"], **{where: checks}).invoke(prompt="x")
    assert caught.value.code == "hook_failed"
    assert caught.value.message == "checks raised LookupError: no user"
    assert isinstance(caught.value.__cause__, LookupError)


async def test_a_hook_that_changes_the_tools_in_place_changes_one_step() -> None:
    """The agent, its other runs and its next steps keep theirs."""

    def before(step: Any) -> None:
        if step.index == 0:
            step.tools.unregister("fail")

    lm = StaticSequence([calls(("double", {"n": 1})), "done"])
    some = agent(lm, before_step=before)
    await some.invoke(prompt="x")
    assert [[tool.name for tool in request.tools] for request in lm.requests] == [["double"], ["double", "fail"]]
    assert some.tools.names() == ["double", "fail"]


async def test_hooks_run_in_order_around_each_step() -> None:
    """Several, plain and async; the one after has the response and the results, at the end none."""
    seen: list[Any] = []

    def first(step: Any) -> None:
        seen.append(("first", step.index, step.usage and step.usage.total_tokens))

    async def second(step: Any) -> None:
        await asyncio.sleep(0)
        seen.append(("second", step.index))

    def after(step: Any, response: AIMessage, results: Any) -> None:
        seen.append(("after", step.index, response.text, [result.text for result in results]))

    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    lm = StaticSequence([calls(("double", {"n": 4}), usage=usage), AIMessage("8", usage=usage)])
    await agent(lm, before_step=[first, second], after_step=after).invoke(prompt="x")
    assert seen == [
        ("first", 0, None),
        ("second", 0),
        ("after", 0, "", ["8"]),
        ("first", 1, 2),
        ("second", 1),
        ("after", 1, "8", []),
    ]


async def test_a_step_counts_equal_calls_and_keeps_a_stash() -> None:
    """For a rule such as: not the same call a third time."""
    counts = []

    def before(step: Any) -> None:
        step.stash.set("steps", step.stash.get("steps", 0) + 1)

    def allow(call: Any, step: Any) -> bool:
        counts.append((step.call_count(checksum("double", call.args)), step.stash.get("steps")))
        return counts[-1][0] < 3

    lm = StaticSequence([calls(("double", {"n": 1})), calls(("double", {"n": 1}), ("double", {"n": 1})), "done"])
    await agent(lm, before_step=before, allow_tool=allow).invoke(prompt="x")
    assert counts == [(1, 1), (3, 2), (3, 2)]


async def test_runs_of_one_agent_do_not_share_a_stash() -> None:
    """Each begins with an empty one."""
    seen = []

    def before(step: Any) -> None:
        seen.append(step.stash.has("mine"))
        step.stash.set("mine", 1)

    some = agent(Echo(), before_step=before)
    await asyncio.gather(some.invoke(prompt="a"), some.invoke(prompt="b"))
    assert seen == [False, False]


@pytest.mark.parametrize(("name", "value"), [("messages", ["text"]), ("instructions", 1), ("tools", [lambda: 1])])
async def test_a_step_takes_only_what_can_be_sent(name: str, value: Any) -> None:
    """Anything else fails in the hook."""

    def before(step: Any) -> None:
        setattr(step, name, value)

    with pytest.raises(HookError) as caught:
        await agent(["x"], before_step=before).invoke(prompt="x")
    assert isinstance(caught.value.__cause__, InvalidValueError)


async def test_calls_of_tools_that_a_step_was_not_given_are_unknown() -> None:
    """Though the agent has them."""

    def before(step: Any) -> None:
        step.tools = [double]

    loop = loop_of(agent([calls(("fail", {})), "done"], before_step=before))
    await run(loop)
    assert loop.transcript[-2].text == "Error: there is no tool 'fail'. Available: double."


async def test_a_hook_may_ask_models_in_the_session_of_its_step() -> None:
    """Which is traced and paid for there."""

    async def before(step: Any) -> None:
        await step.session.query("Is this safe?")

    async with Session() as session:
        with pytest.raises(BudgetExceededError):
            await agent(Echo(), before_step=before).invoke(session, prompt="x", budget=Budget(max_requests=1))
        with pytest.raises(HookError) as caught:
            await agent(Echo(), before_step=before).invoke(session, prompt="x", budget=Budget(max_requests=0))
        assert isinstance(caught.value.__cause__, BudgetExceededError)
        assert [node.name for node in session.root.walk()][:4] == ["Session", "Agent:default", "step 0", "query"]


async def test_whatever_a_hook_raises_is_its_failure() -> None:
    """Also what is no ordinary exception, or cannot even say what it is."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    class Own(BaseException):
        pass

    for error in (Mute(), Own("gone"), SystemExit(2)):

        def before(step: Any, error: BaseException = error) -> None:
            raise error

        with pytest.raises(HookError) as caught:
            await agent(["x"], before_step=before).invoke(prompt="x")
        assert caught.value.__cause__ is error


async def test_a_hook_that_is_cancelled_from_inside_ends_the_run() -> None:
    """A cancellation of its own making is its failure, not the run's."""

    async def before(step: Any) -> None:
        raise asyncio.CancelledError

    with pytest.raises(HookError, match="cancelled from inside"):
        await agent(["x"], before_step=before).invoke(prompt="x")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"allow_tool": 1}, "allow_tool"),
        ({"before_step": "x"}, "before_step"),
        ({"after_step": [print, None]}, "after_step"),
        ({"on_tool_error": "ignore"}, "on_tool_error"),
        ({"on_denied": None}, "on_denied"),
        ({"limits": {"max_steps": 3}}, "limits"),
        ({"output": print}, "output"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], named: str) -> None:
    """When the agent is made."""
    with pytest.raises(InvalidValueError) as caught:
        Agent(lm=Echo(), **options)
    assert caught.value.code == "invalid_agent"
    assert caught.value.message.startswith(f"{named}:")


def test_the_opening_of_a_conversation_is_what_is_sent() -> None:
    """A system message only where the author says something."""
    assert loop_of(agent(Echo())).transcript == [UserMessage("go")]
