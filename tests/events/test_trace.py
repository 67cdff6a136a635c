"""A trace as a text: what is written reads back, and what is no trace is refused."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import langfx_web as lf
from langfx_web.errors import InvalidValueError, RateLimitError
from langfx_web.events import ErrorInfo, LogEntry, Progress, TracedObject, TraceNode, UsageSummary
from langfx_web.messages import AIMessage, Text, Thought, ToolCall, ToolMessage, UserMessage
from langfx_web.testing import StaticSequence
from langfx_web.usage import Usage
from tests.messages.pictures import PNG

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


@dataclasses.dataclass
class Box:
    """A thing of a program."""

    width: int
    made: datetime = NOW


class Odd:
    """A thing that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def node(id: str = "s1", parent_id: str | None = None, **fields: Any) -> TraceNode:
    """A node with what it must have."""
    return TraceNode(
        **{
            "id": id,
            "parent_id": parent_id,
            "kind": "action",
            "name": "a",
            "status": "ok",
            "started_at": NOW,
            **fields,
        }
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
moments = st.datetimes(timezones=st.just(UTC))
usages = st.builds(
    Usage,
    input_tokens=st.none() | st.integers(0, 10**9),
    total_tokens=st.none() | st.integers(0, 10**9),
    num_requests=st.integers(0, 9),
    lower_bound=st.booleans(),
)
answers = st.builds(
    lambda parts, usage: AIMessage(*parts, usage=usage),
    st.lists(
        st.builds(Text, texts)
        | st.builds(Thought, texts.filter(bool))
        | st.builds(ToolCall, st.just("1"), st.just("n"), st.dictionaries(texts, st.integers(), max_size=2)),
        max_size=3,
    ),
    st.none() | usages,
)


def _has_no_halves(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


nodes = st.builds(
    node,
    kind=st.sampled_from(["session", "action", "query", "step", "tool", "parallel"]),
    name=texts,
    status=st.sampled_from(["running", "ok", "error", "cancelled"]),
    started_at=moments,
    ended_at=st.none() | moments,
    error=st.none() | st.builds(ErrorInfo, name=texts, message=texts, code=texts, retryable=st.booleans()),
    usage=st.none() | usages,
    requests=st.integers(0, 9),
    cached=st.integers(0, 9),
    request=st.none() | st.lists(st.builds(UserMessage, texts) | answers, max_size=2).map(tuple),
    response=st.none() | answers,
    result=json_values.filter(_has_no_halves),
    repairs=st.integers(0, 9),
    metadata=st.dictionaries(texts, st.integers() | texts, max_size=2),
    progress=st.none()
    | st.builds(Progress, title=texts, fraction=st.none() | st.floats(0, 1), data=st.dictionaries(texts, texts)),
)


@st.composite
def trees(draw: st.DrawFn) -> TraceNode:
    """A tree of a few nodes, each below an earlier one."""
    drawn = draw(st.lists(nodes, min_size=1, max_size=6))
    above = [None, *(draw(st.integers(0, place)) for place in range(len(drawn) - 1))]
    children: dict[int, list[TraceNode]] = {place: [] for place in range(len(drawn))}
    made: dict[int, TraceNode] = {}
    for place in reversed(range(len(drawn))):
        parent = above[place]
        made[place] = dataclasses.replace(
            drawn[place],
            id=f"n{place}",
            parent_id=None if parent is None else f"n{parent}",
            children=tuple(children[place]),
        )
        if parent is not None:
            children[parent].insert(0, made[place])
    return made[0]


@settings(max_examples=60, deadline=None)
@given(trees())
def test_what_is_written_reads_back(tree: TraceNode) -> None:
    """Equal in all it has, and written the same again."""
    text = tree.to_json()
    read = TraceNode.from_json(text)
    assert read == tree
    assert read.to_json() == text
    assert TraceNode.from_json(text.encode()) == tree


@pytest.mark.parametrize(
    ("value", "type", "shown"),
    [
        (Box(1), "tests.events.test_trace.Box", {"value": {"width": 1, "made": NOW.isoformat()}}),
        ((1, "a"), "tuple", {"value": [1, "a"]}),
        ([Box(1)], "list", {"value": [{"width": 1, "made": NOW.isoformat()}]}),
        (math.nan, "float", {"text": "nan"}),
        ({1: 2}, "dict", {"text": "{1: 2}"}),
        (b"\x00", "bytes", {"text": "b'\\x00'"}),
        (Odd(), "tests.events.test_trace.Odd", {"text": "a Odd"}),
        ("\ud800", "str", {"text": "'\\ud800'"}),
        (10**5000, "int", {"text": "a int"}),
        ({"key": {"sk-abcdefgh"}}, "dict", {"text": "{'key': {'***'}}"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_objects_of_the_program_are_marked(value: Any, type: str, shown: dict[str, Any]) -> None:
    """By their class, with their fields or a text; they come back as what was written, and are written so again."""
    text = node(result=value, metadata={"m": value}).to_json()
    read = TraceNode.from_json(text)
    assert read.result == read.metadata["m"] == TracedObject(type=type, **shown)
    assert read.to_json() == text


def test_a_value_as_deep_as_the_text_may_be_is_marked() -> None:
    """What is nested too deep to be written is shown as a text."""
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    assert TraceNode.from_json(node(result=deep).to_json()).result.type == "list"
    looped: list[Any] = []
    looped.append(looped)
    assert TraceNode.from_json(node(result=looped).to_json()).result.text == "[[...]]"


async def test_a_session_reads_back() -> None:
    """As it was looked at, with its costs, errors and messages."""
    usage = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    lm = StaticSequence([AIMessage("7", usage=usage), RateLimitError("slow down")])
    async with lf.Session(lm=lm, metadata={"page": "shop"}) as session:
        await session.concurrent_map(["a"], lambda text, view: view.query(text, int))
        with pytest.raises(RateLimitError):
            await session.query("b")
        session.progress("half", 0.5, step=1)
        root = session.root
    read = lf.TraceNode.from_json(root.to_json())
    assert read == root
    assert read.summary() == session.usage == UsageSummary(usage=usage.as_lower_bound(), requests=2, unknown=1)
    plain = json.loads(root.to_json())
    assert (plain["version"], [each["parentId"] for each in plain["nodes"][:2]]) == (1, [None, root.id])


def test_a_part_of_a_tree_reads_back() -> None:
    """Below a parent that is not in the text."""
    part = node("s1/a1", "s1", children=(node("s1/a1/a1", "s1/a1"),))
    assert TraceNode.from_json(part.to_json()) == part


def changed(**fields: Any) -> str:
    """A node that is written with other members; `...` leaves one out."""
    plain = node().to_plain()
    members = plain["nodes"][0] | fields
    plain["nodes"] = [{name: value for name, value in members.items() if value is not ...}]
    return json.dumps(plain)


WHOLE = node("s1", children=(node("s1/a1", "s1"),)).to_plain()
PICTURE = {"role": "user", "parts": [{"type": "image", "mimeType": "image/png", "data": lf.Image(data=PNG).base64}]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        b"\xff",
        "[" * 100_000,
        "null",
        '{"version": 1, "nodes": []}',
        '{"version": 1, "version": 1, "nodes": []}',
        '{"version": 1}',
        json.dumps(WHOLE | {"version": 2}),
        json.dumps(WHOLE | {"version": True}),
        json.dumps(WHOLE | {"version": "1"}),
        json.dumps(WHOLE | {"more": 1}),
        json.dumps(WHOLE | {"nodes": {}}),
        json.dumps(WHOLE | {"nodes": [1]}),
        json.dumps(WHOLE | {"nodes": WHOLE["nodes"] * 2}),
        json.dumps(WHOLE | {"nodes": [*WHOLE["nodes"], node("x", "nowhere").to_plain()["nodes"][0]]}),
        json.dumps(WHOLE | {"nodes": [*WHOLE["nodes"], node("x", None).to_plain()["nodes"][0]]}),
        json.dumps(WHOLE | {"nodes": WHOLE["nodes"][::-1]}),
        changed(id=1),
        changed(id=...),
        changed(extra=1),
        changed(kind="turn"),
        changed(kind=["action"]),
        changed(status="dead"),
        changed(startedAt="yesterday"),
        changed(startedAt="2026-01-02T03:04:05"),
        changed(startedAt=None),
        changed(endedAt=5),
        changed(error={"name": "E"}),
        changed(error={"name": "E", "message": "m", "code": "c", "retryable": 1}),
        changed(usage={}),
        changed(usage=Usage().to_plain() | {"inputTokens": "many"}),
        changed(usage=Usage().to_plain() | {"inputTokens": -1}),
        changed(usage=Usage().to_plain() | {"raw": {}}),
        7,
        changed(requests=-1),
        changed(requests=1.0),
        changed(cached=True),
        changed(request={}),
        changed(request=[{"role": "nobody"}]),
        changed(request=[7]),
        changed(request=[PICTURE]),
        changed(request=[{"role": "assistant", "parts": [], "usage": {"inputTokens": "x"}}]),
        changed(response={"role": "user", "parts": []}),
        changed(result=7),
        changed(result={}),
        changed(result={"json": 1, "type": "int"}),
        changed(result={"type": 1}),
        changed(result={"type": "int", "text": 1}),
        changed(metadata=[]),
        changed(metadata={"a": 1}),
        changed(progress={"title": "t"}),
        changed(progress={"title": "t", "fraction": "half", "data": {}}),
    ],
    ids=lambda text: repr(text)[:40],
)
def test_what_is_no_trace_is_refused(text: str | bytes) -> None:
    """With one code, and a sentence that says what is wrong."""
    with pytest.raises(InvalidValueError, match="not a trace") as caught:
        TraceNode.from_json(text)
    assert caught.value.code == "invalid_trace"
    assert len(caught.value.message) < 400


GOOD = node(
    "s1",
    usage=Usage(input_tokens=1),
    request=(UserMessage("hi"), ToolMessage("r", call_id="1", name="n")),
    response=AIMessage("x", Thought("t", {"p": 1}, "wire"), ToolCall("1", "n", {"a": 1})),
    result=Box(1),
    progress=Progress(title="t", fraction=0.5),
    children=(node("s1/a1", "s1", error=ErrorInfo(name="E", message="m", code="c", retryable=True)),),
).to_plain()


def replaced(value: Any, path: list[int], new: Any) -> Any:
    """A JSON value in which what a path leads to is another."""
    if not path or not isinstance(value, (dict, list)) or not value:
        return new
    if isinstance(value, list):
        at = path[0] % len(value)
        return [replaced(member, path[1:], new) if n == at else member for n, member in enumerate(value)]
    at = list(value)[path[0] % len(value)]
    return {key: replaced(member, path[1:], new) if key == at else member for key, member in value.items()}


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), max_size=7), json_values)
def test_no_text_breaks_the_reader(path: list[int], new: Any) -> None:
    """Whatever stands in it anywhere: it is a trace, or it is refused as none."""
    text = json.dumps(replaced(GOOD, path, new))
    try:
        read = TraceNode.from_json(text)
    except InvalidValueError as error:
        assert error.code == "invalid_trace"
    else:
        assert TraceNode.from_json(read.to_json()) == read


def test_a_summary_and_a_line_have_a_plain_form() -> None:
    """For a page."""
    entry = LogEntry(at=NOW, node_id="s1", level="info", message="m", data={"a": 1})
    assert entry.to_plain() == {
        "at": NOW.isoformat(),
        "nodeId": "s1",
        "level": "info",
        "message": "m",
        "data": {"a": {"json": 1}},
    }
    assert UsageSummary(requests=2, unknown=2).to_plain() == {
        "usage": None,
        "requests": 2,
        "cached": 0,
        "unknown": 2,
    }
