"""Deltas put together: chunks on the way, the message at the end."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.errors import EmptyGenerationError, IncompleteGenerationError
from langfx_web.events import ToolCallDelta, ToolCallEnd, ToolCallStart
from langfx_web.llms.delta import (
    Boundary,
    CallEnd,
    CallStart,
    CallText,
    Delta,
    Finish,
    Info,
    Resent,
    TextPiece,
    ThoughtEnd,
    ThoughtPiece,
    UsageReport,
    WholePart,
    WireUsage,
)
from langfx_web.llms.fold import Fold
from langfx_web.llms.sampling import ChunkDelta, StreamChunk
from langfx_web.messages import AIMessage, Text, Thought, ToolCall
from langfx_web.usage import Usage

STOP = Finish(reason="stop", raw="end_turn")


def folded(*deltas: Delta) -> AIMessage:
    """The message of deltas that come one by one and end well."""
    fold = Fold(lambda: b"seed")
    for delta in [*deltas, STOP]:
        fold.push(delta)
    return fold.finish()[-1].aggregated


def shown(*deltas: Delta) -> list[ChunkDelta]:
    """What the chunks of these deltas show."""
    return [chunk.delta for chunk in Fold(lambda: b"seed").push(list(deltas))]


def test_parts_keep_their_order_and_neighbours_of_a_kind_join() -> None:
    """Pieces of a kind are one part, until another kind or a boundary comes."""
    message = folded("a", TextPiece("b"), ThoughtPiece("t"), "c", Boundary(), "d", WholePart(part=Text("e")))
    assert message.parts == (Text("ab"), Thought("t"), Text("c"), Text("d"), Text("e"))


def test_a_thought_ends_with_its_payload() -> None:
    """What goes back to the provider belongs to the thought before it; without one it is a thought of its own."""
    message = folded(ThoughtPiece("x"), ThoughtEnd(payload=1, tag="t"), ThoughtEnd(payload=2, tag="t"), "a")
    first, second = (Thought(content, payload=p, replay_compatibility="t") for content, p in (("x", 1), ("", 2)))
    assert message.parts == (first, second, Text("a"))


def test_a_call_stands_where_it_began() -> None:
    """Parallel calls keep the order of their beginnings, whatever order they end in."""
    message = folded(
        "a",
        CallStart(key=1, id="x", name="f"),
        CallStart(key=2, id="y", name="g"),
        CallText(key=2, text="{}"),
        CallEnd(key=2),
        CallText(key=1, text='{"a":'),
        CallText(key=1, text="1}"),
        CallEnd(key=1),
    )
    assert message.parts == (Text("a"), ToolCall("x", "f", {"a": 1}), ToolCall("y", "g", {}))
    assert message.finish_reason == "tool_calls"


def test_calls_are_shown_as_start_pieces_and_end() -> None:
    """The three steps of a call reach the consumer, and nothing empty does."""
    deltas = shown(
        CallStart(key=0, id="x", name="f"), CallText(key=0, text=""), CallText(key=0, text='{"a":1}'), CallEnd(key=0)
    )
    assert [delta.tool_call for delta in deltas] == [
        ToolCallStart(id="x", name="f"),
        ToolCallDelta(id="x", text='{"a":1}'),
        ToolCallEnd(call=ToolCall("x", "f", {"a": 1})),
    ]


def test_empty_pieces_and_opaque_thoughts_show_nothing() -> None:
    """No chunk is empty: blank pieces, payloads, usage and facts are not shown."""
    usage = UsageReport(usage=Usage())
    assert shown("", ThoughtPiece(""), ThoughtEnd(payload=1, tag="t"), Boundary(), usage, Info(model="m"), STOP) == []


def test_bug_027_a_call_that_was_not_closed_has_no_arguments() -> None:
    """A cut call keeps its text for the record and cannot run, even if the text happens to be whole."""
    fold = Fold(lambda: b"")
    fold.push([CallStart(key=0, id="x", name="f"), CallText(key=0, text="{}")])
    assert fold.partial() == AIMessage(ToolCall("x", "f", None, raw_args="{}"))


def test_providers_51_unreadable_arguments_are_kept_as_text() -> None:
    """Arguments that are no object give a call without `args`, and their text."""
    message = folded(CallStart(key=0, id="x", name="f"), CallText(key=0, text='{"a":'), CallEnd(key=0))
    assert message.tool_calls == (ToolCall("x", "f", None, raw_args='{"a":'),)


def test_bug_029_providers_52_doubled_and_missing_ids_become_distinct_and_stay_so() -> None:
    """Two calls with one id get two; calls without an id get the same one for the same answer."""

    def ids(*given: str) -> list[str]:
        starts = [CallStart(key=key, id=id, name="f") for key, id in enumerate(given)]
        return [call.id for call in folded(Info(response_id="r"), *starts).tool_calls]

    assert ids("fn:1", "fn:1", "fn:1") == ["fn:1", "fn:1_2", "fn:1_3"]
    assert ids("", "") == ids("", "")
    assert len(set(ids("", "", "x"))) == 3
    assert all(id.startswith("lf_") and len(id) == 19 for id in ids("", ""))


def test_a_call_without_a_name_has_one_that_no_tool_has() -> None:
    """So that it can be answered with an error, and sent back."""
    message = folded(CallStart(key=0, id="c1", name=""), CallText(key=0, text="{}"), CallEnd(key=0))
    assert message.tool_calls == (ToolCall("c1", "-", {}),)


def test_halves_of_a_character_wait_for_each_other() -> None:
    """A character that the provider cut into two escapes is shown whole, and once."""
    assert [delta.text for delta in shown("a\ud83d", "", "\udc69b", "é")] == ["a", "👩b", "é"]
    assert [delta.thought for delta in shown(ThoughtPiece("\ud83d"), ThoughtPiece("\udc69"))] == ["👩"]
    call = [CallStart(key=0, id="x", name="f"), CallText(key=0, text='{"a":"\ud83d'), CallText(key=0, text='\udc69"}')]
    assert folded(*call, CallEnd(key=0)).tool_calls[0].args == {"a": "👩"}


def test_halves_without_a_partner_become_replacement_characters() -> None:
    """Half a character never reaches text that has to be stored or sent."""
    assert folded("a\ud83d", Boundary(), "b\udc69c", "\ud83d").text == "a\ufffdb\ufffdc\ufffd"
    assert folded("a\ud83d", ThoughtPiece("t")).text == "a\ufffd"


@given(st.text(st.sampled_from("aé👩\ufeff"), max_size=8), st.lists(st.integers(0, 16)))
def test_text_cut_between_code_units_is_whole_again(text: str, cuts: list[int]) -> None:
    """However a text is cut into 16-bit units, its chunks joined are the text, and none is empty."""
    units = text.encode("utf-16-le")
    edges = sorted({0, len(units), *(2 * cut for cut in cuts if 2 * cut < len(units))})
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(edges)]
    fold = Fold(lambda: b"")
    chunks = [chunk for piece in pieces for chunk in fold.push(piece)]
    assert "".join(chunk.delta.text for chunk in chunks) == text
    assert all(chunk.delta.text for chunk in chunks)


def test_a_chunk_knows_the_message_up_to_itself() -> None:
    """`aggregated` is the message as it was at that chunk, even when it is read later."""
    fold = Fold(lambda: b"")
    chunks = fold.push(["a", ThoughtPiece("t"), "b", CallStart(key=0, id="x", name="f")])
    fold.push(["later", STOP])
    assert [len(chunk.aggregated.parts) for chunk in chunks] == [1, 2, 3, 4]
    assert chunks[0].aggregated == AIMessage("a")


def test_the_final_chunk_has_what_the_others_lack() -> None:
    """Only the last chunk knows reason, usage and the whole message."""
    fold = Fold(lambda: b"")
    usage = Usage(input_tokens=1, output_tokens=2)
    [first] = fold.push(["a", Info(response_id="r", model="m", metadata={"k": [1]}), UsageReport(usage=usage), STOP])
    [final] = fold.finish()
    assert (first.final, first.finish_reason, first.raw_finish_reason, first.usage) == (False, None, None, None)
    assert (final.final, final.finish_reason, final.raw_finish_reason, final.usage) == (True, "stop", "end_turn", usage)
    assert final.delta == ChunkDelta()
    message = final.aggregated
    assert (message, message.model, message.response_id) == (AIMessage("a", metadata={"k": [1]}), "m", "r")


def test_a_chunk_cannot_be_changed() -> None:
    """Chunks are values."""
    [chunk] = Fold(lambda: b"").push("a")
    with pytest.raises(AttributeError):
        chunk.final = True  # type: ignore[misc]
    with pytest.raises(AttributeError):
        chunk.other = 1  # type: ignore[attr-defined]
    assert repr(chunk).startswith("StreamChunk(0, ChunkDelta(text='a'")


def test_candidates_are_kept_apart_and_each_has_a_final_chunk() -> None:
    """Deltas of several candidates make several messages."""
    fold = Fold(lambda: b"")
    fold.push([TextPiece("b", index=1), "a", Finish(reason="stop", index=1), STOP])
    finals = fold.finish()
    assert [(chunk.index, chunk.aggregated.text) for chunk in finals] == [(0, "a"), (1, "b")]
    assert all(isinstance(chunk, StreamChunk) and chunk.final for chunk in finals)


def test_the_last_usage_counts_and_facts_are_joined() -> None:
    """Reports replace one another; lists of facts grow."""
    message = folded(
        "a",
        UsageReport(usage=Usage(output_tokens=1)),
        UsageReport(usage=Usage(output_tokens=5)),
        Info(response_id="r", metadata={"citations": [1], "x": 1}),
        Info(model="m", metadata={"citations": [2], "x": 2}),
        Resent(),
    )
    assert message.usage == Usage(output_tokens=5, num_requests=2)
    assert message.metadata == {"citations": [1, 2], "x": 2}
    assert (message.response_id, message.model) == ("r", "m")


def test_of_reports_in_a_wires_words_the_last_is_read() -> None:
    """A wire that says its cost with each piece is asked once what it means."""
    read: list[Any] = []

    def usage(wire: Mapping[str, Any]) -> Usage:
        read.append(wire)
        return Usage(output_tokens=wire["count"])

    fold = Fold(lambda: b"")
    fold.push([delta for count in range(1, 100) for delta in ("a", WireUsage({"count": count}, usage))])
    assert read == []
    fold.push(STOP)
    assert fold.finish()[0].usage == Usage(output_tokens=99)
    assert read == [{"count": 99}]


def test_earlier_attempts_are_part_of_the_cost() -> None:
    """What failed attempts reported is added, and the requests are counted."""
    fold = Fold(lambda: b"", spent=Usage(input_tokens=3, output_tokens=1, lower_bound=True), requests=2)
    fold.push(["a", UsageReport(usage=Usage(input_tokens=4, output_tokens=1)), STOP])
    assert fold.finish()[0].usage == Usage(input_tokens=7, output_tokens=2, num_requests=3, lower_bound=True)


def test_an_answer_without_an_end_is_incomplete() -> None:
    """A clean end of the stream is no success unless the model said that it is done."""
    fold = Fold(lambda: b"")
    fold.push("a")
    with pytest.raises(IncompleteGenerationError):
        fold.finish()
    with pytest.raises(IncompleteGenerationError):
        Fold(lambda: b"").finish()


@pytest.mark.parametrize("deltas", [[], [ThoughtPiece("t")], [ThoughtEnd(payload=1, tag="t")], [Boundary()]])
def test_an_answer_of_nothing_but_thoughts_is_empty(deltas: list[Delta]) -> None:
    """Reasoning alone is no answer, readable or not."""
    with pytest.raises(EmptyGenerationError):
        folded(*deltas)


def test_an_opaque_item_is_an_answer() -> None:
    """What a provider's own tool gave back is more than nothing."""
    message = folded(ThoughtEnd(payload={"x": 1}, tag="t", is_output=True))
    assert message.parts == (Thought(payload={"x": 1}, replay_compatibility="t"),)


def test_something_else_is_refused() -> None:
    """A model that yields what is no delta hears of it."""
    with pytest.raises((TypeError, AttributeError)):
        Fold(lambda: b"").push(5)  # type: ignore[arg-type]
