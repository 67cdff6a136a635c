"""The error tree: one root, stable codes, a docstring each, and the table on top is true."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from langfx_web import errors

ROOT = Path(__file__).parents[1]
PAGE_ONLY = {"AbortError": {"cancelled"}}
"""In Python a cancelled command is asyncio's own `CancelledError`."""

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


def _drawn() -> dict[str, set[str]]:
    """Every class of the drawing with all its codes; a line may go on in the next."""
    drawing = re.sub(r",\n\s+", ", ", errors.__doc__ or "")
    lines = re.findall(r"^\s+([A-Z]\w+Error)\s+([a-z_]+(?:, [a-z_…]+)*)", drawing, re.MULTILINE)
    return {name: set(codes.split(", ")) for name, codes in lines}


def _typed() -> dict[str, set[str]]:
    """The classes and codes that the page's types name."""
    table = (ROOT / "web" / "langfx-web.d.ts").read_text("utf-8").partition("interface BridgeErrors {")[2]
    table = re.sub(r"/\*\*.*?\*/", "", table.partition("\n}")[0], flags=re.DOTALL)
    fields = re.findall(r"(\w+):([^;]*);", table)
    return {name: set(re.findall(r'"(\w+)"', codes)) for name, codes in fields}


def test_the_page_and_python_name_the_same_errors() -> None:
    """A code that a page may meet means the same class on both sides."""
    typed, drawn = _typed(), _drawn()
    assert len(typed) > 10
    for name, codes in typed.items():
        known = PAGE_ONLY.get(name) or drawn[name]
        assert codes <= known, name
        assert name in ("InvalidArgumentError", *PAGE_ONLY) or codes == known, name


def test_the_page_and_the_worker_make_no_other_errors() -> None:
    """Every class and code that our JavaScript writes down is one that the types name."""
    scripts = [*(ROOT / "web").glob("*.js"), *(ROOT / "worker").glob("*.js")]
    source = "\n".join(path.read_text("utf-8") for path in scripts)
    made = re.findall(r'new LangfxError\(\s*"(\w+)",\s*"(\w+)"', source)
    made += [("BootError", code) for code in re.findall(r'[bB]ootError\(\s*"(\w+)"', source)]
    made += [("NotPortableError", code) for code in re.findall(r'notPortable\(\s*"(\w+)"', source)]
    typed = _typed()
    assert len(made) > 10
    assert [(name, code) for name, code in made if code not in typed.get(name, ())] == []
