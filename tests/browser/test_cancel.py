"""Cancelling, at every moment: one end, the server sees the client go, nothing on the console, nothing is left."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.provider import Provider, beginning, calls, fails, says, sends
from tests.browser.tab import PageError, Tab
from worker.bundle.exchange import Exchange

NewTab = Callable[..., Tab]
# The worker can be looked into.
MODULES = ("agents.py", "probes.py")

CANCELLED = """(async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const work = (argument.stream
    ? Array.fromAsync(harness.langfx.stream(argument.stream, [argument.prompt], { signal: controller.signal }))
    : harness.langfx.call(argument.call, argument.args ?? [], { signal: controller.signal })
  ).then(() => "an end", (error) => error === reason);
  if (argument.after) await new Promise((resolve) => setTimeout(resolve, argument.after));
  if (argument.until) await harness.until(() => harness.said("items").some((message) =>
    JSON.stringify(message.items).includes(argument.until)));
  harness.cancelledAt = Date.now() / 1000;
  controller.abort(reason);
  const outcome = await work;
  return [outcome, Date.now() / 1000 - harness.cancelledAt];
})()"""


@pytest.fixture
def calm_tab(tab: Tab) -> Iterator[Tab]:
    """A tab in which, when the test is over, no task of ours is left."""
    yield tab
    for _ in range(50):
        tasks = [task for task in tab.call("probes:live_tasks") if "Credentials" not in task]
        if not tasks:
            return
        time.sleep(0.05)
    assert tasks == []


def silent(exchange: Exchange) -> None:
    """Give no answer."""
    exchange.wait(30)


def pauses(*deltas: str) -> Callable[[Exchange], None]:
    """An answer that begins and then says nothing for a long time."""
    return sends(*beginning(*deltas), 30.0)


def ends_of(tab: Tab, mark: int) -> list[str]:
    """The ends of all commands since a mark."""
    return [
        end["error"]["code"] if kind == "error" else kind
        for kind in ("result", "end", "error")
        for end in tab.attempt(f"harness.said('{kind}', argument)", mark)
    ]


def server_saw_the_close(provider: Provider, prompt: str, at: float) -> bool:
    """Whether the client of a prompt's request went away, at the latest a second after a time."""
    exchange = provider.exchanges(prompt)[0]
    assert exchange.wait_ended(5)
    return exchange.client_closed_at is not None and exchange.client_closed_at - at < 1


def test_platform_24_before_the_post(calm_tab: Tab) -> None:
    """A command that still waits for a Blob is dropped: Python hears nothing of it."""
    mark = calm_tab.attempt("harness.posts.length")
    script = """(async () => {
      const controller = new AbortController();
      const blob = new Blob(["x"]);
      blob.arrayBuffer = () => new Promise((resolve) => (harness.arrive = () => resolve(new ArrayBuffer(1))));
      const call = harness.langfx.call("agents:echo", [blob], { signal: controller.signal });
      controller.abort("changed my mind");
      return call.catch((reason) => reason);
    })()"""
    assert calm_tab.attempt(script) == "changed my mind"
    calm_tab.attempt("void harness.arrive()")
    assert calm_tab.call("agents:echo", [1]) == 1
    assert ends_of(calm_tab, mark) == ["result"]


def test_platform_24_at_once(calm_tab: Tab, provider: Provider) -> None:
    """A cancel that follows its command without a pause still ends it, for calls, streams and turns."""
    provider.play("at once", pauses("so "))
    mark = calm_tab.attempt("harness.posts.length")
    for work in ({"call": "agents:sleep", "args": [60]}, {"stream": "agents:count", "prompt": 10**9}):
        outcome, seconds = calm_tab.attempt(CANCELLED, work)
        assert (outcome, seconds < 2) == (True, True)
    assert ends_of(calm_tab, mark) == ["cancelled", "cancelled"]
    script = """(async () => {
      const controller = new AbortController();
      const { result } = harness.langfx.agent("desk").session().prompt("at once", { signal: controller.signal });
      controller.abort();
      return (await result).stopReason;
    })()"""
    assert calm_tab.attempt(script) == "cancelled"


@pytest.mark.parametrize("kind", ["stream", "turn"])
@pytest.mark.parametrize("moment", ["before the headers", "between chunks", "while the consumer is busy"])
def test_platform_24_bug_059_during_a_request(calm_tab: Tab, provider: Provider, kind: str, moment: str) -> None:
    """One end within moments; the request is gone, whatever Python was waiting for."""
    tab, prompt = calm_tab, f"{kind} cancelled {moment}"
    provider.play(prompt, silent if moment == "before the headers" else pauses("so ", "far "))
    mark = tab.attempt("harness.posts.length")
    if kind == "stream":
        busy = moment == "while the consumer is busy"
        work = {"stream": "probes:say_slowly" if busy else "probes:say", "prompt": prompt}
        if moment == "before the headers":
            tab.attempt("void (harness.working = argument)", work)
            work["after"] = 600
        else:
            work["until"] = "so " if busy else "far "
            tab.attempt("void (harness.posts.length = 0)")
            mark = 0
        outcome, seconds = tab.attempt(CANCELLED, work)
        assert outcome is True
        at = tab.attempt("harness.cancelledAt")
        assert ends_of(tab, mark) == ["cancelled"]
    else:
        turn = tab.start(prompt, session=prompt)
        if moment == "before the headers":
            wait_for_request(provider, prompt)
        else:
            tab.wait_for_events(turn, 2)
        cancelled = tab.cancel(prompt)
        at, started = cancelled["at"], time.time()
        result = tab.finish(turn).result
        seconds = time.time() - started
        assert (cancelled["outcome"], result["stopReason"], result["error"]) == ("cancelled", "cancelled", None)
        assert sorted(ends_of(tab, mark)) == ["end", "result"]
    assert seconds < 2
    assert server_saw_the_close(provider, prompt, at)


def wait_for_request(provider: Provider, prompt: str) -> None:
    """Until the provider was asked."""
    for _ in range(200):
        if provider.exchanges(prompt):
            return
        time.sleep(0.05)
    raise AssertionError("no request came")


def test_platform_24_and_38_bug_060_in_a_page_tool(calm_tab: Tab, provider: Provider) -> None:
    """While a tool waits on the page: the turn settles within 100 ms of the cancel, the handler is told."""
    provider.play("ask the page", calls("ignore", "{}"))
    script = """(async () => {
      delete document.body.dataset.ignored;
      const session = harness.langfx.agent("desk").session();
      const turn = session.prompt("ask the page");
      for await (const event of turn) if (event.type === "tool_start") break;
      await harness.until(() => harness.said("tool_call", argument).length);
      const at = performance.now();
      const [outcome, { stopReason }] = await Promise.all([session.cancel(), turn.result]);
      const waited = performance.now() - at;
      await harness.until(() => document.body.dataset.ignored === "aborted");
      const before = performance.now();
      await harness.langfx.call("probes:reset");
      return [outcome, stopReason, waited, performance.now() - before];
    })()"""
    waits, trips = [], []
    for _ in range(3):
        mark = calm_tab.attempt("harness.posts.length")
        outcome, reason, waited, trip = calm_tab.attempt(script, mark)
        assert (outcome, reason) == ("cancelled", "cancelled")
        assert sorted(ends_of(calm_tab, mark)) == ["end", "result", "result"]
        waits.append(waited)
        trips.append(trip)
    # A busy machine takes as long for anything: what a mere call costs there is granted a few times.
    assert min(waits) < 100 + 10 * max(trips)


def test_platform_24_while_waiting_for_credentials(new_tab: NewTab) -> None:
    """No request is made, and the page's late answer does no harm: it serves the next turn."""
    tab = new_tab()
    tab.attempt("void (harness.credential = new Promise((resolve) => (harness.give = resolve)))")
    tab.connect("agents.py")
    turn = tab.start("hello", agent="keyed", session="waiting")
    tab.attempt("harness.until(() => harness.said('credential_request').length)")
    mark = tab.attempt("harness.posts.length")
    assert tab.cancel("waiting")["outcome"] == "cancelled"
    assert tab.finish(turn).result["stopReason"] == "cancelled"
    assert sorted(ends_of(tab, mark)) == ["end", "result"]
    tab.attempt("void harness.give('late-key')")
    assert tab.call("agents:echo", ["still here"]) == "still here"
    assert tab.console.complaints == []


def test_platform_25_bug_054_two_hundred_steps_on_one_signal(calm_tab: Tab, provider: Provider) -> None:
    """No listener stays, after any step; the signal still stops a later run."""
    busy = fails(503, "api_error", "busy", {"retry-after": "0"})
    steps = [answer for step in range(200) for answer in (busy, calls("paint", '{"colour": "x"}'))[step % 10 > 0 :]]
    provider.play("two hundred", *steps, says("Done."))
    provider.play("again and again", calls("paint", '{"colour": "y"}'))
    script = """(async () => {
      const controller = new AbortController();
      const { signal } = controller;
      let [listeners, most] = [0, 0];
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      signal.addEventListener = (...args) => ((most = Math.max(most, ++listeners)), add(...args));
      signal.removeEventListener = (...args) => (listeners--, remove(...args));
      const run = async (prompt, wanted) => {
        const turn = harness.langfx.agent("patient").session().prompt(prompt, { signal });
        let steps = 0;
        for await (const { type } of turn) {
          if (type === "tool_end" && listeners !== 1) throw new Error(`${listeners} listeners after ${steps} steps`);
          if (type === "tool_end" && ++steps === wanted) controller.abort();
        }
        return [(await turn.result).stopReason, steps, listeners];
      };
      return [await run("two hundred"), await run("again and again", 5), most];
    })()"""
    first, second, most = calm_tab.attempt(script)
    assert first == ["end_turn", 200, 0]
    assert (second[0], second[2]) == ("cancelled", 0)
    assert second[1] < 10
    assert most == 1
    asked = len(provider.exchanges("again and again"))
    assert calm_tab.call("agents:echo", ["still here"]) == "still here"
    assert len(provider.exchanges("again and again")) == asked


def test_platform_26_a_tool_that_never_returns(new_tab: NewTab, provider: Provider) -> None:
    """A cancel is given up after five seconds, as unresponsive; `close` then ends the worker."""
    tab = new_tab()
    tab.connect("agents.py", "probes.py")
    provider.play("spin", calls("spin", "{}"))
    script = """(async () => {
      const session = harness.langfx.agent("busy").session();
      const turn = session.prompt("spin");
      harness.call = harness.langfx.call("agents:echo", [1]).catch((error) => error.code);
      await turn.accepted;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const at = performance.now();
      const refused = await session.cancel().catch(({ code, details }) => [code, details.unresponsive]);
      const { stopReason, error } = await turn.result;
      return [refused, stopReason, error?.details, performance.now() - at];
    })()"""
    refused, reason, details, waited = tab.attempt(script)
    assert (refused, reason, details) == (["cancelled", True], "cancelled", {"unresponsive": True})
    assert 4500 < waited < 6000
    started = time.monotonic()
    tab.attempt("harness.langfx.close()")
    tab.wait_for_workers(0)
    assert time.monotonic() - started < 3
    with pytest.raises(PageError) as caught:
        tab.call("agents:echo", [1])
    assert caught.value.code == "bridge_closed"
    assert tab.console.complaints == []


def test_leaving_a_stream_ends_its_generator(calm_tab: Tab, provider: Provider) -> None:
    """By `break`, by `return()` and by cancelling the readable: the request behind it goes, too."""
    leave: dict[str, Any] = {
        "break": "for await (const _ of stream) break;",
        "return": "await stream.next(); await stream.return();",
        "readable": "const reader = stream.readable.getReader(); await reader.read(); await reader.cancel();",
    }
    for way, code in leave.items():
        provider.play(way, pauses("one ", "two "))
        script = f"(async () => {{ const stream = harness.langfx.stream('probes:say', ['{way}']); {code} }})()"
        calm_tab.attempt(script)
        assert server_saw_the_close(provider, way, time.time())
