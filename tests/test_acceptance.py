"""Every promise has a test that names it.

Of the platform: `platform_NN` in the test's name, `platform NN:` in a title; of typed answers: `langfx_NN`; of models:
`providers_NN`.
"""

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

LANGFX = {
    1: "a part in a role that may not hold it is refused",
    2: "every part and role survives its plain form",
    3: "transcripts are flat, and texts without thoughts and calls",
    4: "an image is what its bytes say",
    5: "single braces are literal",
    6: "paths are read, and expressions refused with their place",
    7: "missing variables are named, values are not rendered again",
    8: "complete tags of other languages are refused, halves are literal",
    9: "messages of other roles open sections",
    10: "a message as prompt is literal",
    11: "each accepted type builds, each other one is refused with its path",
    12: "recursive types work in both protocols",
    13: "the native form is closed and complete, or refused at a path",
    14: "null stands for a default only where there is one",
    15: "subclasses, hidden fields, doubled names and aliases",
    16: "what a model is told of a type",
    17: "every known answer has its known outcome",
    18: "every split of an answer gives the same events",
    19: "what is written reads back equal",
    20: "both readers of Python agree",
    21: "random bytes give an output error and run nothing",
    22: "limits hold, and nothing crashes",
    23: "a number appears once, whole",
    24: "no half character is ever shown",
    25: "a quote inside a text is part of it",
    26: "nothing is built while an answer streams",
    27: "prompts are exactly these",
    28: "hooks run in order, and their errors are mapping errors",
    29: "an eviction that fails hides nothing",
    30: "a wrong example is refused before any request",
    31: "one function object serves parallel calls",
    32: "native output needs the capability",
    33: "repairs are bounded and counted",
    34: "a default stands for mapping errors only",
    35: "an answer that was cut off is never parsed",
    36: "unknown keywords and missing models cost no request",
    37: "given fields of a completed object win",
    38: "a batch keeps order, bounds and failures apart",
    39: "a stream has one terminal event, last",
    40: "failures of a stream are events",
    41: "cancelling closes the request",
    42: "leaving early closes the request",
    43: "texts stream too",
    44: "each node of a trace stands below what began it",
    45: "one action object runs many times at once",
    46: "what has ended takes no work",
    47: "the earliest deadline wins, and odd ones are refused or mean none",
    48: "a deadline stops what runs",
    49: "parallel work cannot overshoot a budget",
    50: "each cost is counted once, in its class",
    51: "an observer cannot harm the work",
    52: "a full trace refuses work, full logs drop the oldest",
    53: "a map is lazy, bounded, in order, and ends as a whole",
    54: "disposing ends what runs, once, and closes nothing else",
    55: "no credential is in a node, event or error",
    56: "a run asks, runs calls and asks again, until there is a text",
    57: "neither text nor calls is an error",
    58: "no call runs whose result no step could read",
    59: "bad calls do not stop good ones",
    60: "or the first problem ends the run before any effect",
    61: "names are exact, and whoever repeats himself is bounded",
    62: "ids of calls are distinct, and equal in call and result",
    63: "calls decide, but for the output limit",
    64: "whatever a tool does is told to the model",
    65: "readers run together, a writer alone",
    66: "nothing takes effect before its record",
    67: "no tool holds up a cancelled run",
    68: "a rule of the app may deny a call",
    69: "runs of one agent share nothing",
    70: "many steps leave nothing behind",
    71: "a scripted answer is the same in one piece and in many",
    72: "scripts say what they lack",
}

PROVIDERS = {
    1: "every recorded answer is read right, however it is cut",
    2: "a call is the fold of its stream",
    3: "leaving a stream ends its request before anything else happens",
    4: "a stream that was read to its end is let go of, not ended",
    5: "cancelling works at every moment and sends nothing more",
    6: "an abort that we did not ask for is a lost connection",
    7: "headers that never come and streams that stall time out",
    8: "signs of life and a slow reader are no silence",
    9: "very long, no and impossible timeouts",
    10: "temporary failures are tried again as often as asked for",
    11: "nothing is tried again unless it is asked for",
    12: "a connection lost before the first piece costs no repeated text",
    13: "after the first piece nothing is sent again",
    14: "the wait that a server asks for is kept",
    15: "a wait that makes no sense gives way to our own",
    16: "a wait of a day is an error at once",
    17: "waits inside error bodies count",
    18: "a server may forbid another try",
    19: "the last error is raised as it is",
    20: "a place that cannot be reached is tried once more, no oftener",
    21: "a rejected key is asked for again once",
    22: "a key that a server echoes is nowhere to be seen",
    23: "long error pages are cut",
    24: "options of a call count for that call",
    25: "an option that nobody knows is a TypeError",
    26: "what a model or wire lacks is refused unsent",
    27: "samples keep their order and their bound, and fail together",
    28: "whatever shapes an answer tells kept answers apart",
    29: "the same question costs once",
    30: "kept answers expire, make room, can be passed over, and may fail",
    31: "only whole answers are kept",
    32: "two fakes never answer for each other",
    33: "equal models share answers within one namespace",
    34: "thoughts go back byte for byte, also from storage",
    35: "signatures need no text, and text without one is not sent",
    36: "thoughts wait for a provider that can read them",
    37: "reasoning stands before its call, and the result names the call",
    38: "reasoning that a server would refuse is left out",
    39: "parallel calls of one step make one content, with its signatures",
    40: "a history from elsewhere carries one stand-in signature per step",
    41: "where reasoning is wanted back there is always some",
    42: "reasoning that came in fragments goes back whole",
    43: "thoughts that are refused are left out once",
    44: "a longer conversation begins with the same bytes",
    45: "results stand in the order of their calls on every wire",
    46: "an open call is refused unsent",
    47: "blank texts never reach a server",
    48: "pictures are what their bytes say, within bounds",
    49: "a schema is said in a wire's own words, or refused at a place",
    50: "no arguments are an empty object",
    51: "arguments that cannot be read are kept as text and never run",
    52: "ids of calls are distinct, stable and consistent",
    53: "impossible orders are named",
    54: "what is new is passed over or kept whole",
    55: "errors inside a stream have their class, and one try before output",
    56: "no credit is not tried again",
    57: "an answer without its end is incomplete",
    58: "what a provider will not say is filtered content",
    59: "a pause is a success that can be sent again",
    60: "tokens are counted once, in their class",
    61: "plain http is for this machine",
    62: "a local server gets few headers and no key",
    63: "lists of models are read to their end",
    64: "importing models does nothing else",
}

CONTEXT = {
    13: "what is no tool is refused where it is declared",
    14: "facts of a tool are read by path, and read-only",
    15: "what is told of a tool, which arguments fit, and which calls are equal",
    16: "a list that was sent as text is one",
    17: "each call is heard of before and after",
    18: "cancellation passes, a tool's own is its failure, and time passes once",
    19: "a bad call stops no good one",
    20: "a stored conversation knows whether its tools may run twice",
    21: "names of tools are taken once",
    22: "merging asks the later tool",
    38: "a hook may change one request, stop the turn, or end it by failing",
    39: "a call that needs approval waits for a person",
    41: "a question ends with its turn, and needs somebody to ask",
}

DURABLE = {
    8: "a setting that the model lacks ends the turn",
    120: "an observer changes nothing, and has words only where it may",
}


def test_every_promise_of_the_platform_has_a_test() -> None:
    """A row without a test is a promise that nobody keeps."""
    named = _numbers(r"def test_platform_(\d\d)_", "*.py") | _numbers(r"\(\"platform (\d\d): ", "*.js")
    missing = {number: promise for number, promise in PLATFORM.items() if number not in named}
    assert (missing, named - PLATFORM.keys()) == ({}, set())


def test_every_promise_of_typed_answers_has_a_test() -> None:
    """The same of queries, and of what they are made of."""
    named = _numbers(r"def test_(?:bug_\d{3}_)*langfx_(\d\d)_", "*.py")
    missing = {number: promise for number, promise in LANGFX.items() if number not in named}
    assert (missing, named - LANGFX.keys()) == ({}, set())


def test_every_promise_of_the_four_wires_has_a_test() -> None:
    """The same of models; a test of a known fault may name one too."""
    named = _numbers(r"def test_\w*providers_(\d\d)_", "*.py")
    missing = {number: promise for number, promise in PROVIDERS.items() if number not in named}
    assert (missing, named - PROVIDERS.keys()) == ({}, set())


def test_every_promise_of_what_models_are_given_has_a_test() -> None:
    """The same of tools, hooks and questions."""
    named = _numbers(r"def test_(?:\w+_)?context_(\d\d)_", "*.py")
    missing = {number: promise for number, promise in CONTEXT.items() if number not in named}
    assert (missing, named - CONTEXT.keys()) == ({}, set())


def test_every_promise_of_stored_conversations_has_a_test() -> None:
    """The same of turns, as far as they are promised yet."""
    named = _numbers(r"def test_(?:\w+_)?durable_(\d+)_", "*.py")
    missing = {number: promise for number, promise in DURABLE.items() if number not in named}
    assert (missing, named - DURABLE.keys()) == ({}, set())


def _numbers(pattern: str, files: str) -> set[int]:
    texts = (path.read_text("utf-8") for path in TESTS.rglob(files))
    return {int(number) for text in texts for number in re.findall(pattern, text)}
