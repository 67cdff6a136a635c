"""Sources without annotations: the same program, line by line."""

import ast
from pathlib import Path

from worker.bundle.annotations import without_annotations

SOURCE = """\
from dataclasses import dataclass

@dataclass
class Box:
    größe: int = 1

    async def fill(self, ä: "dict[str, int]" = {}, /, *rest: int, deep: tuple[
        int, ...
    ] = (), **others: object) -> list[
        int
    ]:
        inner: int = 2
        return (lambda x: x)(inner)


def plain(a: int, b: "->" = 1) -> None: return a
"""


def test_functions_lose_what_they_say_of_types() -> None:
    """Fields of classes keep it, lines stay where they are."""
    stripped = without_annotations(SOURCE.encode()).decode()
    tree = ast.parse(stripped)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation]
    assert [line.strip() for line in stripped.splitlines()][11:13] == ["inner: int = 2", "return (lambda x: x)(inner)"]
    assert "größe: int = 1" in stripped
    assert "def plain(a     , b       = 1)        : return a" in stripped
    assert stripped.count("->") == 1, "one over several lines stays"


def test_our_package_is_the_same_program_without_them() -> None:
    """But for annotations, the syntax trees of every module are equal."""
    for path in (Path(__file__).parents[2] / "langfx_web").rglob("*.py"):
        source = path.read_bytes()
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                node.annotation = None
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.returns is None or node.returns.lineno == node.returns.end_lineno, path.name
                node.returns = None
        assert ast.dump(ast.parse(without_annotations(source))) == ast.dump(tree), path.name
