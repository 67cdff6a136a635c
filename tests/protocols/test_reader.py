"""Answers that arrive in pieces: the same events however they are cut, and nothing that is not known yet."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from langfx_web.events import FieldEnd, ObjectEnd, ObjectStart, PartialObject, StringFieldDelta, ValueEvent
from langfx_web.protocols import ParseLimits, Reader, protocol
from tests.protocols.wanted import NOTES, Names, events, pieces, plain

ANSWERS = {
    "python": [
        "Note(text='hé', tags=['a'])",
        "Hi:\n\n```python\noutput = Note(\n  text='a\\u00e9\\ud83d\\ude00 \\N{EM DASH}',\n  tags=['x' 'y'],\n)\n```",
        "Note(text='it's, ok', tags=['Girls' home' , \"b\"])\n\nHope it helps!",
        "Note('''a\r\n'b' ''c''', [1, -2.5e-3, 0x10, True, null, UNKNOWN, Color.RED])",
        "{'a': (1,), 'b': ('x' 'y'), 'c': {1, 2}, (1, 2): {}, 3: set(), 'd': dict(a=[b'x'])}",
        "('long ' +\n 'text')",
        "1, [2, 'a']",
        "1, 2;",
        "\uff2eote(t\uff45xt=[\uff23olor.RED])",
        "[1, 2], 3",
        "```python 'one line'```",
        "300\n```\n",
        "```python\noutput = 'text'\n```",
        "~~~\n'text' \n~~~~",
        "~~~py\n[300, 3]\n~~~",
        "Note(text='a' + ('b' 'c') + 'd', tags=((1), ((2), 3)))",
        "Note(text='x'\\\n 'y')",
        "Note(text='cut off",
        "Note(text='a', text='b')",
        "[1, foo, 2]",
        "no value at all",
        "",
    ],
    "json": [
        '{"n": -12.5e3, "a": [1, 20, 300], "b": [-4], "t": true, "z": 0.0}',
        'Sure: {"t": "\\ud83d\\ude00!", "u": "x\\u00e9\\n\\"y\\d", "": {}} and more',
        '```json\n[{"a": "```"}, null, ]\n```\n',
        '~~~\n"text"\n~~~',
        "12",
        '"text" # note',
        '{"a": 01}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": [[[]]]}',
    ],
}
CASES = [(name, answer) for name, answers in ANSWERS.items() for answer in answers]


@pytest.mark.parametrize(("name", "answer"), CASES)
def test_any_split_gives_the_same_events(name: str, answer: str) -> None:
    """Character by character, in two parts at every place, and in one: only string deltas are cut differently."""
    whole = events([answer], name=name)
    for size in (1, 2, 3, 5):
        assert events(pieces(answer, size), name=name) == whole
    for place in range(1, len(answer)):
        assert events([answer[:place], answer[place:]], name=name) == whole


@pytest.mark.parametrize(("name", "answer"), CASES)
def test_events_keep_their_order(name: str, answer: str) -> None:
    """Starts and ends are in pairs, deltas join to the value, and a container's value is what its members were."""
    open_: list[tuple[str, Any]] = []
    text = ""
    for event in events(pieces(answer, 1), name=name):
        kind, path = event.type, event.path
        if kind in ("object_start", "field_start"):
            open_.append((kind, path))
            text = ""
        elif kind == "string_field_delta":
            assert open_[-1] == ("field_start", path)
            text += plain(event)[2]
        else:
            assert open_.pop() == (kind.replace("end", "start"), path)
            if isinstance(event, FieldEnd) and isinstance(event.value, str):
                assert text == event.value
    if protocol_reads(name, answer):
        assert open_ == []


def protocol_reads(name: str, answer: str) -> bool:
    try:
        protocol(name).tree(answer, NOTES)
    except ValueError:
        return False
    return True


def test_the_events_of_a_note() -> None:
    """What a page sees while `Note(text='hé', tags=['a'])` arrives."""
    assert list(map(plain, events(pieces("Note(text='hé', tags=['a'])", 1)))) == [
        ("object_start", (), "object", "Note"),
        ("field_start", ("text",)),
        ("string_field_delta", ("text",), "hé"),
        ("field_end", ("text",), "hé"),
        ("field_start", ("tags",)),
        ("object_start", ("tags",), "list", None),
        ("field_start", ("tags", 0)),
        ("string_field_delta", ("tags", 0), "a"),
        ("field_end", ("tags", 0), "a"),
        ("object_end", ("tags",)),
        ("field_end", ("tags",), ("a",)),
        ("object_end", ()),
    ]


def test_positional_arguments_go_by_their_fields_name() -> None:
    """An argument by position has the path of the field it will be."""
    paths = [event.path for event in events(["Note('a', [1])"]) if isinstance(event, FieldEnd)]
    assert paths == [("text",), ("tags", 0), ("tags",)]


def test_containers_show_their_kind() -> None:
    """A tuple, set or dict is named as soon as it is known to be one, parentheses around one value are none."""
    starts = [
        event for event in events(["[(1,), {1}, {1: 2}, {}, set(), (1), ('a')]"]) if isinstance(event, ObjectStart)
    ]
    assert [event.kind for event in starts] == ["list", "tuple", "set", "dict", "dict", "set"]
    json = events(['{"a": []}'], name="json")
    assert [(event.kind, event.class_name) for event in json if isinstance(event, ObjectStart)] == [
        ("object", None),
        ("list", None),
    ]


def test_shown_values_are_immutable_and_unvalidated() -> None:
    """Containers are tuples and read-only mappings, objects say their class and have no instance of it."""
    ends = {event.path: event.value for event in events(["[Note(text=1), {'a': [2]}]"]) if isinstance(event, FieldEnd)}
    assert ends[0,] == PartialObject("Note", MappingProxyType({"text": 1}))
    assert ends[1,] == {"a": (2,)}
    assert isinstance(ends[1,], MappingProxyType)
    with pytest.raises(TypeError):
        ends[1,]["a"] = 1


def test_langfx_23_bug_041_no_number_is_shown_before_its_end() -> None:
    """Each value comes once, whole, and a bare number as an answer only at the end."""
    text = '{"n": -12.5e3, "a": [1, 20, 300], "b": [-4], "t": true, "z": 0.0}'
    found = [event for event in events(pieces(text, 1), name="json") if isinstance(event, FieldEnd)]
    assert [(event.path, event.value) for event in found if not isinstance(event.value, tuple)] == [
        (("n",), -12500.0),
        (("a", 0), 1),
        (("a", 1), 20),
        (("a", 2), 300),
        (("b", 0), -4),
        (("t",), True),
        (("z",), 0.0),
    ]
    for name in ("python", "json"):
        reader = protocol(name).reader(NOTES)
        assert [reader.feed(digit) for digit in "12"] == [[], []]
        assert [plain(event) for event in reader.finish()] == [("field_start", ()), ("field_end", (), 12)]


@pytest.mark.parametrize("text", ['{"n": -}', '{"n": 01}', '{"n": 1.}', '{"n": tru}'])
def test_bug_041_a_bad_token_is_never_a_value(text: str) -> None:
    """Nothing is shown of it, at any split, and the whole is refused where it stands."""
    assert not [event for event in events(pieces(text, 1), name="json") if isinstance(event, FieldEnd)]
    with pytest.raises(ValueError, match="value") as caught:
        protocol("json").tree(text, NOTES)
    assert caught.value.offset == 6  # type: ignore[attr-defined]  # every output error has one


@pytest.mark.parametrize("name", ["python", "json"])
def test_langfx_24_bug_039_halves_of_a_character_are_never_shown(name: str) -> None:
    """An escaped pair cut anywhere is one character, and each delta is text that can be encoded."""
    text = '{"t": "\\ud83d\\ude00!", "u": "x\\u00e9\\n\\"y"}'
    for place in range(len(text) + 1):
        reader = protocol(name).reader(NOTES)
        found = [*reader.feed(text[:place]), *reader.feed(text[place:]), *reader.finish()]
        deltas = [event for event in found if isinstance(event, StringFieldDelta)]
        assert all(event.delta.encode() for event in deltas)
        for key, value in (("t", "\U0001f600!"), ("u", 'x\u00e9\n"y')):
            assert "".join(event.delta for event in deltas if event.path == (key,)) == value


def test_langfx_25_a_quote_is_held_back_until_it_is_decided() -> None:
    """Character by character, what is shown of `'it's, ok'` is never taken back."""
    reader = protocol("python").reader(NOTES)
    shown = ""
    for character in "Note(text='it's, ok')":
        for event in reader.feed(character):
            if isinstance(event, StringFieldDelta):
                shown += event.delta
                assert "it's, ok".startswith(shown)
    assert shown == "it's, ok"


def test_text_is_shown_as_it_arrives() -> None:
    """What a piece brings of a string comes out of the same feed, in one delta."""
    reader = protocol("python").reader(NOTES)
    assert [event.type for event in reader.feed("Some prose.\nNote(text='one \\n two")] == [
        "object_start",
        "field_start",
        "string_field_delta",
    ]
    assert [plain(event) for event in reader.feed(" three")] == [("string_field_delta", ("text",), " three")]
    assert [event.type for event in reader.feed("', tags=[])")] == [
        "field_end",
        "field_start",
        "object_start",
        "object_end",
        "field_end",
        "object_end",
    ]
    assert reader.finish() == []


def test_a_fence_in_pieces_is_never_shown() -> None:
    """Neither the fence nor its language word nor `output =` appears in a delta."""
    answer = 'Look:\n```json\n{"a": "x ``` y"}\n```\n'
    found = events(pieces(answer, 1), name="json")
    assert [event.delta for event in found if isinstance(event, StringFieldDelta)] == ["x ``` y"]


def test_after_an_error_a_reader_is_silent_but_counts() -> None:
    """Events before it stand, none follow, and the limits still hold."""
    reader = protocol("python").reader(NOTES, limits=ParseLimits(max_chars=40))
    before = reader.feed("[1, 2 3, 4, 'text', [5]]")
    assert [event.value for event in before if isinstance(event, FieldEnd)] == [1, 2]
    assert reader.feed("more text that is too long") == []
    assert reader.limit_error is not None
    assert reader.limit_error.limit == "max_chars"
    assert reader.finish() == []


def test_a_tuple_without_parentheses_is_no_level() -> None:
    """A stream is not closed for an answer that is read."""
    text = "1, " + "[" * 64 + "]" * 64
    reader = protocol("python").reader(NOTES)
    reader.feed(text)
    assert reader.limit_error is None
    assert protocol("python").tree(text, NOTES)


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        ("[" * 65, ParseLimits(), "max_depth"),
        ("[1, 2, 3", ParseLimits(max_nodes=1), "max_nodes"),
        ("x" * 11, ParseLimits(max_chars=10), "max_chars"),
    ],
)
@pytest.mark.parametrize("name", ["python", "json"])
def test_a_limit_shows_at_once(name: str, text: str, limits: ParseLimits, limit: str) -> None:
    """The piece that goes over it sets `limit_error`, wherever the pieces are cut."""
    for size in (1, 1000):
        reader = protocol(name).reader(NOTES, limits=limits)
        for piece in pieces(text, size):
            reader.feed(piece)
        assert isinstance(reader, Reader)
        assert reader.limit_error is not None
        assert reader.limit_error.limit == limit


def test_a_container_that_turns_out_to_be_a_bare_tuples_first_member_is_not_shown_twice() -> None:
    """`[1], 2` shows its list, then nothing that would contradict it; the final value is the tuple."""
    found: list[ValueEvent] = events(["[1], 2"])
    assert isinstance(found[-1], ObjectEnd)
    assert len(found) == 4
    assert protocol("python").tree("[1], 2", Names()) == ([1], 2)
