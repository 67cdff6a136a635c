"""How a typed prompt is laid out: titled sections with indented bodies, the same texts for the same question.

A section is a list of texts and parts; media stand on their own between the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TypeAlias

from langfx_web.messages import ComplexMessage, Message, Part, Text, Thought, ToolCall
from langfx_web.protocols import ProtocolName, protocol
from langfx_web.schemas import Schema
from langfx_web.templates import Template

Section: TypeAlias = "list[str | Part]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the sections are called."""

    input_title: str
    schema_title: str
    output_title: str
    context_title: str = "CONTEXT"


LABELS: Mapping[str, Labels] = {
    "python": Labels(input_title="REQUEST", schema_title="OUTPUT PYTHON TYPE", output_title="OUTPUT PYTHON OBJECT"),
    "json": Labels(input_title="INPUT_OBJECT", schema_title="SCHEMA", output_title="JSON"),
}


def section(title: str, body: Message | str = "") -> Section:
    """A title, and the body two spaces further in; without a body, the cue to write one."""
    pieces: Section = [f"{title}:"]
    for part in [body] if isinstance(body, str) else flat(body):
        text = part.text if isinstance(part, Text) else part
        if not isinstance(text, str):
            pieces += ["\n", text]
        elif text.strip():
            pieces.append("\n" + _indented(text.strip("\n")))
    return list(_merged(pieces))


def flat(message: Message) -> Section:
    """What a message says and shows, or all messages of a transcript, with blank lines between these."""
    if isinstance(message, ComplexMessage):
        return joined(map(flat, message.messages))
    return [part for part in message.parts if not isinstance(part, (Thought, ToolCall))]


def joined(sections: Iterable[Section]) -> Section:
    """Sections one after the other, a blank line between them."""
    pieces: Section = []
    for each in sections:
        pieces += ["\n\n", *each] if pieces else each
    return list(_merged(pieces))


@lru_cache(maxsize=256)
def schema_section(schema: Schema, name: ProtocolName) -> str:
    """What the model is told of the wanted type; written once."""
    return f"{LABELS[name].schema_title}:\n{_indented(protocol(name).describe(schema))}"


@lru_cache(maxsize=256)
def preamble_section(text: str, name: ProtocolName) -> str:
    """A preamble with the titles in their places; written once."""
    return Template(text).render(asdict(LABELS[name])).text


def _indented(text: str) -> str:
    return "\n".join([f"  {line}" if line else line for line in text.split("\n")])


def _merged(pieces: Iterable[str | Part]) -> Iterable[str | Part]:
    """Neighbouring texts as one."""
    text = ""
    for piece in pieces:
        if isinstance(piece, (str, Text)):
            text += piece if isinstance(piece, str) else piece.text
            continue
        if text:
            yield text
        yield piece
        text = ""
    if text:
        yield text
