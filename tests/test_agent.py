"""An agent is configuration: checked when it is made, without any I/O."""

from __future__ import annotations

import pytest

import langfx_web as lf
from langfx_web.errors import InvalidValueError, ToolNameTakenError
from langfx_web.testing import Echo, StaticSequence


@lf.tool(idempotent=True)
def look() -> str:
    """Look."""
    return "seen"


@lf.tool
def undecided() -> str:
    """Say nothing of its promises."""
    return "done"


def many(count: int) -> list[lf.Tool]:
    return [
        lf.Tool(name=f"t{n}", description="d", input={"type": "object"}, function=lambda arguments, context: None)
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        ({"name": ""}, "invalid_agent", "name"),
        ({"name": "a b"}, "invalid_agent", "name"),
        ({"name": "x" * 129}, "invalid_agent", "name"),
        ({"lm": "claude"}, "invalid_agent", "lm"),
        ({"instructions": "x" * 65537}, "invalid_agent", "instructions"),
        ({"instructions": [1]}, "invalid_agent", "instructions"),
        ({"instructions": 7}, "invalid_agent", "instructions"),
        ({"tools": many(65)}, "invalid_agent", "tools"),
        ({"tools": 7}, "invalid_tool", "tools"),
        ({"tools": look}, "invalid_tool", "tools"),
        ({"store": []}, "invalid_agent", "store"),
        ({"models": {"large": {"vision": True}}}, "invalid_agent", "models: there is no capability 'vision'"),
        ({"models": {"large": 7}}, "invalid_agent", "models"),
        ({"models": ["large"]}, "invalid_agent", "models"),
        ({"tools": [look, look]}, "tool_name_taken", "look"),
        ({"tools": {"other": look}}, "invalid_tool", "other"),
        ({"tools": [lambda: 1]}, "invalid_tool", "lf.tool"),
    ],
)
def test_bad_options_are_named(options, code, named) -> None:
    """At construction."""
    with pytest.raises((InvalidValueError, ToolNameTakenError)) as caught:
        lf.Agent(**({"lm": Echo()} | options))
    assert caught.value.code == code
    assert named in str(caught.value)


def test_an_unknown_option_is_a_type_error() -> None:
    """As with any function."""
    with pytest.raises(TypeError):
        lf.Agent(lm=Echo(), temperature=1)


def test_context_20_a_session_needs_to_know_the_promises_of_its_tools() -> None:
    """The one-shot run reads unset as not idempotent; a stored conversation asks."""
    agent = lf.Agent(lm=Echo(), tools=[undecided])
    with pytest.raises(InvalidValueError) as caught:
        agent.session("s")
    assert caught.value.code == "invalid_tool"
    assert "undecided" in str(caught.value)


async def test_sessions_of_one_agent_share_its_memory() -> None:
    """By id, without a store being named."""
    agent = lf.Agent(lm=Echo(), tools=[look])
    await agent.session("s").prompt("hello").result
    assert [message.text for message in await agent.session("s").messages()] == ["hello", "hello"]
    assert await agent.session("other").messages() == []


async def test_instructions_may_come_in_pieces() -> None:
    """Joined by a blank line, blank ones dropped; a session may have its own."""
    lm = StaticSequence(["a", "b"])
    agent = lf.Agent(lm=lm, instructions=["Be kind.", " ", "Be brief."])
    await agent.invoke(prompt="x")
    await agent.session("s", instructions=["Own.", "Words."]).prompt("x").result
    assert [request.messages[0].text for request in lm.requests] == ["Be kind.\n\nBe brief.", "Own.\n\nWords."]


async def test_no_instructions_and_no_tools_mean_no_system_message() -> None:
    """The model gets the prompt alone."""
    lm = StaticSequence(["a"])
    await lf.Agent(lm=lm).invoke(prompt="x")
    assert [message.role for message in lm.requests[0].messages] == ["user"]


def test_with_tools_adds_to_a_copy() -> None:
    """Names stay unique; the original is as it was."""
    agent = lf.Agent(lm=Echo(), name="a", tools=[look])
    joined = agent.with_tools([undecided])
    assert (joined.tools.names(), agent.tools.names(), joined.name) == (["look", "undecided"], ["look"], "a")
    with pytest.raises(ToolNameTakenError):
        agent.with_tools([look])


async def test_an_agent_is_an_action() -> None:
    """It runs in a session, which traces it and counts its cost."""
    message = lf.AIMessage("ok", usage=lf.Usage(input_tokens=1, output_tokens=1, total_tokens=2))
    agent = lf.Agent(lm=StaticSequence([message]), name="helper")
    async with lf.Session() as session:
        assert await agent.invoke(session, prompt="x") == "ok"
        assert [node.name for node in session.root.walk()] == ["Session", "Agent:helper", "step 0"]
        assert session.usage.usage.total_tokens == 2
