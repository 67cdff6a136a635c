"""What goes wrong ends as a clear error with a code, and Python goes on serving (the fixture `tab` checks it)."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.browser.provider import (
    Answer,
    Provider,
    beginning,
    calls,
    drops,
    event,
    fails,
    responds,
    says,
    sends,
    tool_results,
)
from tests.browser.tab import PageError, Tab


def refused(work: Callable[[], object]) -> PageError:
    """The error that the page's promise rejects with."""
    with pytest.raises(PageError) as caught:
        work()
    return caught.value


def test_unknown_agent(tab: Tab) -> None:
    """The first turn with an agent that no module defines fails and names those that exist."""
    error = refused(lambda: tab.turn("hello", agent="nobody"))
    assert error.code == "no_agent"
    assert "desk" in error.message


def test_python_exception_in_a_tool(tab: Tab, provider: Provider) -> None:
    """The call ends with its error, the model is told the message, and the turn goes on."""
    provider.play("explode", calls("explode", "{}"), says("Sorry."))
    outcome = tab.turn("explode")
    end = outcome.of_type("tool_end")[0]
    assert (end["isError"], end["errorCode"]) == (True, "tool_failed")
    assert end["content"].endswith("the boiler is cold")
    assert outcome.result["stopReason"] == "end_turn"
    result = tool_results(provider.bodies("explode")[1])[0]
    assert result["is_error"] is True
    assert "the boiler is cold" in json.dumps(result)
    assert "Traceback" not in json.dumps(result)


@pytest.mark.parametrize(
    "arguments",
    ['{"a": "two", "b": 1}', '{"a": 1}', '{"a": 1, "b": 2, "c": 3}', '{"a": 1,', "[" * 6000, '{"a": {' * 6000],
    ids=["wrong type", "missing", "extra", "cut", "deep list", "deep object"],
)
def test_bad_tool_arguments(tab: Tab, provider: Provider, arguments: str, request: pytest.FixtureRequest) -> None:
    """The function is not called, the call ends with `tool_arguments_invalid`, and the model can try again."""
    prompt = request.node.name
    provider.play(prompt, calls("add", arguments), says("I see."))
    outcome = tab.turn(prompt)
    assert outcome.of_type("tool_start") == []
    end = outcome.of_type("tool_end")[0]
    assert (end["name"], end["isError"], end["errorCode"]) == ("add", True, "tool_arguments_invalid")
    assert outcome.text == "I see."
    assert tool_results(provider.bodies(prompt)[1])[0]["is_error"] is True


def test_platform_30_unknown_tool(tab: Tab, provider: Provider) -> None:
    """A call of a tool that nobody has ends with `tool_not_found`, and the turn goes on."""
    provider.play("magic", calls("do_magic", "{}"), says("No magic."))
    outcome = tab.turn("magic")
    assert outcome.of_type("tool_end")[0]["errorCode"] == "tool_not_found"
    assert outcome.text == "No magic."


def test_platform_30_page_tool_that_throws(tab: Tab, provider: Provider) -> None:
    """What a page tool throws is told to the model."""
    provider.play("refuse", calls("refuse", "{}"), says("It would not."))
    outcome = tab.turn("refuse")
    end = outcome.of_type("tool_end")[0]
    assert end["isError"] is True
    assert "the page will not" in end["content"]
    result = tool_results(provider.bodies("refuse")[1])[0]
    assert result["is_error"] is True
    assert "the page will not" in json.dumps(result)


def test_platform_30_page_tool_that_never_answers(tab: Tab, provider: Provider) -> None:
    """After its time limit the call ends with `tool_timeout`, its signal is aborted, and the model is told."""
    provider.play("ignore", calls("ignore", "{}"), says("No answer."))
    outcome = tab.turn("ignore")
    end = outcome.of_type("tool_end")[0]
    assert (end["isError"], end["errorCode"]) == (True, "tool_timeout")
    assert 900 <= end["durationMs"] < 3000
    assert tool_results(provider.bodies("ignore")[1])[0]["is_error"] is True
    tab.page.wait_for_function("() => document.body.dataset.ignored === 'aborted'")


def test_platform_30_page_tool_that_answers_late(tab: Tab, provider: Provider) -> None:
    """An answer after the time limit changes nothing: the model was told of the limit, and the next turn is its own."""
    provider.play("dally", calls("dally", "{}"), says("Too late."))
    outcome = tab.turn("dally", session="dallying")
    (end,) = outcome.of_type("tool_end")
    assert (end["errorCode"], outcome.text) == ("tool_timeout", "Too late.")
    tab.attempt("harness.until(() => document.body.dataset.dallied)")
    provider.play("and now?", says("Nothing new."))
    assert tab.turn("and now?", session="dallying").text == "Nothing new."
    assert "late answer" not in json.dumps(provider.bodies("and now?"))


def test_a_tool_that_leaves_as_a_script_would(new_tab: Callable[..., Tab], provider: Provider) -> None:
    """`sys.exit` ends the call, and neither the turn nor the worker."""
    tab = new_tab()
    tab.connect("agents.py", "probes.py")
    provider.play("leave", calls("leave", "{}"), says("It left."))
    outcome = tab.turn("leave", agent="busy")
    assert (outcome.of_type("tool_end")[0]["isError"], outcome.text) == (True, "It left.")
    assert tab.call("agents:echo", ["still here"]) == "still here"
    assert tab.console.complaints == []


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An answer of the provider, the code that the turn ends with, and how often it is asked."""

    answer: Answer
    code: str
    requests: int = 1


FAILURES = {
    "wrong key": Failure(answer=fails(401, "authentication_error", "invalid x-api-key"), code="authentication"),
    "no credit": Failure(answer=fails(402, "billing_error", "Your balance is too low"), code="quota_exceeded"),
    "unknown model": Failure(answer=fails(404, "not_found_error", "model: scripted"), code="model_not_found"),
    "too many requests": Failure(
        answer=fails(429, "rate_limit_error", "Slow down", {"retry-after": "0"}), code="rate_limit", requests=2
    ),
    "server error": Failure(answer=fails(500, "api_error", "Internal server error"), code="temporary", requests=2),
    "overloaded": Failure(answer=fails(529, "overloaded_error", "Overloaded"), code="temporary", requests=2),
    "web page": Failure(answer=responds("text/html", "<p>Please log in</p>"), code="protocol"),
    "other document": Failure(answer=responds("application/json", '{"hello": "world"}'), code="protocol"),
    "no JSON": Failure(answer=sends(b"event: message_start\ndata: {oops\n\n"), code="protocol"),
    "deep JSON": Failure(answer=sends(b"data: " + b"[" * 100_000 + b"\n\n"), code="protocol"),
    "nothing": Failure(answer=sends(), code="incomplete_generation", requests=2),
    "half a stream": Failure(answer=sends(*beginning("once ", "upon ")), code="incomplete_generation"),
    "broken connection": Failure(answer=drops(*beginning("once ", "upon "), 0.3), code="connection"),
    "error in the stream": Failure(
        answer=sends(*beginning("so "), event("error", error={"type": "overloaded_error", "message": "Overloaded"})),
        code="temporary",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_provider_failure(shared_tab: Tab, provider: Provider, name: str) -> None:
    """A failure of the provider is the turn's error, with a code and no internals; the next turn works."""
    failure, prompt = FAILURES[name], f"provider: {name}"
    provider.play(prompt, failure.answer)
    result = shared_tab.turn(prompt).result
    assert (result["stopReason"], result["error"]["code"]) == ("error", failure.code)
    assert not re.search("Traceback|<p>|\\[\\[", result["error"]["message"])
    assert len(provider.exchanges(prompt)) == failure.requests
    provider.play("still there?", says("Yes."))
    assert shared_tab.turn("still there?").text == "Yes."


def test_a_cut_answer_keeps_what_was_said(tab: Tab, provider: Provider) -> None:
    """The text before the cut was shown, once."""
    provider.play("cut", sends(*beginning("once ", "upon ")))
    assert tab.turn("cut").text == "once upon "


def test_a_retried_request_is_seen_once(shared_tab: Tab, provider: Provider) -> None:
    """A turn survives one failure before the first chunk without a trace in its events."""
    provider.play("again", fails(500, "api_error", "oops"), says("Now it works."))
    outcome = shared_tab.turn("again")
    assert (outcome.text, outcome.result["stopReason"]) == ("Now it works.", "end_turn")
    assert len(provider.exchanges("again")) == 2


def test_prompt_over_8_mib(tab: Tab) -> None:
    """A prompt that is too large is refused before anything is stored or sent."""
    turn = "harness.langfx.agent('desk').session().prompt('x'.repeat(8 * 2 ** 20 + 1)).accepted"
    assert refused(lambda: tab.attempt(turn)).code == "input_too_large"


def test_platform_19_values_that_cannot_cross(tab: Tab) -> None:
    """A value that Python cannot get is refused on the page, with its path."""
    assert refused(lambda: tab.attempt("harness.langfx.call('agents:echo', [NaN])")).code == "not_portable"
    cycle = "(() => { const a = []; a.push(a); return harness.langfx.call('agents:echo', [a]); })()"
    assert refused(lambda: tab.attempt(cycle)).code == "not_portable"
    deep = "harness.langfx.call('agents:echo', [Array.from({ length: 300 }).reduce((inner) => [inner], 1)])"
    assert refused(lambda: tab.attempt(deep)).code == "message_too_deep"


@pytest.mark.parametrize(
    "target", ["agents:_hidden", "agents:missing", "agents:desk.invoke", "os:getcwd", "missing:echo", "echo", ""]
)
def test_platform_32_targets_that_are_no_public_function(tab: Tab, target: str) -> None:
    """Only public functions of the page's own modules can be called."""
    assert refused(lambda: tab.call(target)).code == "target_not_found"


def test_exception_in_a_called_function(tab: Tab) -> None:
    """The error has the exception's type, its message and where it was raised."""
    error = refused(lambda: tab.call("agents:fail"))
    assert error.code == "user_code_failed"
    assert "no such shelf" in error.message
    assert error.details["type"] == "ValueError"
    assert "agents.py" in error.details["traceback"]


def test_wrong_arguments_of_a_called_function(tab: Tab) -> None:
    """Arguments that do not fit are an error of the call, not of the worker."""
    assert refused(lambda: tab.call("agents:echo", {"other": 1})).code in {"user_code_failed", "invalid_argument"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("module", []),
        ("store", "disk"),
        ("modules", "agents.py"),
        ("modules", ["http://["]),
        ("baseUrl", "http://["),
        ("packages", [" "]),
        ("timeout", -1),
    ],
)
def test_bad_options(shared_tab: Tab, option: str, value: object) -> None:
    """A misspelt or malformed option of `connect` is refused at once, by name, and no worker is started."""
    error = refused(lambda: shared_tab.attempt("harness.connect(argument)", {option: value}))
    assert (error.code, error.details["option"]) == ("invalid_argument", option)
    assert len(shared_tab.page.workers) == 1
