"""The front door: complete, sorted, and every name leads to what it says."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import langfx_web


def test_all_is_sorted_and_complete() -> None:
    """What is imported there is offered there, constants first."""
    imported, deferred = _imported()
    assert set(langfx_web.__all__) == imported - {"TYPE_CHECKING", "deferred"} | deferred.keys()
    assert langfx_web.__all__ == sorted(langfx_web.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(langfx_web, name) for name in langfx_web.__all__)


def test_names_of_typed_answers_are_read_at_first_use() -> None:
    """A worker that only runs agents is ready without them; a type checker knows them all the same."""
    _, deferred = _imported()
    program = "import sys, langfx_web.bridge.dispatch; print(*[name for name in sys.modules if 'langfx_web' in name])"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "langfx_web.agent" in loaded
    rooms = ("langfx_web.protocols.", "langfx_web.queries.", "langfx_web.observation.", "langfx_web.otlp.")
    assert not {name for name in loaded if name.startswith(rooms)}
    shown = ("events.session", "events.trace", "agentic.budget", "agentic.parallel", "agentic.telling")
    assert not {f"langfx_web.{name}" for name in shown} & set(loaded)
    for name, home in deferred.items():
        assert getattr(langfx_web, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = langfx_web.nothing


def _imported() -> tuple[set[str], dict[str, str]]:
    """The names imported at the top of the front door, and those imported for type checkers with their homes."""
    body = ast.parse(Path(langfx_web.__file__).read_text("utf-8")).body
    checked = [node for item in body if isinstance(item, ast.If) for node in item.body]
    return (
        {alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names},
        {alias.name: str(node.module) for node in checked if isinstance(node, ast.ImportFrom) for alias in node.names},
    )


def test_the_version_is_the_packages() -> None:
    """One number in both places."""
    pyproject = (Path(langfx_web.__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    assert f'version = "{langfx_web.__version__}"' in pyproject


def test_everything_public_has_a_docstring() -> None:
    """One sentence at least of what it is for."""
    for name in langfx_web.__all__:
        assert getattr(langfx_web, name).__doc__, name
