"""Turns over a real stream from a server, in every engine."""

from tests.browser.provider import Provider, beginning, calls, drops, says, tool_results
from tests.browser.tab import Tab


def test_an_agent_runs_its_tools(tab: Tab, provider: Provider) -> None:
    """A typed Python tool and a tool of the page run, the model is told, and its text arrives while it is written."""
    words = tuple(f"word{number} " for number in range(8))
    provider.play(
        "both", calls("add", '{"a": 2, "b": 40}'), calls("paint", '{"colour": "teal"}'), says(*words, pause=0.1)
    )
    outcome = tab.turn("both")
    assert [(event["content"], event["isError"]) for event in outcome.of_type("tool_end")] == [
        ("42", False),
        ("painted teal", False),
    ]
    assert "painted teal" in str(tool_results(provider.bodies("both")[2])[-1])
    assert tab.page.evaluate("() => document.body.dataset.colour") == "teal"
    assert (outcome.text, outcome.result["stopReason"]) == ("".join(words), "end_turn")
    first = outcome.of_type("text_delta")[0]["at"]
    ended = provider.exchanges("both")[-1].ended_at
    assert ended is not None
    assert first < ended


def test_wrong_arguments_are_told_to_the_model(tab: Tab, provider: Provider) -> None:
    """Schemas are checked by pydantic in every engine."""
    provider.play("wrong", calls("add", '{"a": "two", "b": 1}'), says("I see."))
    outcome = tab.turn("wrong")
    assert outcome.of_type("tool_end")[0]["errorCode"] == "tool_arguments_invalid"
    assert outcome.text == "I see."


def test_cancel_reaches_the_server(tab: Tab, provider: Provider) -> None:
    """Cancelling in the middle of the body closes the connection; the next turn works."""
    provider.play("long", says(*["on "] * 400, pause=0.05))
    turn = tab.start("long", session="cancelled")
    tab.wait_for_events(turn, 3)
    cancelled = tab.cancel("cancelled")
    outcome = tab.finish(turn)
    assert (cancelled["outcome"], outcome.result["stopReason"]) == ("cancelled", "cancelled")
    exchange = provider.exchanges("long")[0]
    assert exchange.wait_ended(10)
    assert exchange.client_closed_at is not None
    provider.play("again", says("Here."))
    assert tab.turn("again", session="cancelled").text == "Here."


def test_a_broken_connection_is_a_code(tab: Tab, provider: Provider) -> None:
    """Whatever an engine calls it, the turn fails as `connection`, and what was said stays."""
    provider.play("broken", drops(*beginning("once ", "upon "), 0.3))
    outcome = tab.turn("broken")
    assert (outcome.result["error"]["code"], outcome.text) == ("connection", "once upon ")
