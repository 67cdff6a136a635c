"""Turns on the real bundle: text, tools in Python and on the page, cancelling, several at once."""

import json
from base64 import b64encode
from itertools import pairwise

from tests.browser.provider import Call, Provider, Text, answers, calls, says, tool_results
from tests.browser.tab import Tab
from tests.messages.pictures import PNG


def test_text_arrives_as_the_server_sends_it(tab: Tab, provider: Provider) -> None:
    """Each delta reaches the page's iterator on its own, well before the answer is complete."""
    words = tuple(f"word{number} " for number in range(10))
    provider.play("slowly", says(*words, pause=0.08))
    outcome = tab.turn("slowly")
    deltas = outcome.of_type("text_delta")
    assert [event["delta"] for event in deltas] == list(words)
    assert outcome.result["stopReason"] == "end_turn"
    ended = provider.exchanges("slowly")[0].ended_at
    assert ended is not None
    assert ended - deltas[0]["at"] > 0.5
    arrivals = [event["at"] for event in deltas]
    assert max(later - earlier for earlier, later in pairwise(arrivals)) < 0.4


def test_lines_are_numbered_and_name_their_prompt(tab: Tab, provider: Provider) -> None:
    """Every event carries the id of its prompt and a cursor that grows by one per stored line."""
    provider.play("number", says("a", "b", "c"))
    outcome = tab.turn("number")
    cursors = [event["cursor"] for event in outcome.events]
    assert cursors == list(range(cursors[0], cursors[0] + 3))
    assert {event["messageId"] for event in outcome.events} == {outcome.result["messageId"]}


def test_python_tool_runs_with_typed_arguments(tab: Tab, provider: Provider) -> None:
    """A call runs the Python function; its result is an event and reaches the model in the next request."""
    provider.play("add", calls("add", '{"a": 2, "b": 40}'), says("It is 42."))
    outcome = tab.turn("add")
    start, end = outcome.of_type("tool_start")[0], outcome.of_type("tool_end")[0]
    assert (start["name"], start["input"]) == ("add", {"a": 2, "b": 40})
    assert (end["content"], end["isError"], end["executionId"]) == ("42", False, start["executionId"])
    assert outcome.text == "It is 42."
    assert "42" in json.dumps(tool_results(provider.bodies("add")[1]))


def test_page_tool_changes_the_page(tab: Tab, provider: Provider) -> None:
    """A tool given to `connect` runs on the page and can touch its DOM."""
    provider.play("paint", calls("paint", '{"colour": "teal"}'), says("Done."))
    outcome = tab.turn("paint")
    assert tab.page.locator("body").get_attribute("data-colour") == "teal"
    assert outcome.of_type("tool_end")[0]["content"] == "painted teal"
    assert "painted teal" in json.dumps(tool_results(provider.bodies("paint")[1]))


def test_model_is_told_of_both_kinds_of_tools(tab: Tab, provider: Provider) -> None:
    """Python tools and page tools are declared alike."""
    provider.play("tools", says("Fine."))
    tab.turn("tools")
    tools = {tool["name"]: tool["input_schema"] for tool in provider.bodies("tools")[0]["tools"]}
    assert tools["add"]["required"] == ["a", "b"]
    assert tools["paint"]["required"] == ["colour"]


def test_session_remembers(tab: Tab, provider: Provider) -> None:
    """A second prompt is asked with everything that was said before."""
    provider.play("my name is Ada", says("Hello Ada."))
    provider.play("what is my name?", says("Ada."))
    tab.turn("my name is Ada", session="memory")
    tab.turn("what is my name?", session="memory")
    sent = json.dumps(provider.bodies("what is my name?")[0]["messages"])
    assert "my name is Ada" in sent
    assert "Hello Ada." in sent


def test_context_39_a_person_on_the_page_approves_a_call(tab: Tab, provider: Provider) -> None:
    """The turn waits with its question; a wrong answer leaves it open, the right one lets the call run."""
    provider.play("pay", calls("pay", '{"order": "7"}'), says("Paid."))
    turn = tab.start("pay", agent="till", session="till")
    tab.wait_for_events(turn, 1)
    asking = """async () => {
      const session = harness.sessions["till"];
      const [gate] = await session.gates();
      const wrong = await session.answer(gate.id, "yes").catch((error) => error.code);
      await session.answer(gate.id, true);
      return [gate.payload.args, gate.schema, wrong];
    }"""
    assert tab.page.evaluate(asking) == [{"order": "7"}, {"type": "boolean"}, "gate_answer_invalid"]
    outcome = tab.finish(turn)
    assert [event["type"] for event in outcome.events][:4] == ["gate_open", "gate_closed", "tool_start", "tool_end"]
    assert (outcome.of_type("tool_end")[0]["content"], outcome.text) == ("paid 7", "Paid.")


def test_bug_093_a_picture_of_the_page_reaches_the_model(tab: Tab, provider: Provider) -> None:
    """A Blob is sent under the type that it is, in later turns too, and the conversation gives its bytes back."""
    provider.play("what is it?", says("A dot."))
    provider.play("and now?", says("Still a dot."))
    outcome = tab.attempt(
        """(async () => {
          const session = harness.langfx.agent("desk").session();
          const image = { type: "image", mimeType: "image/jpeg", data: new Blob([new Uint8Array(argument)]) };
          await session.prompt([image, "what is it?"]).result;
          const { stopReason } = await session.prompt("and now?").result;
          const [{ parts: [{ type, mimeType, data }] }] = await session.messages();
          return { stopReason, type, mimeType, data: [...data] };
        })()""",
        list(PNG),
    )
    assert outcome == {"stopReason": "end_turn", "type": "image", "mimeType": "image/png", "data": list(PNG)}
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b64encode(PNG).decode()}}
    for prompt in ("what is it?", "and now?"):
        assert provider.bodies(prompt)[0]["messages"][0]["content"][0] == block


def test_two_sessions_run_at_once(tab: Tab, provider: Provider) -> None:
    """Turns of two conversations overlap, and each gets only its own text."""
    provider.play("left", says(*["l"] * 8, pause=0.06))
    provider.play("right", says(*["r"] * 8, pause=0.06))
    left, right = tab.start("left"), tab.start("right")
    outcomes = tab.finish(left), tab.finish(right)
    assert [outcome.text for outcome in outcomes] == ["l" * 8, "r" * 8]
    starts = [outcome.events[0]["at"] for outcome in outcomes]
    ends = [outcome.events[-1]["at"] for outcome in outcomes]
    assert max(starts) < min(ends)


def test_cancel_reaches_the_server(tab: Tab, provider: Provider) -> None:
    """Cancelling a turn ends it, keeps what was said, and the server sees the client go within a second."""
    provider.play("long", says(*["on and "] * 200, pause=0.05))
    provider.play("and now?", says("Here I am."))
    turn = tab.start("long", session="cancelled")
    tab.wait_for_events(turn, 3)
    cancelled = tab.cancel("cancelled")
    outcome = tab.finish(turn)
    assert cancelled["outcome"] == "cancelled"
    assert outcome.result["stopReason"] == "cancelled"
    assert outcome.text.startswith("on and on and ")
    exchange = provider.exchanges("long")[0]
    assert exchange.wait_ended(3)
    assert exchange.client_closed_at is not None
    assert exchange.client_closed_at - cancelled["at"] < 1
    assert tab.turn("and now?", session="cancelled").text == "Here I am."


def test_cancel_ends_a_running_tool(tab: Tab, provider: Provider) -> None:
    """A tool that is running when the turn is cancelled is cancelled too; its call gets an end all the same."""
    provider.play("dawdle", calls("wait_long", "{}"))
    turn = tab.start("dawdle", session="dawdling")
    tab.wait_for_events(turn, 1)
    tab.cancel("dawdling")
    outcome = tab.finish(turn)
    assert outcome.result["stopReason"] == "cancelled"
    assert [event["isError"] for event in outcome.of_type("tool_end")] == [True]


def test_cancel_aborts_the_signal_of_a_page_tool(tab: Tab, provider: Provider) -> None:
    """A page tool learns through its signal that the turn was cancelled."""
    provider.play("ignore me", calls("ignore", "{}"))
    tab.page.evaluate("() => delete document.body.dataset.ignored")
    turn = tab.start("ignore me", session="ignoring")
    tab.wait_for_events(turn, 1)
    tab.cancel("ignoring")
    assert tab.finish(turn).result["stopReason"] == "cancelled"
    tab.page.wait_for_function("() => document.body.dataset.ignored === 'aborted'")


def test_text_and_calls_of_one_reply(tab: Tab, provider: Provider) -> None:
    """Two calls in one reply both run, and their results go back in the order of the calls."""
    first, second = (
        Call(name="add", arguments=f'{{"a": {number}, "b": 0}}', id=f"toolu_{number}") for number in (1, 2)
    )
    provider.play("both", answers(Text(deltas=("Adding. ",)), first, second), says("Added."))
    outcome = tab.turn("both")
    assert outcome.text == "Adding. Added."
    assert sorted(event["content"] for event in outcome.of_type("tool_end")) == ["1", "2"]
    assert [result["tool_use_id"] for result in tool_results(provider.bodies("both")[1])] == ["toolu_1", "toolu_2"]


def test_readable_has_all_lines_as_ndjson(tab: Tab, provider: Provider) -> None:
    """`turn.readable` gives the stored lines from `turn_start` to `turn_end`, one JSON object each."""
    provider.play("lines", says("a", "b"))
    turn = tab.start("lines")
    tab.finish(turn)
    text = tab.attempt(f"new Response(harness.turns['{turn}'].turn.readable).text()")
    kinds = [json.loads(line)["type"] for line in text.splitlines()]
    assert kinds == ["turn_start", "text_delta", "text_delta", "turn_end"]


def test_functions_and_generators_of_a_module(tab: Tab) -> None:
    """`call` takes positions or keywords, `stream` iterates an async generator."""
    assert tab.call("agents:echo", [{"deep": [1, None, "ü"]}]) == {"deep": [1, None, "ü"]}
    assert tab.call("agents:echo", {"value": 1.5}) == 1.5
    numbers = "Array.fromAsync(harness.langfx.stream('agents:count', { upto: 5 }))"
    assert tab.attempt(numbers) == [0, 1, 2, 3, 4]
