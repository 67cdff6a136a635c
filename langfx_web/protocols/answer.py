"""Where in an answer its value begins: after a fence, at a start line, or with the text itself.

A finder is fed the text in pieces; wherever they are cut, it finds the same place. Reading a whole text is feeding it
once.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from langfx_web.protocols.text import Pile

FENCE = r"(?P<fence>`{3,64})|^[ \t]{0,80}(?P<tilde>~{3,64})"
"""What opens a block: three or more backticks anywhere, or tildes at the beginning of a line."""

_WIDEST = 400
"""Characters of a beginning; no pattern here is wider."""

_WIDEST_BREAK = 100
"""Characters of a beginning that may go over the end of a line."""

_LONGEST_FENCE = 64

_LANGUAGE = re.compile(r"[ \t]*(?:(?:python[23]?|py|json|tool[-_]code)[ \t]+)?", re.IGNORECASE)
_BLANK = " \t\r\n\f\v"


def python_start(*, classes: Collection[str], brackets: str) -> str:
    """The pattern of a line with which a python value begins: an opener of the root, or `output =`.

    `classes` are the names that may be called, `brackets` those of `[{(` that may open the root.
    """
    named = [rf"(?:{'|'.join(map(re.escape, sorted(classes)))})\("] if classes else []
    opener = "|".join([*named, *([f"[{re.escape(brackets)}]"] if brackets else [])]) or r"(?!)"
    target = r"[^\W\d]\w{0,63}[ \t]{0,8}(?::[^=\n`]{0,120})?=[ \t]{0,8}"
    output = r"output[ \t]{0,8}(?::[^=\n`]{0,120})?=(?=[^=])"
    return rf"^[ \t]{{0,80}}(?:(?:{target})?(?:{opener})|{output})"


def json_start(*, objects: bool, arrays: bool) -> str:
    """The pattern with which a JSON object or array begins, anywhere in a line."""
    patterns = [r'\{\s{0,80}["}]'] if objects else []
    if arrays:
        patterns.append(r"\[\s{0,80}(?:[\]\"\[{0-9-]|true|false|null)")
    return "|".join(patterns) or r"(?!)"


def compiled(start: str) -> re.Pattern[str]:
    """A finder's pattern: what opens a block, or `start`."""
    return re.compile(f"{FENCE}|(?P<start>{start})", re.MULTILINE)


def compiled_start(start: str) -> re.Pattern[str]:
    """A finder's pattern that knows no blocks."""
    return re.compile(f"(?P<start>{start})|(?P<fence>(?!))(?P<tilde>(?!))", re.MULTILINE)


class Finder:
    """Finds the beginning of the value.

    `found` says that it is known; from then on all that is fed belongs to the value's text. `fence` is what ends the
    block that the value stands in, "" where it stands in none; `offset` is the value's place in the answer.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.found = False
        self.fence = ""
        self.offset = 0
        self._pattern = pattern
        self._look = Finder._search  # not bound: that would be a circle
        self._seen = Pile()
        self._length = 0
        self._window = ""
        self._is_cut = False
        self._info = Pile()

    def feed(self, text: str) -> str:
        """What is known of the value's text with this piece; "" while its beginning is not."""
        if self.found or not text:
            return text
        if not self.fence:
            self._seen.add(text)
        self._length += len(text)
        return self._look(self, text.removeprefix("\ufeff") if self._length == len(text) else text)

    def finish(self) -> str:
        """What was held back of the value's text: where nothing showed a beginning, the whole text."""
        if self.found:
            return ""
        value = self._look(self, "", ended=True)
        if self.found:
            return value
        value = self._begin(self._seen.text().removeprefix("\ufeff"))
        self.offset = 0
        return value

    def _search(self, text: str, ended: bool = False) -> str:
        buffer = self._window + text
        match = self._pattern.search(buffer, int(self._is_cut))
        if match is None:
            line = buffer.rfind("\n") + 1
            self._keep(buffer, max(min(line, len(buffer) - _WIDEST_BREAK), len(buffer) - _WIDEST))
            return ""
        if match["start"] is not None:
            return self._begin(buffer[match.start() :].lstrip(_BLANK))
        if match.end() == len(buffer) and len(match[match.lastgroup or 0]) < _LONGEST_FENCE and not ended:
            self._keep(buffer, match.start() - 1)  # the run may go on
            return ""
        self.fence = match["fence"] or match["tilde"]
        self._window, self._look = "", Finder._read_info
        before = self._seen.take()
        self._seen.add(before[: match.start() - len(buffer)])
        return self._read_info(buffer[match.end() :], ended)

    def _keep(self, buffer: str, start: int) -> None:
        """Look again at the end of what was read; its first character only tells whether a line begins there."""
        if start > 0:
            buffer, self._is_cut = buffer[start:], True
        self._window = buffer

    def _read_info(self, text: str, ended: bool = False) -> str:
        """The rest of the opening line: dropped, unless the block is closed in it and so has the value."""
        line = self._window + text
        end = re.search(r"\n" if self.fence[0] == "~" else rf"\n|{self.fence}", line)
        if end is None and not ended:
            rest = line.rstrip("`")
            self._info.add(rest)
            self._window = line[len(rest) :]
            return ""
        info = self._info.text()
        if end is not None and end[0] != "\n":
            return self._begin(_LANGUAGE.sub("", info + line, count=1))
        if info.strip(_BLANK) or (line if end is None else line[: end.start()]).strip(_BLANK):
            return self._begin("" if end is None else line[end.end() :])
        self._look = Finder._skip_blank
        return self._skip_blank("" if end is None else line[end.end() :], ended)

    def _skip_blank(self, text: str, ended: bool = False) -> str:
        """A block that has nothing is no block: its fence closes the value above it."""
        value = text.lstrip(_BLANK)
        if ended and not value:
            self.fence = ""
            return ""
        return self._begin(value) if value else ""

    def _begin(self, value: str) -> str:
        self.found = True
        self.offset = self._length - len(value)
        self._seen.take()
        return value
