"""The `reasoning_details` of Chat Completions: pieces of a list whose entries are told apart by `index`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_JOINED = ("text", "summary")


def merged(fragments: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The whole entries that fragments make: words are joined, everything else is set once it is there."""
    entries: list[dict[str, Any]] = []
    open_entries: dict[Any, dict[str, Any]] = {}
    for fragment in fragments:
        index = fragment.get("index")
        entry = open_entries.get(index) if index is not None else None
        if entry is None or fragment.get("type", entry["type"]) != entry["type"]:
            entry = {"type": fragment.get("type")}
            entries.append(entry)
            open_entries[index] = entry
        _add(entry, fragment)
    return [{key: "".join(value) if key in _JOINED else value for key, value in entry.items()} for entry in entries]


def _add(entry: dict[str, Any], fragment: Mapping[str, Any]) -> None:
    for key, value in fragment.items():
        if key in _JOINED:
            entry.setdefault(key, []).append(value or "")
        elif value not in (None, "") or key not in entry:
            entry[key] = value
