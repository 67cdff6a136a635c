"""Values between page and Python, in every engine."""

import pytest

from tests.browser.tab import PageError, Tab

BIG = 2**70

BOTH_WAYS = """(async () => {
  const { langfx } = harness;
  const back = async (value) => langfx.call("agents:echo", [value]);
  const hex = (bytes) => [...bytes].map((byte) => byte.toString(16)).join(" ");
  const bytes = new Uint8Array([0, 1, 254, 255]);
  return {
    big: String(await back(2n ** 70n)),
    isBig: typeof (await back(2n ** 70n)) === "bigint",
    small: await back(9007199254740991),
    bytes: hex(await back(bytes)),
    view: hex(await back(new DataView(bytes.buffer, 1, 2))),
    buffer: hex(await back(bytes.buffer)),
    blob: hex(await back(new Blob(["aü"]))),
    file: hex(await back(new File(["f"], "f.txt"))),
    kept: bytes.length,
    deep: await back({ list: [1, null, undefined, { bytes: 1.5 }], nothing: undefined }),
    date: await back(new Date(0)),
    surrogates: (await back("a\\ud800b😀")) === "a\\ufffdb😀",
  };
})()"""


def test_values_cross_both_ways(tab: Tab) -> None:
    """Large integers, bytes in all their forms, Blobs, dates and texts arrive as they were sent."""
    assert tab.attempt(BOTH_WAYS) == {
        "big": str(BIG),
        "isBig": True,
        "small": 9007199254740991,
        "bytes": "0 1 fe ff",
        "view": "1 fe",
        "buffer": "0 1 fe ff",
        "blob": "61 c3 bc",
        "file": "66",
        "kept": 4,
        "deep": {"list": [1, None, None, {"bytes": 1.5}]},
        "date": "1970-01-01T00:00:00.000Z",
        "surrogates": True,
    }


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("NaN", "not_portable"),
        ("(() => { const a = []; a.push(a); return a; })()", "not_portable"),
        ("Array.from({ length: 300 }).reduce((inner) => [inner], 1)", "message_too_deep"),
    ],
    ids=["NaN", "cycle", "deep"],
)
def test_what_cannot_cross_is_refused(tab: Tab, value: str, code: str) -> None:
    """The error is the page's own, before anything is sent."""
    with pytest.raises(PageError) as caught:
        tab.attempt(f"harness.langfx.call('agents:echo', [{value}])")
    assert caught.value.code == code


def test_the_deepest_value_that_may_cross(tab: Tab) -> None:
    """The stack of every engine bears the nesting that is allowed, there and back."""
    nested = "Array.from({ length: 190 }).reduce((inner) => [inner], 1)"
    back = f"harness.langfx.call('agents:echo', [{nested}])"
    assert tab.attempt(f"{back}.then((back) => JSON.stringify(back) === JSON.stringify({nested}))") is True


def test_a_reader_that_stops_pauses_the_generator(tab: Tab) -> None:
    """An endless generator gets no further than the window, and nothing is lost when reading goes on."""
    read = """(async () => {
      const items = harness.langfx.stream("agents:count", { upto: 5000 })[Symbol.asyncIterator]();
      const seen = [(await items.next()).value];
      await harness.langfx.call("agents:sleep", [0.3]);
      const ahead = await harness.langfx.call("agents:last_counted");
      for (let step = await items.next(); !step.done; step = await items.next()) seen.push(step.value);
      return { ahead, seen: seen.length, ordered: seen.every((number, index) => number === index) };
    })()"""
    outcome = tab.attempt(read)
    assert (outcome["seen"], outcome["ordered"]) == (5000, True)
    assert 1 <= outcome["ahead"] <= 300
