"""Reading a whole value: its form first, and pydantic where there is more to say of it than its kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langfx_web.schemas import adapters
from langfx_web.schemas.compiling import Compiled
from langfx_web.schemas.form import Reading, Source, is_same, note
from langfx_web.schemas.objects import aliased


def read(
    compiled: Compiled, adapter: Callable[[], adapters.Adapter], tree: Any, source: Source
) -> tuple[Any, list[dict[str, Any]]]:
    """The typed value of a tree, or all that is wrong with it."""
    try:
        return _read(compiled, adapter, tree, source)
    except RecursionError:
        return None, [{"type": "recursion_loop", "path": [], "message": "the value is nested too deeply"}]


def _read(
    compiled: Compiled, adapter: Callable[[], adapters.Adapter], tree: Any, source: Source
) -> tuple[Any, list[dict[str, Any]]]:
    root = compiled.root
    reading = Reading(source=source, classes=compiled.classes, enums=compiled.enums)
    reading.is_inner = root.has_more and not root.is_blurred
    fit = root.fit(tree, (), reading)
    if fit is None:
        return None, reading.problems
    if not root.has_more:
        return fit.value, []
    try:
        made = adapter().validate_python(fit.value, by_name=True, by_alias=False)
    except ValueError as error:
        found = adapters.problems(error)
        if found is None:
            raise
        note(found, fit.value, (), reading)
        if source != "python":
            for problem in reading.problems:
                problem["path"] = aliased(root, problem["path"])
        return None, reading.problems
    if root.is_blurred and made == fit.value and not is_same(made, fit.value):
        return fit.value, []
    return made, []
