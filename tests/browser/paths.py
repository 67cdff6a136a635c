"""What every page does, whatever browser, host or policy it meets; each path asserts by itself.

A path drives the page through the harness alone. `Tab` is what the paths of Playwright's Chromium get.
"""

from collections.abc import Callable

from tests.browser.provider import Provider, Text, answers, calls, says
from tests.browser.tab import PageError, Tab

COUNT = """(async () => {
  const items = [];
  for await (const item of harness.langfx.stream("agents:count", [3])) items.push(item);
  return items;
})()"""
MODULES = ("agents.py", "typed.py")


def call(tab: Tab, provider: Provider) -> None:
    """Functions of modules, one of them with pydantic."""
    assert tab.call("agents:echo", [{"text": "ü", "list": [1, None, 2.5]}]) == {"text": "ü", "list": [1, None, 2.5]}
    assert tab.call("agents:sleep", [0.01]) == "awake"
    assert tab.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}


def stream(tab: Tab, provider: Provider) -> None:
    """A generator of a module, and the deltas of a provider as they come."""
    assert tab.attempt(COUNT) == [0, 1, 2]
    provider.play("path stream", says("one ", "two ", "three", pause=0.05))
    outcome = tab.turn("path stream")
    assert [event["delta"] for event in outcome.of_type("text_delta")] == ["one ", "two ", "three"]
    assert outcome.result["stopReason"] == "end_turn"


def typed_tool(tab: Tab, provider: Provider) -> None:
    """A Python tool whose arguments are checked."""
    provider.play("path add", calls("add", '{"a": 2, "b": 40}'), says("It is 42."))
    outcome = tab.turn("path add")
    assert [event["content"] for event in outcome.of_type("tool_end")] == ["42"]
    assert outcome.text == "It is 42."
    provider.play("path misfit", calls("add", '{"a": "two", "b": 40}'), says("Sorry."))
    (end,) = tab.turn("path misfit").of_type("tool_end")
    assert (end["isError"], end["errorCode"]) == (True, "tool_arguments_invalid")


def page_tool(tab: Tab, provider: Provider) -> None:
    """A tool that runs on the page."""
    provider.play("path paint", calls("paint", '{"colour": "teal"}'), says("Done."))
    outcome = tab.turn("path paint")
    assert [event["content"] for event in outcome.of_type("tool_end")] == ["painted teal"]
    assert tab.attempt("document.body.dataset.colour") == "teal"


def cancel(tab: Tab, provider: Provider) -> None:
    """A turn that is cancelled ends as such, and the provider sees the connection close."""
    provider.play("path cancel", answers(Text(deltas=("a", "b", *("c" * 100)), pause=0.2)))
    name = tab.start("path cancel", session="path cancel")
    tab.wait_for_events(name, 2)
    assert tab.cancel("path cancel")["outcome"] == "cancelled"
    assert tab.finish(name).result["stopReason"] == "cancelled"
    (exchange,) = provider.exchanges("path cancel")
    assert exchange.wait_ended(10)
    assert exchange.client_closed_at is not None


def fatal(tab: Tab, provider: Provider) -> None:
    """When the interpreter dies everything that waits ends, and connecting again gives a new one.

    Pyodide complains on the console of what has killed it, and of nothing before that.
    """
    assert tab.console.complaints == []
    pending = "Promise.all([1, 2].map(() => harness.attempt(() => harness.langfx.call('agents:sleep', [60]))))"
    tab.attempt(f"void (globalThis.pending = {pending})")
    try:
        tab.call("agents:exhaust_stack")
    except PageError as error:
        assert error.code == "worker_stopped"
    else:
        raise AssertionError("the interpreter is still alive")
    assert [answer["error"]["code"] for answer in tab.attempt("pending")] == ["worker_stopped"] * 2
    assert tab.attempt("harness.langfx.closed.then(({ reason }) => reason)") == "fatal"
    tab.connect(*MODULES)
    assert tab.call("agents:echo", ["again"]) == "again"


PATHS: dict[str, Callable[[Tab, Provider], None]] = {
    path.__name__: path for path in (call, stream, typed_tool, page_tool, cancel, fatal)
}
