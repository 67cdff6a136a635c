"""Reads a customer's note by a few rules and writes the order in it as a model would: the script of the form page.

What a note leaves vague ("some trays", "next week") is written down as vaguely, and the wanted type refuses it.
"""

from __future__ import annotations

import re

NUMBERS = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
MONTHS = ("january", "february", "march", "april", "may", "june", "july")
MONTHS += ("august", "september", "october", "november", "december")

_NUMBER = rf"\d+|a dozen|some|a few|several|{'|'.join(sorted(NUMBERS, key=len, reverse=True))}"
_ITEM = re.compile(rf"\b({_NUMBER}) ((?:\w+ ){{0,2}}?(?:lamp|mat|tray|pinboard))s?\b", re.IGNORECASE)
_NAME = re.compile(r"(?:[Tt]his is|[Mm]y name is|I am) ((?:[^\W\da-z][\w-]+ ?)+)")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.\w+)+")
_DATE = re.compile(rf"(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})", re.IGNORECASE)
_VAGUE_DATE = re.compile(r"\b(next week|next month|this weekend|tomorrow|soon)\b", re.IGNORECASE)
_WISH = re.compile(r"\b(Please [^.!?\n]+[.!?])")


def order_in(note: str) -> str:
    """The order in the note, as a model writes a Python value: in a fence, one argument per line."""
    items = [f"    Item(quantity={_quantity(number)}, article={article!r})," for number, article in _ITEM.findall(note)]
    lines = [
        f"  customer={_found(_NAME, note).strip()!r},",
        f"  email={_found(_EMAIL, note) or None!r},",
        *(["  items=[", *items, "  ],"] if items else ["  items=[],"]),
        f"  delivery={_delivery(note)!r},",
        f"  wanted_by={_date(note)!r},",
        f"  gift_wrap={'gift' in note.lower()},",
        f"  remark={_found(_WISH, note) or None!r}",
    ]
    return "\n".join(["```python", "output = Order(", *lines, ")", "```"])


def _found(pattern: re.Pattern[str], note: str) -> str:
    match = pattern.search(note)
    return match[match.lastindex or 0] if match else ""


def _quantity(number: str) -> str:
    word = number.lower()
    if word == "a dozen":
        return "12"
    return str(max(1, NUMBERS.index(word))) if word in NUMBERS else word if word.isdigit() else repr(word)


def _date(note: str) -> str | None:
    exact = _DATE.search(note)
    if exact:
        return f"{exact[3]}-{MONTHS.index(exact[2].lower()) + 1:02}-{int(exact[1]):02}"
    return _found(_VAGUE_DATE, note) or None


def _delivery(note: str) -> str:
    words = note.lower()
    if re.search(r"\b(pick|collect)\b", words):
        return "pickup"
    return "express" if re.search(r"\b(express|urgent)\b", words) else "standard"
