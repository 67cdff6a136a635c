"""How a typed prompt is laid out: titled sections with indented bodies, the same texts for the same question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from langfx_web.messages import Part, Text
from langfx_web.protocols import ProtocolName, protocol
from langfx_web.schemas import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the sections are called."""

    input_title: str
    schema_title: str
    output_title: str
    context_title: str = "CONTEXT"

    @property
    def titles(self) -> dict[str, str]:
        """What a preamble may name in braces."""
        return {
            "input_title": self.input_title,
            "schema_title": self.schema_title,
            "output_title": self.output_title,
        }


LABELS: Mapping[str, Labels] = {
    "python": Labels(input_title="REQUEST", schema_title="OUTPUT PYTHON TYPE", output_title="OUTPUT PYTHON OBJECT"),
    "json": Labels(input_title="INPUT_OBJECT", schema_title="SCHEMA", output_title="JSON"),
}


def indented(text: str) -> str:
    """The text two spaces further in; empty lines stay empty."""
    return "\n".join(f"  {line}" if line else line for line in text.split("\n"))


def section(title: str, body: str) -> str:
    """A titled text."""
    return f"{title}:\n{indented(body)}"


@lru_cache(maxsize=256)
def schema_section(schema: Schema, name: ProtocolName) -> str:
    """What the model is told of the wanted type; written once."""
    return section(LABELS[name].schema_title, protocol(name).describe(schema))


def titled(title: str, parts: Iterable[Part]) -> list[Part]:
    """A section whose body may hold media, which stand on their own between the texts."""
    found: list[Part] = []
    text = f"{title}:"
    for part in parts:
        if isinstance(part, Text):
            body = part.text.strip("\n")
            text += f"\n{indented(body)}" if body else ""
        else:
            found += [Text(f"{text}\n"), part]
            text = ""
    return [*found, Text(text)] if text else found


def joined(pieces: Iterable[Iterable[Part]]) -> list[Part]:
    """Sections one after the other, a blank line between them, neighbouring texts as one."""
    parts: list[Part] = []
    for number, piece in enumerate(pieces):
        for part in [Text("\n\n"), *piece] if number else piece:
            if isinstance(part, Text) and parts and isinstance(parts[-1], Text):
                parts[-1] = Text(parts[-1].text + part.text)
            else:
                parts.append(part)
    return parts
