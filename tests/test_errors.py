"""The error tree: one root, stable codes, a docstring each, and the table on top is true."""

from __future__ import annotations

import inspect
import re

import pytest

from langfx_web import errors

CLASSES = [value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, errors.LangfxError)]


def test_the_table_on_top_names_every_class_and_its_code() -> None:
    """What the module's docstring draws is what there is."""
    drawn = dict(re.findall(r"^\s+([A-Z]\w+Error)\s+([a-z_]+)", errors.__doc__ or "", re.MULTILINE))
    existing = {cls.__name__: cls.default_code for cls in CLASSES if cls is not errors.LangfxError}
    assert set(existing) - set(drawn) <= {"ToolError"}
    for name, code in drawn.items():
        if name not in ("InvalidValueError", "TransportError"):
            assert existing[name] == code, name


def test_the_tree_is_drawn_as_it_is() -> None:
    """A class stands below its parent in the drawing."""
    stack: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^(\s+)(LangfxError|[A-Z]\w+Error)", line)
        if match:
            depth, name = len(match.group(1)), match.group(2)
            while stack and stack[-1][0] >= depth:
                stack.pop()
            if stack:
                assert issubclass(getattr(errors, name), getattr(errors, stack[-1][1])), name
            stack.append((depth, name))


def test_builtin_parents_help_plain_python() -> None:
    """Code that catches ValueError or TimeoutError meets ours too."""
    assert issubclass(errors.InvalidArgumentError, ValueError)
    assert issubclass(errors.DeadlineExceededError, TimeoutError)


@pytest.mark.parametrize(
    ("code", "retryable"), [("unreachable", True), ("event_too_large", False), ("idle_timeout", True)]
)
def test_transport_errors_know_whether_to_try_again(code: str, retryable: bool) -> None:
    """Retryable follows from the code."""
    assert errors.TransportError("x", code=code).retryable is retryable


def test_store_errors_know_whether_to_try_again() -> None:
    """A missing store stays missing; a failed append may go through later."""
    assert errors.StoreError("x").retryable
    assert not errors.StoreError("x", code="store_unavailable").retryable
    assert errors.FencedError("x").code == "fenced"
    assert not errors.FencedError("x").retryable
