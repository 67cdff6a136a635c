"""Modules that are read when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from langfx_web.deferred import deferred, later


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module that can be imported, and notes in `sys.path` that it was read."""
    (tmp_path / "garden_of_test.py").write_text("import sys\nsys.path.append('read')\nrose = ['red']\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield "garden_of_test"
    sys.modules.pop("garden_of_test", None)


def test_a_module_is_read_when_something_of_it_is_asked_for(garden: str) -> None:
    """Not before, once, and it is the one that everybody else imports."""
    module = later(garden)
    assert "read" not in sys.path
    assert module.rose == ["red"]
    assert sys.path.count("read") == 1
    assert __import__(garden).rose is later(garden).rose is module.rose


def test_a_part_of_a_package_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a part is imported first, whose name the package gives to something of that part."""
    package = tmp_path / "orchard_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("from orchard_of_test.pick import pick\n", "utf-8")
    (package / "pick.py").write_text("def pick(): return 'apple'\nclass Basket: pass\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    orchard = later("orchard_of_test")
    part = importlib.import_module("orchard_of_test.pick")
    assert orchard.pick is part.pick
    assert part is sys.modules["orchard_of_test.pick"]
    assert orchard.pick() == "apple"


def test_a_name_is_imported_at_first_use_and_stays(garden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module offers names of others as its own."""
    monkeypatch.setattr(sys.modules[__name__], "__getattr__", deferred(__name__, {"rose": garden}), raising=False)
    this = sys.modules[__name__]
    assert "read" not in sys.path
    assert this.rose == ["red"]
    assert vars(this).pop("rose") == ["red"]
    with pytest.raises(AttributeError, match=f"module '{__name__}' has no attribute 'tulip'"):
        _ = this.tulip


def test_a_module_that_is_not_there_is_said_at_once() -> None:
    """A wrong name is no surprise of a later moment."""
    with pytest.raises(ModuleNotFoundError, match="no_such_garden"):
        later("no_such_garden")
