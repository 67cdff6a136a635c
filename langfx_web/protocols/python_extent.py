"""How far python text goes, and whether Python's own parser may be given it.

That parser is recursive, and nothing but the machine's stack bounds it: two thousand times `not` end the interpreter in
a browser. So everything that it nests by, brackets, operators in a row and keywords, is counted before.
A number of too many digits is not for it either. Most answers are ordinary, which is seen without counting.
"""

from __future__ import annotations

import re

from langfx_web.protocols.limits import ParseLimits
from langfx_web.protocols.tolerant import MAX_DIGITS

_SAFE_COST = 100
"""Levels that the parser may nest; two hundred end it in a worker with half of V8's usual stack."""

_SAFE_TEMPLATE = 100
"""Characters of an f-string with braces, which the parser reads as code."""


def _string(quote: str) -> str:
    """A complete literal, as the language has it: in triple quotes, or on one line."""
    many = rf"{quote * 3}[^{quote}\\]*+(?:(?:\\.|{quote}(?!{quote * 2}))[^{quote}\\]*+)*+{quote * 3}"
    return rf"{many}|{quote}(?!{quote * 2})[^{quote}\\\n]*+(?:\\.[^{quote}\\\n]*+)*+{quote}"


_TOKENS = re.compile(
    rf"(?P<string>(?P<prefix>\b[A-Za-z]{{1,2}})?(?:{_string(chr(39))}|{_string(chr(34))}))"
    r"|(?P<comment>\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?P<line>\n|;)|(?P<joint>\\\r?\n)"
    r"|(?P<fence>`{3,}|~{3,})|(?P<operator>[-+~*/%@&|^.]|<<|>>)|(?P<quote>['\"]|\b\w{4301,})"
    r"|(?P<keyword>\b(?:not|if|else|elif|lambda|await|for|while|with|try|except|finally|def|class|async|match|case)\b)",
    re.DOTALL,
)

_ASIDE = re.compile(rf"{_string(chr(39))}|{_string(chr(34))}|\#[^\n]*|['\"].*", re.DOTALL)
"""A string or a comment; a string that is not closed goes to the end, so that nothing is looked at twice."""

_OPERATORS = b"-+*/%@&|^.<>"
_KEYWORDS = b"not if else elif lambda await for while with try except finally def class async match case"
_PREFIXES = (one + other for one in " rRbB" for other in "fFtT")
_COSTLY = frozenset(_KEYWORDS.split()) | {
    f'{written.strip()}"'.encode() for prefix in _PREFIXES for written in (prefix, prefix[::-1])
}
"""Keywords, and how a string begins that holds code."""

_WORDS = bytes(byte if chr(byte).isalnum() or byte > 127 or byte in b'_"' else ord(" ") for byte in range(256))
_MARKS = bytes.maketrans(b"[{]}" + _OPERATORS, b"(())" + b"." * len(_OPERATORS))
_NO_MARKS = bytes(byte for byte in range(256) if byte not in b"()[]{}," + _OPERATORS)
_MOST_OPERATORS = 3
"""In a row, as `-1.5e-3` has them."""


def extent(text: str, *, fence: str, limits: ParseLimits) -> int | None:
    """Where the value's text ends; None where Python's parser must not see it or is known to refuse it."""
    end = text.find("\n" + fence) + 1 if fence else 0
    if _is_ordinary(text[:end] if end else text, limits):
        return end or len(text)
    return _counted(text, fence, limits)


def _is_ordinary(text: str, limits: ParseLimits) -> bool:
    """Whether a text is whole, has no fence, and cannot be costly: no keyword, no chain of calls or operators."""
    bare = _ASIDE.sub('" ', text)
    if bare.endswith('" ') or any(mark in bare for mark in "`~\\"):
        return False
    code = bare.encode("utf-8", "surrogatepass")
    words = set(code.translate(_WORDS).split())
    if words & _COSTLY or max(map(len, words), default=0) > MAX_DIGITS:
        return False
    marks = code.translate(_MARKS, _NO_MARKS)
    if marks.count(b",") + marks.count(b"(") >= limits.max_nodes:
        return False
    # After a bracket only a comma or another end may follow; so each level costs its operators and itself.
    if any(chain in marks for chain in (b")(", b").", b"." * (_MOST_OPERATORS + 1))):
        return False
    return _nests_at_most(marks, min(limits.max_depth, _SAFE_COST // (_MOST_OPERATORS + 1) - 1))


def _nests_at_most(marks: bytes, most: int) -> bool:
    brackets = marks.translate(None, b",.")
    for _ in range(most):
        if not brackets:
            break
        brackets = brackets.replace(b"()", b"")
    return not brackets


def _counted(text: str, fence: str, limits: ParseLimits) -> int | None:
    marks = [0]
    cost = keywords = values = 0
    for match in _TOKENS.finditer(text):
        kind = match.lastgroup
        if kind == "comma":
            cost = marks[-1]
            values += 1
        elif kind == "open":
            cost += 1
            values += 1
            marks.append(cost)
            if len(marks) > limits.max_depth + 1:
                return None
        elif kind == "close":
            if len(marks) > 1:
                cost = marks.pop()
        elif kind == "line":
            if len(marks) == 1:
                cost = 0
        elif kind == "operator":
            cost += 1
        elif kind == "keyword":
            keywords += 1
        elif kind == "quote" or (kind == "string" and _is_long_template(match)):
            return None
        elif kind == "fence":
            if fence and match[0].startswith(fence):
                return match.start()
            if not fence and match[0][0] == "`":
                return None if text[match.start() :].strip("` \t\r\n\f") else match.start()
            cost += len(match[0])
        if cost + keywords > _SAFE_COST or values >= limits.max_nodes:
            return None
    return len(text)


def _is_long_template(match: re.Match[str]) -> bool:
    prefix = (match["prefix"] or "").lower()
    return len(match[0]) > _SAFE_TEMPLATE and ("f" in prefix or "t" in prefix) and "{" in match[0]
