"""The layers of the house, checked by reading the package as syntax trees; nothing of it is imported.

`check(package)` returns one line per violation: the file, what it does, and the rule.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "langfx_web"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "clock", "deferred", "masking"),
    ("json_text", "deadline"),
    ("usage",),
    ("messages",),
    ("events",),
    ("templates", "schemas", "transport", "stores", "observation"),
    ("protocols", "tools", "otlp"),
    ("llms",),
    ("queries",),
    ("agentic",),
    ("durable",),
    ("agent",),
    ("testing", "live"),
    ("bridge",),
)
"""The rooms, lowest layer first; a room may import the layers above it in this list, and itself."""

LATE_IMPORTS = {
    "schemas/adapters.py": "pydantic",  # most programs never validate a typed value
    "schemas/docstrings.py": "docstring_parser",  # most docstrings of tools are one line
    "transport/host.py": "httpx",  # an optional extra
    "bridge/resolver.py": "micropip",  # comes with the first package that the bundle lacks
}
"""The only imports inside functions, each of a third-party package that most users never need."""

ONE_DOOR = {("llms", "stores"): "llms/store_cache.py"}
"""What one room may use of another in one module only: models know a store as the place of their cache."""

JAVASCRIPT_MODULES = frozenset({"transport/browser.py", "stores/indexeddb.py", "bridge/entry.py"})
JAVASCRIPT_NAMES = frozenset({"js", "pyodide", "pyodide_js"})
IMPORTLIB_MODULES = frozenset(
    {"deferred.py", "bridge/importable.py", "bridge/modules.py", "bridge/standard_library.py"}
)
NOT_IN_A_BROWSER = re.compile(
    r"asyncio\.(run|Runner|to_thread|eager_task_factory|wait_for)|time\.sleep"
    r"|(.*\.)?(run_sync|run_until_complete|run_in_executor)"
)
"""What a browser's loop cannot do, does by blocking, or does at a price for each use."""
PROGRAMS = frozenset({"live.py"})
"""Modules that are programs of a terminal."""
RUNS_TEXT = frozenset({"eval", "exec", "compile", "__import__"})


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's target, as a dotted module name."""

    module: str
    line: int
    level: int
    is_late: bool
    is_star: bool


def check(package: Path) -> list[str]:
    """Every violation in the package folder, sorted."""
    found: list[str] = []
    trees = {path.relative_to(package).as_posix(): ast.parse(path.read_text("utf-8")) for path in package.rglob("*.py")}
    found += _rooms(package)
    edges: dict[str, set[str]] = {}
    for file, tree in trees.items():
        imports = list(_imports(tree))
        found += _imports_of(file, imports)
        found += _text_running(file, tree)
        found += _blocking(file, tree) if file not in PROGRAMS else ()
        edges[_module_name(file)] = {
            item.module for item in imports if item.module.partition(".")[0] == PACKAGE and file != "__init__.py"
        }
    found += _cycles(edges)
    return sorted(found)


def sizes(package: Path) -> list[tuple[int, str]]:
    """The ten longest modules as (lines, file), longest first; for a reviewer, not a rule."""
    counted = [
        (len(path.read_text("utf-8").splitlines()), path.relative_to(package).as_posix())
        for path in package.rglob("*.py")
    ]
    return sorted(counted, reverse=True)[:10]


def _rooms(package: Path) -> Iterator[str]:
    placed = [room for layer in LAYERS for room in layer]
    existing = {
        path.stem
        for path in package.iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path.is_dir() and (path / "__init__.py").exists())
    }
    for room in existing - set(placed):
        yield f"{room}: stands in no layer [rooms are placed]"
    for room in set(placed) - existing:
        yield f"{room}: is in the table, but gone [rooms are placed]"
    for room in {room for room in placed if placed.count(room) > 1}:
        yield f"{room}: is in two layers [rooms are placed]"


def _imports(tree: ast.Module) -> Iterator[Import]:
    top = _top_statements(tree)
    for node in ast.walk(tree):
        late = node not in top
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, 0, late, False)
        elif isinstance(node, ast.ImportFrom):
            star = any(alias.name == "*" for alias in node.names)
            module = node.module or ""
            # `from langfx_web import events` is an import of the room, not of the front door.
            names = [f"{module}.{alias.name}" for alias in node.names] if module == PACKAGE else [module]
            yield from (Import(name, node.lineno, node.level, late, star) for name in names)


def _top_statements(tree: ast.Module) -> set[ast.AST]:
    """Statements of the module itself, those below an `if` at its top included."""
    top: set[ast.AST] = set()
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop()
        top.add(statement)
        if isinstance(statement, ast.If):
            pending += statement.body + statement.orelse
    return top


def _imports_of(file: str, imports: list[Import]) -> Iterator[str]:
    for item in imports:
        at = f"{file}:{item.line}"
        head = item.module.partition(".")[0]
        if item.level:
            yield f"{at}: a relative import [imports are absolute]"
        if item.is_star:
            yield f"{at}: imports * from {item.module} [no star imports]"
        if item.is_late and LATE_IMPORTS.get(file) != head:
            yield f"{at}: imports {item.module} inside a function [imports stand at the top]"
        if head in JAVASCRIPT_NAMES and file not in JAVASCRIPT_MODULES:
            yield f"{at}: imports {item.module} [JavaScript stays in three modules]"
        if head in LATE_IMPORTS.values() and LATE_IMPORTS.get(file) != head:
            yield f"{at}: imports {head} [outside things have a home]"
        if head == "importlib" and file not in IMPORTLIB_MODULES:
            yield f"{at}: imports importlib [outside things have a home]"
        if head == PACKAGE and file != "__init__.py":
            yield from _direction(file, item)


def _direction(file: str, item: Import) -> Iterator[str]:
    mine, theirs = _room(_module_name(file)), _room(item.module)
    if theirs == "":
        yield f"{file}:{item.line}: imports the front door [imports point down]"
    elif theirs != mine and _layer(theirs) >= _layer(mine):
        yield f"{file}:{item.line}: {mine} imports {theirs} [imports point down]"
    elif ONE_DOOR.get((mine, theirs), file) != file:
        yield f"{file}:{item.line}: {mine} imports {theirs} [some rooms have one door]"


def _text_running(file: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNS_TEXT:
            yield f"{file}:{node.lineno}: calls {node.func.id} [text is never run]"


def _blocking(file: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and NOT_IN_A_BROWSER.fullmatch(name := ast.unparse(node.func)):
            yield f"{file}:{node.lineno}: calls {name} [works on a browser's loop]"


def _cycles(edges: dict[str, set[str]]) -> Iterator[str]:
    """Modules of one room that reach themselves; a package's own `__init__` is its sign and not counted."""
    for start in edges:
        room, seen, pending = _room(start), set[str](), [start]
        if start == f"{PACKAGE}.{room}":
            continue
        while pending:
            for target in edges.get(pending.pop(), ()):
                if _room(target) == room and target not in seen and target != f"{PACKAGE}.{room}":
                    seen.add(target)
                    pending.append(target)
        if start in seen:
            yield f"{start}: imports itself in a circle [no cycles in a room]"


def _module_name(file: str) -> str:
    parts = [PACKAGE, *file.removesuffix(".py").split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def _layer(room: str) -> int:
    return next((level for level, rooms in enumerate(LAYERS) if room in rooms), len(LAYERS))
