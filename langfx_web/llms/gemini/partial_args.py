"""Arguments of a Gemini call that come value by value, each with the path of its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from langfx_web.errors import LMProtocolError
from langfx_web.json_text import MAX_DEPTH

Path: TypeAlias = tuple[str | int, ...]

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]")


class PartialArgs:
    """Push `partialArgs` in; `whole()` gives the arguments object."""

    def __init__(self) -> None:
        self._values: dict[Path, Any] = {}

    def add(self, partials: Iterable[Mapping[str, Any]]) -> None:
        """Take some values; strings of one path join."""
        for partial in partials:
            path = _path(partial["jsonPath"])
            if "stringValue" in partial:
                pieces = self._values.setdefault(path, [])
                pieces.append(partial["stringValue"])
            elif "numberValue" in partial:
                self._values[path] = partial["numberValue"]
            else:
                self._values[path] = partial.get("boolValue")

    def whole(self) -> dict[str, Any]:
        """The object that the values make; a place that cannot be is a protocol error."""
        root: dict[str, Any] = {}
        for path, value in self._values.items():
            _put(root, path, "".join(value) if isinstance(value, list) else value)
        return root


def _path(text: str) -> Path:
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None or len(steps) >= MAX_DEPTH:
            raise LMProtocolError(f"an argument has the path {text!r:.100}, which leads nowhere")
        name, index, quoted = step.groups()
        steps.append(int(index) if index is not None else name if name is not None else quoted.replace("\\'", "'"))
        at = step.end()
    if not steps or not text.startswith("$") or not isinstance(steps[0], str):
        raise LMProtocolError(f"an argument has the path {text!r:.100}, which leads nowhere")
    return tuple(steps)


def _put(root: dict[str, Any], path: Path, value: Any) -> None:
    place: Any = root
    for step, following in zip(path, (*path[1:], None), strict=True):
        last = following is None
        if isinstance(step, int):
            if not isinstance(place, list) or step > len(place):
                raise LMProtocolError(f"argument {path} is no place in what came before it")
            if step == len(place):
                place.append(value if last else _empty(following))
            elif last:
                place[step] = value
        elif not isinstance(place, dict):
            raise LMProtocolError(f"argument {path} is no place in what came before it")
        elif last:
            place[step] = value
        else:
            place.setdefault(step, _empty(following))
        place = place[step]


def _empty(following: str | int | None) -> Any:
    return [] if isinstance(following, int) else {}
