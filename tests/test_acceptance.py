"""Every promise of the platform has a test that names it: `platform_NN` in its name, `platform NN:` in a title."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parent
PLATFORM = {
    1: "a clean clone builds, and builds again without a network",
    2: "without a registry and a cache it says which file is missing",
    3: "an altered download is refused",
    4: "two builds are the same bytes",
    5: "it boots below a path, under wrong types",
    6: "it boots from another origin",
    7: "it boots whether the host unpacks packs or not",
    8: "each failure of a boot has its code, soon",
    9: "an aborted boot rejects with the reason and leaves no worker",
    10: "progress grows and ends at the total",
    11: "only typed work waits for the second set",
    12: "a later visit starts from a memory snapshot",
    13: "restored workers have random numbers of their own",
    14: "pydantic works after a restore, and a broken snapshot is passed over",
    15: "a snapshot larger than the first heap restores",
    16: "a visited page works without a network",
    17: "another service worker is left alone",
    18: "values cross both ways as written",
    19: "values at the edge of what can cross",
    20: "user data cannot be taken for an envelope",
    21: "one post per network chunk",
    22: "a reader that stops pauses its generator",
    23: "a turn that nobody reads settles",
    24: "a cancelled command ends once, and its connection closes",
    25: "a long-lived signal gathers no listeners",
    26: "a busy loop can be given up and ended",
    27: "a dead interpreter ends all that was pending",
    28: "nothing hangs after close",
    29: "a malformed message harms nothing else",
    30: "a page tool may throw, hang, come late or be missing",
    31: "a broken module is named with file and line",
    32: "only public names of the page's modules can be called",
    33: "packages come from the bundle first",
    34: "the rest of the standard library is there when imported",
    35: "the main paths hold without JSPI, isolated, and under a strict policy",
    36: "nesting of JSON is bounded before it is read",
    37: "long and many timeouts",
    38: "known faults of the border",
    39: "few turns of the loop per network chunk",
    40: "private names of Pyodide that are used",
}


def test_every_promise_of_the_platform_has_a_test() -> None:
    """A row without a test is a promise that nobody keeps."""
    named = _numbers(r"def test_platform_(\d\d)_", "*.py") | _numbers(r"\(\"platform (\d\d): ", "*.js")
    missing = {number: promise for number, promise in PLATFORM.items() if number not in named}
    assert (missing, named - PLATFORM.keys()) == ({}, set())


def _numbers(pattern: str, files: str) -> set[int]:
    texts = (path.read_text("utf-8") for path in TESTS.rglob(files))
    return {int(number) for text in texts for number in re.findall(pattern, text)}
