"""Environment markers, judged for Emscripten and not for the host that builds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(?:(\(|\))|('[^']*'|\"[^\"]*\")|(===|==|~=|!=|<=|>=|<|>)|([a-z_]+))")
_COMPARE = {"<": {-1}, "<=": {-1, 0}, "==": {0}, "===": {0}, "!=": {-1, 1}, ">=": {0, 1}, ">": {1}}


def emscripten(python: str) -> dict[str, str]:
    """The environment that markers are judged in, for Pyodide with the given full version of Python."""
    return {
        "extra": "",
        "implementation_name": "cpython",
        "implementation_version": python,
        "os_name": "posix",
        "platform_machine": "wasm32",
        "platform_python_implementation": "CPython",
        "platform_system": "Emscripten",
        "python_full_version": python,
        "python_version": ".".join(python.split(".")[:2]),
        "sys_platform": "emscripten",
    }


def holds(marker: str, environment: Mapping[str, str]) -> bool:
    """Whether `marker` is true in `environment`; raises `ValueError` if it cannot be read."""
    parser = _Parser(tokens=_tokens(marker), environment=environment)
    value = parser.disjunction()
    if parser.tokens:
        raise ValueError(f"cannot read the marker {marker!r} from {parser.tokens[0]!r} on")
    return value


def _tokens(marker: str) -> list[str]:
    tokens, position = [], 0
    while marker[position:].strip():
        match = _TOKEN.match(marker, position)
        if match is None:
            raise ValueError(f"cannot read the marker {marker!r} at {marker[position:]!r}")
        tokens.append(match.group().strip())
        position = match.end()
    return tokens


@dataclass(slots=True, kw_only=True)
class _Parser:
    """Reads tokens from the left; every method takes what it understands."""

    tokens: list[str]
    environment: Mapping[str, str]

    def disjunction(self) -> bool:
        value = self.conjunction()
        while self._take("or"):
            other = self.conjunction()
            value = value or other
        return value

    def conjunction(self) -> bool:
        value = self.comparison()
        while self._take("and"):
            other = self.comparison()
            value = value and other
        return value

    def comparison(self) -> bool:
        if self._take("("):
            value = self.disjunction()
            if not self._take(")"):
                raise ValueError("a parenthesis of the marker is not closed")
            return value
        left = self._value()
        operator = self._next()
        if operator == "not":
            operator += f" {self._next()}"
        return _compare(left, operator, self._value())

    def _value(self) -> str:
        token = self._next()
        if token[0] in "'\"":
            return token[1:-1]
        if token not in self.environment:
            raise ValueError(f"the marker names {token!r}, which is unknown")
        return self.environment[token]

    def _next(self) -> str:
        if not self.tokens:
            raise ValueError("the marker ends too early")
        return self.tokens.pop(0)

    def _take(self, token: str) -> bool:
        if self.tokens[:1] == [token]:
            self.tokens.pop(0)
            return True
        return False


def _compare(left: str, operator: str, right: str) -> bool:
    if operator == "in":
        return left in right
    if operator == "not in":
        return left not in right
    a, b = _version(left), _version(right)
    if operator not in _COMPARE:
        raise ValueError(f"the marker compares with {operator!r}, which is unknown")
    order = (a > b) - (a < b) if a and b else (left > right) - (left < right)
    return order in _COMPARE[operator]


def _version(text: str) -> list[int]:
    """The numbers of a version without trailing zeros, or an empty list for any other text."""
    if not re.fullmatch(r"\d+(\.\d+)*", text):
        return []
    return [int(number) for number in re.sub(r"(\.0+)+$", "", text).split(".")]
