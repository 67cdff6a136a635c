"""Typed answers on the real bundle: values and streams of fields that functions of a module give to the page."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.provider import Provider, says
from tests.browser.tab import PageError, Tab

NewTab = Callable[..., Tab]
MODULES = ("agents.py", "typed_queries.py")
ANSWER = "```python\nNote(text='hé', day='2026-01-02', times=[1, 9007199254740993])\n```"

READ = """(async () => {
  const events = [];
  for await (const event of harness.langfx.stream("typed_queries:stream", [argument.prompt])) {
    events.push(event.type === "generation_complete" ? harness.show(event.value) : event);
    if (event.type === argument.until) break;
  }
  return events;
})()"""


def asked(prompt: str) -> str:
    """The user's text in the request of a typed query."""
    return f"REQUEST:\n  {prompt}\n\nOUTPUT PYTHON OBJECT:"


def read(tab: Tab, prompt: str, *, until: str = "") -> list[Any]:
    """The events of a stream as the page gets them, of the last one its value; ends at the first `until`."""
    events: list[Any] = tab.attempt(READ, {"prompt": prompt, "until": until})
    return events


def test_a_new_page_gets_fields_and_then_the_value(new_tab: NewTab, provider: Provider) -> None:
    """The first thing that a worker is asked for may be a typed stream: nothing has to be loaded before."""
    provider.play(asked("first"), says(ANSWER))
    tab = new_tab()
    tab.connect(*MODULES)
    *events, value = read(tab, "first")
    kinds = [(event["type"], event["path"]) for event in events if event["type"] != "string_field_delta"]
    assert kinds[:3] == [("object_start", []), ("field_start", ["text"]), ("field_end", ["text"])]
    assert "".join(event["delta"] for event in events if event.get("delta") and event["path"] == ["text"]) == "hé"
    assert kinds[-1] == ("object_end", [])
    assert value == '{text: "hé", day: "2026-01-02", times: [1, 9007199254740993n]}'
    assert tab.console.complaints == []


def test_a_call_gives_the_value(tab: Tab, provider: Provider) -> None:
    """A function that awaits a query answers with the value as an object; its error says where it does not fit."""
    provider.play(asked("good"), says(ANSWER.replace("9007199254740993", "2")))
    provider.play(asked("bad"), says("Note(text='x', day='soon', times=[])"))
    assert tab.call("typed_queries:note", ["good"]) == {"text": "hé", "day": "2026-01-02", "times": [1, 2]}
    with pytest.raises(PageError) as caught:
        tab.call("typed_queries:note", ["bad"])
    assert (caught.value.code, caught.value.details["path"]) == ("mapping_failed", ["day"])


def test_fields_arrive_as_they_are_written(tab: Tab, provider: Provider) -> None:
    """Each delta of the provider is on the page before the next one is sent."""
    provider.play(asked("slowly"), says("Note(text='", *"abcdefgh", "', day='2026-01-02', times=[])", pause=0.05))
    events = read(tab, "slowly")
    deltas = [event["delta"] for event in events[:-1] if event.get("delta") and event["path"] == ["text"]]
    assert deltas == list("abcdefgh")


def test_leaving_the_loop_closes_the_request(tab: Tab, provider: Provider) -> None:
    """After `break` the server sees the client go, and the next stream works."""
    provider.play(asked("long"), says("Note(text='", *["on and "] * 200, pause=0.05))
    provider.play(asked("short"), says(ANSWER))
    events = read(tab, "long", until="string_field_delta")
    assert events[-1]["type"] == "string_field_delta"
    (exchange,) = provider.exchanges(asked("long"))
    assert exchange.wait_ended(2)
    assert exchange.client_closed_at is not None
    assert read(tab, "short")[-1].startswith('{text: "hé"')
