"""Python text that is valid Python, as a tree: parsed by the language's own parser, then walked; nothing is run.

Only literals, constructor calls of the schema's classes and members of its Enums are taken. What else is valid Python
is refused by the first node that is too much.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from langfx_web.errors import (
    OutputForbiddenError,
    OutputMismatchError,
    OutputNameError,
    OutputSyntaxError,
    OutputValidationError,
)
from langfx_web.protocols.shape import CONSTANTS, Shape
from langfx_web.protocols.text import whole
from langfx_web.protocols.tolerant import MAX_DIGITS
from langfx_web.schemas.tree import EnumNode, ObjectNode, SetNode

_BRACKETED = (ast.Call, ast.List, ast.Tuple, ast.Dict, ast.Set)


def parsed(code: str) -> ast.Module | None:
    """The code's syntax tree; None where it is not valid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


class Walk:
    """Turns one module of code into the tree of its only value; raises the output errors, with offsets in `code`."""

    def __init__(self, code: str, shape: Shape) -> None:
        self._code = code
        self._shape = shape
        self._lines: list[str] = []
        self._encoded: dict[int, bytes] = {}

    def answer(self, module: ast.Module, *, is_fenced: bool) -> Any:
        """The one value, which may be assigned to a name; outside a fence prose may follow after a blank line."""
        if not module.body:
            raise OutputSyntaxError("there is no value", offset=0)
        value = self._assigned(module.body[0])
        found = self.tree(value)
        if len(module.body) > 1:
            after = module.body[1]
            if is_fenced or not isinstance(value, _BRACKETED) or not self._is_prose(module.body[0], after):
                raise OutputSyntaxError("there is text after the value", offset=self._offset(after))
        return found

    def tree(self, node: ast.expr) -> Any:
        """The tree of one expression."""
        maker = _MAKERS.get(type(node))
        if maker is None:
            raise self._forbidden(node)
        return maker(self, node)

    def _assigned(self, statement: ast.stmt) -> ast.expr:
        match statement:
            case ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value):
                return value
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                return value
        raise self._forbidden(statement)

    def _is_prose(self, first: ast.stmt, after: ast.stmt) -> bool:
        lines = self._split()
        between = lines[first.end_lineno : after.lineno - 1]
        rest = "\n".join(lines[after.lineno - 1 :])
        return any(not line.strip() for line in between) and not self._shape.start.search(rest)

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, str):
            return whole(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if (node.end_col_offset or 0) - node.col_offset > MAX_DIGITS:
                raise OutputSyntaxError("a number is too long", offset=self._offset(node))
            return value
        if value is None or isinstance(value, (bool, bytes)):
            return value
        raise self._forbidden(node)

    def _name(self, node: ast.Name) -> Any:
        if node.id not in CONSTANTS:
            raise OutputNameError(self._shape.unknown(node.id), offset=self._offset(node))
        return CONSTANTS[node.id]

    def _call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name):
            raise self._forbidden(node.func)
        name = node.func.id
        if name in self._shape.classes:
            positional = tuple([self.tree(argument) for argument in node.args])
            return ObjectNode(name, positional, self._keywords(node))
        if name == "dict" and not node.args:
            return self._keywords(node)
        if name == "set" and not node.args and not node.keywords:
            return SetNode(())
        if name in ("dict", "set"):
            raise self._forbidden(node)
        raise OutputNameError(self._shape.unknown(name), offset=self._offset(node))

    def _keywords(self, node: ast.Call) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self._forbidden(keyword)
            if keyword.arg in found:
                raise OutputSyntaxError(f"the argument {keyword.arg!r} is given twice", offset=self._offset(keyword))
            found[keyword.arg] = self.tree(keyword.value)
        return found

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value in zip(node.keys, node.values, strict=True):
            if key_node is None:
                raise self._forbidden(node)
            key = self.tree(key_node)
            try:
                is_doubled = key in found
            except TypeError:
                message = f"{type(key).__name__} cannot be a key"
                raise OutputMismatchError(message, offset=self._offset(key_node)) from None
            if is_doubled:
                raise OutputSyntaxError(f"the key {key!r} is given twice", offset=self._offset(key_node))
            found[key] = self.tree(value)
        return found

    def _signed(self, node: ast.UnaryOp) -> int | float:
        number = node.operand
        if not isinstance(node.op, (ast.USub, ast.UAdd)) or not isinstance(number, ast.Constant):
            raise self._forbidden(node)
        value = self._constant(number)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or self._is_apart(node, number):
            raise self._forbidden(node)
        return -value if isinstance(node.op, ast.USub) else value

    def _is_apart(self, sign: ast.expr, number: ast.expr) -> bool:
        """Whether more than blanks stands between them, a parenthesis say, of which the syntax tree tells nothing."""
        if (number.lineno, number.col_offset) == (sign.lineno, sign.col_offset + 1):
            return False
        if number.lineno != sign.lineno:
            return True
        between = self._bytes(sign.lineno)[sign.col_offset + 1 : number.col_offset]
        return bool(between.strip())

    def _joined(self, node: ast.BinOp) -> str:
        """Strings with a plus between them."""
        parts: list[str] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            parts.append(self._piece(left.right, node))
            left = left.left
        parts.append(self._piece(left, node))
        return whole("".join(reversed(parts)))

    def _piece(self, node: ast.expr, around: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        raise self._forbidden(around)

    def _member(self, node: ast.Attribute) -> EnumNode:
        if not isinstance(node.value, ast.Name) or node.value.id not in self._shape.enums:
            raise self._forbidden(node)
        return EnumNode(node.value.id, node.attr)

    def _forbidden(self, node: Any) -> OutputValidationError:
        return OutputForbiddenError(f"{type(node).__name__} is no part of a value", offset=self._offset(node))

    def _split(self) -> list[str]:
        if not self._lines:
            self._lines = self._code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines

    def _bytes(self, line: int) -> bytes:
        if line not in self._encoded:
            self._encoded[line] = self._split()[line - 1].encode()
        return self._encoded[line]

    def _offset(self, node: Any) -> int:
        """A node's place in the code; the parser counts lines, and bytes in them."""
        line: int = node.lineno
        before = sum(map(len, self._split()[: line - 1])) + line - 1
        return before + len(self._bytes(line)[: node.col_offset].decode("utf-8", "ignore"))


# Apart from the object: bound methods in it would be a circle, which only the garbage collector can free.
_MAKERS: Mapping[type[ast.expr], Callable[[Walk, Any], Any]] = {
    ast.Constant: Walk._constant,
    ast.Name: Walk._name,
    ast.Call: Walk._call,
    ast.List: lambda walk, node: [walk.tree(item) for item in node.elts],
    ast.Tuple: lambda walk, node: tuple([walk.tree(item) for item in node.elts]),
    ast.Set: lambda walk, node: SetNode(tuple([walk.tree(item) for item in node.elts])),
    ast.Dict: Walk._dict,
    ast.UnaryOp: Walk._signed,
    ast.BinOp: Walk._joined,
    ast.Attribute: Walk._member,
}
