"""However an answer is cut, a stream shows it in the promised order and ends as the call of the same text does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import langfx_web as lf
from langfx_web.errors import LangfxError, MappingError
from langfx_web.events import GenerationComplete, GenerationFailed, ParsingFailed, PartialObject, TerminalEvent
from langfx_web.llms import ModelRequest
from langfx_web.llms.delta import Delta, Finish
from langfx_web.protocols import ProtocolName
from langfx_web.schemas import Schema
from langfx_web.testing import StaticResponse
from tests.protocols.parity_types import Answer, Point
from tests.protocols.test_agreement import PIECES_OF_TEXT, python_texts
from tests.protocols.test_parity import STREAMED, schema_of
from tests.protocols.wanted import pieces
from tests.queries.grammar import Recogniser, comparable


class Pieces(lf.LanguageModel):
    """Says its pieces, one delta for each."""

    def __init__(self, parts: list[str]) -> None:
        super().__init__()
        self._parts = parts

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        for part in self._parts:
            yield part
        yield Finish(reason="stop", raw="stop")


async def streamed(parts: list[str], schema: Any, name: ProtocolName = "python") -> tuple[Any, TerminalEvent]:
    """The value as it was shown and the terminal event, the order of all events having been checked."""
    stream = lf.query_stream("?", schema, lm=Pieces(parts), protocol=name)
    return Recogniser([event async for event in stream]).answer()


async def called(text: str, schema: Any, name: ProtocolName) -> str:
    """What the call makes of the same text: the value, or the code of the fault."""
    try:
        return repr(await lf.query("?", schema, lm=Pieces([text] if text else []), protocol=name))
    except MappingError as error:
        return str(getattr(error.cause, "code", error.cause))
    except LangfxError as error:
        return error.code


def outcome(terminal: TerminalEvent) -> str:
    """The same of a stream's last event."""
    match terminal:
        case GenerationComplete(value=value):
            return repr(value)
        case ParsingFailed(error=error):
            return str(getattr(error.cause, "code", error.cause))
        case GenerationFailed(error=error):
            return str(getattr(error, "code", error))
    return repr(terminal)


@pytest.mark.parametrize(
    ("id_", "name", "expression", "response", "expected"), STREAMED, ids=[case[0] for case in STREAMED]
)
async def test_langfx_39_langfx_18_a_stream_ends_as_the_call_does(
    id_: str, name: Any, expression: str, response: str, expected: Any
) -> None:
    """Every answer of the parity table, by character and in two parts at many places, shows the same and ends alike."""
    schema = schema_of(expression)
    whole = await streamed([response] if response else [], schema, name)
    assert outcome(whole[1]) == await called(response, schema, name)
    cuts = [list(response)]
    cuts += [[response[:at], response[at:]] for at in range(1, len(response), 1 + len(response) // 6)]
    for parts in cuts:
        value, terminal = await streamed(parts, schema, name)
        assert comparable(value) == comparable(whole[0])
        assert outcome(terminal) == outcome(whole[1])


def as_shown(value: Any) -> Any:
    """A plain value as events show it."""
    if isinstance(value, list):
        return tuple(map(as_shown, value))
    return {key: as_shown(member) for key, member in value.items()} if isinstance(value, dict) else value


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CUTS = st.lists(st.integers(0, 400), max_size=8)


def cut(text: str, places: list[int]) -> list[str]:
    """The text in parts, cut at these places."""
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


@settings(max_examples=150, deadline=None)
@given(st.lists(JSON_VALUES, max_size=4), st.booleans(), CUTS)
async def test_any_value_is_shown_as_it_is(value: list[Any], is_ascii: bool, places: list[int]) -> None:
    """What the fields showed is what the last event has, escaped or not, wherever the text is cut."""
    for name, text in (("json", json.dumps(value, ensure_ascii=is_ascii)), ("python", repr(value))):
        shown, terminal = await streamed(cut(text, places), list[Any], name)  # type: ignore[arg-type]
        assert isinstance(terminal, GenerationComplete)
        assert terminal.value == value
        assert shown == as_shown(value)


@settings(max_examples=200, deadline=None)
@given(python_texts() | st.lists(PIECES_OF_TEXT, max_size=14).map("".join), CUTS, st.sampled_from(["python", "json"]))
async def test_any_text_ends_as_the_call_does(text: str, places: list[int], name: Any) -> None:
    """Whatever a model writes, and wherever it is cut: the promised order, and the outcome of the whole text."""
    if text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") != text:
        return  # a model's stream has no halves of characters
    schema = schema_of("Any")
    _, terminal = await streamed(cut(text, places), schema, name)
    assert outcome(terminal) == await called(text, schema, name)


async def test_a_shown_object_has_the_fields_of_the_built_one() -> None:
    """Class by class, nested ones too."""
    text = "[Point(1, y=2), Answer(final_answer=3)]"
    shown, terminal = await streamed(list(pieces(text, 3)), list[Point | Answer])
    assert shown == (PartialObject("Point", {"x": 1, "y": 2}), PartialObject("Answer", {"final_answer": 3}))
    assert isinstance(terminal, GenerationComplete)
    assert terminal.value == [Point(x=1, y=2), Answer(final_answer=3)]


NATIVE = [
    (list[Point], [{"x": 1, "y": 2}], [Point(x=1, y=2)]),
    (int, 300, 300),
    (Literal["one", "two"], "two", "two"),
    (Answer, {"final_answer": 3}, Answer(final_answer=3)),
    (int | None, None, None),
]


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(("schema", "plain", "expected"), NATIVE)
async def test_langfx_39_native_answers_are_shown_without_their_wrapper(
    schema: Any, plain: Any, expected: Any, size: int
) -> None:
    """What a provider puts around a value that is no object is not shown, and the value is that of the call."""
    wrapped = Schema.of(schema).native(strict=True).wrapped
    lm = StaticResponse(json.dumps({"value": plain} if wrapped else plain), chunk_size=size)
    stream = lf.query_stream("?", schema, lm=lm, native_structured_output=True)
    shown, terminal = Recogniser([event async for event in stream]).answer()
    assert comparable(shown) == comparable(as_shown(plain))
    assert isinstance(terminal, GenerationComplete)
    assert terminal.value == expected
    assert await lf.query("?", schema, lm=lm, native_structured_output=True) == expected
    assert lm.requests[0] == lm.requests[1]
