"""The front door: complete, sorted, and every name leads to what it says."""

from __future__ import annotations

import ast
from pathlib import Path

import langfx_web


def test_all_is_sorted_and_complete() -> None:
    """What is imported there is offered there, constants first."""
    source = Path(langfx_web.__file__).read_text("utf-8")
    imported = {
        alias.asname or alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(langfx_web.__all__) == imported
    assert langfx_web.__all__ == sorted(langfx_web.__all__, key=lambda name: (not name.isupper(), name))
    assert all(hasattr(langfx_web, name) for name in langfx_web.__all__)


def test_the_version_is_the_packages() -> None:
    """One number in both places."""
    pyproject = (Path(langfx_web.__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    assert f'version = "{langfx_web.__version__}"' in pyproject


def test_everything_public_has_a_docstring() -> None:
    """One sentence at least of what it is for."""
    for name in langfx_web.__all__:
        assert getattr(langfx_web, name).__doc__, name
