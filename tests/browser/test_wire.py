"""What crosses between page and Python in a real worker: values both ways, posts, windows, bad messages."""

import itertools
import json
from typing import Any

import pytest

from tests.browser.provider import Provider, Text, says, sends, stream
from tests.browser.tab import PageError, Tab

# The worker can be looked into.
MODULES = ("agents.py", "probes.py")

TO_PYTHON = {
    "nothing": ("null", None),
    "undefined": ("[undefined, { a: undefined, b: [undefined, , 1] }]", [None, {"b": [None, None, 1]}]),
    "numbers": ("[1, 1.5, -7, 2 ** 53, true, 1e300]", [1, 1.5, -7, 2**53, True, 1e300]),
    "10 to the 20": ("1e20", 10**20),
    "big": ("[2n ** 70n, -(2n ** 64n), 7n, { deep: [10n ** 30n] }]", [2**70, -(2**64), 7, {"deep": [10**30]}]),
    "bytes": (
        "(() => { const data = new Uint8Array([1, 2, 3]); return [data, data.buffer, data.subarray(1),"
        " new DataView(data.buffer, 2), new Uint16Array([258]), new Uint8Array()]; })()",
        [b"\x01\x02\x03", b"\x01\x02\x03", b"\x02\x03", b"\x03", b"\x02\x01", b""],
    ),
    "Blob and File": ("[new Blob(['ab']), { f: new File(['cd'], 'f.txt') }]", [b"ab", {"f": b"cd"}]),
    "another realm": (
        "(() => { const frame = document.createElement('iframe'); document.body.append(frame);"
        " const { Uint8Array, Blob, Object, Array, Date } = frame.contentWindow;"
        " return [new Uint8Array([9]), new Uint8Array([8]).buffer, new Blob(['z']),"
        " Object.assign(new Object(), { a: new Array(1, 2) }), new Date(0)]; })()",
        [b"\x09", b"\x08", b"z", {"a": [1, 2]}, "1970-01-01T00:00:00.000Z"],
    ),
    "lone surrogates": ("{ '\\udfff': ['\\ud800x', '😀'] }", {"\ufffd": ["\ufffdx", "😀"]}),
    "text": ("'a\\u2028\\0\"\\\\ü'", 'a\u2028\x00"\\ü'),
    "a Date": ("new Date(Date.UTC(2026, 0, 2))", "2026-01-02T00:00:00.000Z"),
    "toJSON": ("{ money: { toJSON: (key) => ({ [key]: 5n }) } }", {"money": {"money": 5}}),
    "our names": (
        "{ big: [['value']], blobs: [['value', 0]], $blob: 0, kind: 'error', id: 1 }",
        {"big": [["value"]], "blobs": [["value", 0]], "$blob": 0, "kind": "error", "id": 1},
    ),
    "__proto__": ('JSON.parse(\'{"__proto__": {"a": 1}}\')', {"__proto__": {"a": 1}}),
    "150 levels": ("Array.from({ length: 149 }).reduce((inner) => [inner], [])", None),
}

REFUSED_BY_THE_PAGE = {
    "not a number": ("NaN", "not_portable"),
    "infinity": ("-Infinity", "not_portable"),
    "a Map": ("new Map([[1, 2]])", "not_portable"),
    "a Set": ("new Set([1])", "not_portable"),
    "a function": ("() => {}", "not_portable"),
    "a symbol": ("Symbol('s')", "not_portable"),
    "a cycle": ("(() => { const a = []; a.push(a); return a; })()", "not_portable"),
    "an instance": ("new (class Order {})()", "not_portable"),
    "a promise": ("Promise.resolve(1)", "not_portable"),
    "300 levels": ("Array.from({ length: 300 }).reduce((inner) => [inner], [])", "message_too_deep"),
    "long": ("'x'.repeat(24 * 2 ** 20)", "message_too_large"),
    "heavy": ("new Uint8Array(64 * 2 ** 20 + 1)", "message_too_large"),
}

TO_PAGE = {
    "nothing": "null",
    "case 089": (
        '{type: "result", value: {tag: null, items: [null, {a: [1, 2]}]}, usage: {output: 3}, blob: bytes 0 255}'
    ),
    "numbers": "[1, 1.5, 0, 9007199254740991, true, 1e+300]",
    "big": "[100000000000000000000n, -9007199254740992n, 1180591620717411303424n]",
    "bytes": "{a: bytes 97 98, b: bytes 99, c: bytes 100 101, none: bytes}",
    "surrogate": '{\ufffd: ["\ufffdx", "😀"]}',
    "text": '"a\u2028\\u0000\\"\\\\ü"',
    "classes": '[{x: 1152921504606846976n, data: bytes 112}, {id: 7, note: null}, "red", [1, null]]',
    "times": '["2024-01-31", "09:30:00", "2024-01-31T09:00:00+00:00"]',
    "our names": '{big: [["value"]], blobs: [["value", 0]], $blob: 0, kind: "error", id: 1}',
    "deep enough": "[" * 150 + "]" * 150,
}

REFUSED_BY_PYTHON = {
    "set": ("not_portable", ["x"]),
    "complex": ("not_portable", ["x"]),
    "int key": ("not_portable", ["x"]),
    "object": ("not_portable", ["x"]),
    "not a number": ("not_portable", ["x", 0]),
    "infinite": ("not_portable", ["x", 0]),
    "cycle": ("not_portable", None),
    "deep": ("message_too_deep", None),
    "long": ("message_too_large", []),
    "heavy": ("message_too_large", []),
}


def refused(tab: Tab, expression: str, argument: Any = None) -> PageError:
    """The error that a promise of the page rejects with."""
    with pytest.raises(PageError) as caught:
        tab.attempt(expression, argument)
    return caught.value


@pytest.mark.parametrize("name", TO_PYTHON)
def test_platform_18_values_reach_python(tab: Tab, name: str) -> None:
    """By position, by keyword and deep inside, each is in Python what the table of values says."""
    expression, expected = TO_PYTHON[name]
    wanted = repr(expected) if name != "150 levels" else "[" * 150 + "]" * 150
    assert tab.attempt(f"harness.langfx.call('probes:show', [{expression}])") == wanted
    assert tab.attempt(f"harness.langfx.call('probes:show', {{ value: {{ a: [{expression}] }} }})") == (
        f"{{'a': [{wanted}]}}"
    )


@pytest.mark.parametrize("name", REFUSED_BY_THE_PAGE)
def test_platform_18_values_that_the_page_refuses(tab: Tab, name: str) -> None:
    """With the path to them, before anything is sent; the next call works (the fixture checks it)."""
    expression, code = REFUSED_BY_THE_PAGE[name]
    before = tab.attempt("harness.posts.length")
    error = refused(tab, f"harness.langfx.call('probes:show', {{ value: [0, {expression}] }})")
    assert error.code == code
    if code == "not_portable":
        assert error.details["path"][:3] == ["args", "value", 1]
    assert tab.attempt("harness.posts.length") == before


@pytest.mark.parametrize("name", TO_PAGE)
def test_platform_18_bug_089_values_reach_the_page(tab: Tab, name: str) -> None:
    """As a result and as an item of a stream: plain objects, null as null, bytes and large integers in their place."""
    assert tab.attempt("harness.langfx.call('probes:give', argument).then(harness.show)", [name]) == TO_PAGE[name]
    items = "Array.fromAsync(harness.langfx.stream('probes:give_within_items', argument)).then(harness.show)"
    assert tab.attempt(items, [name]) == f"[0, {TO_PAGE[name]}]"


@pytest.mark.parametrize("name", REFUSED_BY_PYTHON)
def test_platform_18_bug_089_values_that_python_refuses(tab: Tab, name: str) -> None:
    """With the path to them, as a result and within a stream, whose items before it still come; the run goes on."""
    code, path = REFUSED_BY_PYTHON[name]
    call = refused(tab, "harness.langfx.call('probes:give', argument)", [name])
    reading = "harness.langfx.stream('probes:give_within_items', argument)"
    assert tab.attempt(f"(harness.reading = {reading}).next()", [name]) == {"done": False, "value": 0}
    for error in (call, refused(tab, "harness.reading.next()")):
        assert error.code == code
        assert not path or error.details["path"][-len(path) :] == path


def test_bug_090_null_is_none_everywhere(tab: Tab) -> None:
    """At every depth; what is undefined is absent; an optional field takes it; a missing header is None."""
    message = "{ value: { null: null, absent: undefined, list: [null, { a: [null] }] } }"
    found = tab.attempt(f"harness.langfx.call('probes:show_missing', {message})")
    assert found == ["nothing", None, [None, {"a": [None]}]]
    assert tab.call("probes:take_order", [{"id": 7, "note": None}]) == "Order(id=7, note=None)"
    assert tab.call("probes:missing_header") == "None"


def test_platform_20_bytes_stay_usable_and_are_copied_at_once(tab: Tab) -> None:
    """The caller may change or read its buffer as soon as the call has returned."""
    script = """(async () => {
      const data = new Uint8Array([1, 2]);
      const answer = harness.langfx.call("probes:double_bytes", [data]);
      data[0] = 9;
      return [harness.show(await answer), data.join(" "), data.buffer.byteLength];
    })()"""
    assert tab.attempt(script) == ["bytes 1 2 1 2", "9 2", 2]


def test_commands_leave_in_the_order_of_their_calls(tab: Tab) -> None:
    """One that reads a Blob holds those behind it, but no cancel; Python answers all of them."""
    script = """(async () => {
      const slow = new Blob(["slow"]);
      let read;
      const arrayBuffer = slow.arrayBuffer.bind(slow);
      slow.arrayBuffer = () => new Promise((resolve) => (read = () => resolve(arrayBuffer())));
      const order = [];
      const note = (name) => (value) => (order.push(name), value);
      const call = harness.langfx.call("probes:show", [slow]).then(note("blob"));
      const behind = harness.langfx.call("probes:show", [2]).then(note("behind"));
      const session = harness.langfx.agent("desk").session("held");
      order.push(await session.cancel());
      read();
      return [await call, await behind, order];
    })()"""
    assert tab.attempt(script) == ["b'slow'", "2", ["none", "blob", "behind"]]


READ = "Array.fromAsync(harness.langfx.stream('probes:say', argument)).then((texts) => texts.length)"
TURN = "harness.langfx.agent('desk').session().prompt(argument[0]).result.then(({ stopReason }) => stopReason)"


@pytest.fixture
def counting_tab(tab: Tab) -> Tab:
    """A tab whose worker counts what its network, its loop and its timers do."""
    if not tab.attempt("Boolean(harness.counting)"):
        tab.call("probes:count_everything")
        tab.attempt("void (harness.counting = true)")
    return tab


def counted(tab: Tab, work: str, prompt: str) -> tuple[dict[str, int], int]:
    """What the worker counted while it did some work for the second time, and how many of its posts had text."""
    tab.attempt(work, [prompt])
    tab.call("probes:reset")
    mark = tab.attempt("harness.posts.length")
    tab.attempt(work, [prompt])
    counts: dict[str, int] = tab.call("probes:counts")
    said = tab.attempt("harness.said('items', argument)", mark)
    return counts, sum(prompt in json.dumps([item for item in items if "input" not in item]) for items in _items(said))


def _items(said: list[dict[str, Any]]) -> list[list[Any]]:
    return [message["items"] for message in said]


@pytest.mark.parametrize("work", [READ, TURN], ids=["stream", "turn"])
def test_platform_21_one_post_for_all_events_of_a_chunk(counting_tab: Tab, provider: Provider, work: str) -> None:
    """Two hundred deltas that come in a few pieces are as many posts, whatever is made of them."""
    prompt = f"burst for {'a stream' if work == READ else 'a turn'}"
    items = stream(Text(deltas=tuple(f"{prompt} {number} " for number in range(200))))
    provider.play(prompt, sends(b"".join(item for item in items if isinstance(item, bytes))))
    counts, posts = counted(counting_tab, work, prompt)
    assert posts == counts["text_chunks"] if work == READ else 1 <= posts <= counts["text_chunks"]
    assert counts["text_chunks"] < 20


@pytest.mark.parametrize(("work", "callbacks"), [(READ, 4), (TURN, 12)], ids=["stream", "turn"])
def test_platform_39_few_callbacks_and_one_post_per_chunk(
    counting_tab: Tab, provider: Provider, work: str, callbacks: int
) -> None:
    """A chunk is awaited once, sets no timer and is one post; a turn's has to be stored on its way."""
    prompt = f"pace for {'a stream' if work == READ else 'a turn'}"
    provider.play(prompt, says(*(f"{prompt} {number} " for number in range(60)), pause=0.02))
    counts, posts = counted(counting_tab, work, prompt)
    assert counts["text_chunks"] > 20
    # What is stored together is posted together: on a busy machine that may be two chunks.
    assert posts == counts["text_chunks"] if work == READ else 1 <= posts <= counts["text_chunks"]
    assert counts["awaited"] <= counts["chunks"] + 1
    assert counts["callbacks"] <= callbacks * counts["chunks"] + 40, "around the chunks there are some more"
    assert counts["later"] <= 10


def test_platform_22_an_endless_stream_waits_for_its_reader(tab: Tab) -> None:
    """After 256 items or 1 MiB it pauses, and goes on without a gap when it is read again."""
    for size, least, most in ((10, 256, 257), (64 * 1024, 16, 18), (3 * 2**20, 1, 2)):
        tab.call("probes:reset")
        first = "(harness.reading = harness.langfx.stream('probes:endless', [argument])).next()"
        assert tab.attempt(f"{first}.then(({{ value }}) => value.number)", size) == 1
        for _ in range(5):
            made = tab.call("probes:counts")["made"]
        assert least <= made <= most, size
        script = """(async () => {
          const numbers = [1];
          while (numbers.length < argument) numbers.push((await harness.reading.next()).value.number);
          await harness.reading.return();
          return numbers;
        })()"""
        count = 2000 if size == 10 else 40
        assert tab.attempt(script, count) == list(range(1, count + 1))
        for _ in range(3):
            assert "endless" not in str(tab.call("probes:live_tasks"))


def test_platform_23_a_turn_that_nobody_reads(tab: Tab, provider: Provider) -> None:
    """Its result settles, its lines stay where they are stored, and whoever reads it later gets all of them."""
    words = tuple(f"word {number} " for number in range(3000))
    provider.play("unread", sends(b"".join(item for item in stream(Text(deltas=words)) if isinstance(item, bytes))))
    mark = tab.attempt("harness.posts.length")
    tab.attempt("void (harness.unread = harness.langfx.agent('desk').session().prompt('unread'))")
    assert tab.attempt("harness.unread.result.then(({ stopReason }) => stopReason)") == "end_turn"
    for _ in range(3):
        tab.call("agents:echo", [1])
    said = tab.attempt("harness.said('items', argument)", mark)
    assert sum(len(message["items"]) for message in said) <= 256
    assert not [task for task in tab.call("probes:live_tasks") if "Dispatch._run" in task]
    text = "Array.fromAsync(harness.unread, ({ delta }) => delta).then((deltas) => deltas.join(''))"
    assert tab.attempt(text) == "".join(words)
    lines = tab.attempt("new Response(harness.unread.readable).text()").splitlines()
    assert [json.loads(line)["cursor"] for line in lines] == list(range(1, len(words) + 3))
    assert not [task for task in tab.call("probes:live_tasks") if "Dispatch._run" in task]


BAD_MESSAGES: dict[str, tuple[dict[str, Any], str | None]] = {
    "unknown kind": ({"kind": "nonsense"}, "bridge_protocol"),
    "missing field": ({"kind": "call", "args": []}, "bridge_protocol"),
    "wrong field": ({"kind": "call", "target": "agents:echo", "args": "x"}, "bridge_protocol"),
    "reused id": ({"kind": "call", "id": 1, "target": "agents:echo", "args": [1]}, "bridge_protocol"),
    "bytes that did not come": (
        {"kind": "call", "target": "agents:echo", "args": [None], "blobs": [["args", 0]]},
        "bridge_protocol",
    ),
    "bad answer": ({"kind": "tool_result", "id": 1}, None),
    "answer to nothing": ({"kind": "tool_result", "id": 4711, "value": 1}, None),
}
IDS = itertools.count(1_000_000)


@pytest.mark.parametrize("name", BAD_MESSAGES)
def test_platform_29_messages_that_break_the_protocol(shared_tab: Tab, name: str) -> None:
    """End in `bridge_protocol` for their id and nothing else: what runs goes on."""
    tab = shared_tab
    message, code = BAD_MESSAGES[name]
    id_ = message.get("id") or next(IDS)
    mark = tab.attempt("harness.posts.length")
    tab.attempt("void (harness.beside = harness.langfx.call('agents:sleep', [0.2]))")
    tab.attempt("void harness.tell(argument)", {"id": id_, **message})
    if code is not None:
        tab.attempt("harness.until(() => harness.said('error', argument).length)", mark)
        (error,) = tab.attempt("harness.said('error', argument)", mark)
        assert (error["id"], error["error"]["code"]) == (id_, code)
    assert tab.attempt("harness.beside") == "awake"
    # The ids that the page counts are below those that were used up here.
    assert tab.attempt("harness.said('error', argument).length", mark) <= 1
