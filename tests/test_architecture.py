"""The house keeps its layers, and the check that says so can fail."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from tests.architecture import LAYERS, check, sizes

PACKAGE = Path(__file__).parents[1] / "langfx_web"


def test_the_package_keeps_every_rule() -> None:
    """Layers, late imports, JavaScript and text-running calls are as the design has them."""
    assert check(PACKAGE) == []


def test_sizes_are_shown_to_a_reviewer(capsys) -> None:
    """The longest modules are printed, not judged."""
    longest = sizes(PACKAGE)
    for lines, file in longest:
        print(f"{lines:5} {file}{'  (over 350)' if lines > 350 else ''}")
    assert len(longest) == 10
    assert "langfx_web" not in capsys.readouterr().out


def test_importing_is_quiet() -> None:
    """`import langfx_web` loads neither pydantic nor httpx nor JavaScript, and reads no environment variable."""
    script = (
        "import os, sys\n"
        "class Watched(dict):\n"
        "    def __getitem__(self, key): raise AssertionError(f'read {key}')\n"
        "    get = __contains__ = __getitem__\n"
        "before = os.environ; os.environ = Watched(); os.getenv = Watched().get\n"
        "import langfx_web\n"
        "os.environ = before\n"
        "print([name for name in ('pydantic', 'httpx', 'js', 'pyodide') if name in sys.modules])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=PACKAGE.parent, capture_output=True, text=True, timeout=60
    )
    assert result.stdout.strip() == "[]", result.stderr


def _made_up(tmp_path: Path, files: dict[str, str]) -> list[str]:
    """Check a package in which every room exists and `files` break a rule."""
    for layer in LAYERS:
        for room in layer:
            (tmp_path / room).mkdir()
            (tmp_path / room / "__init__.py").write_text("")
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return check(tmp_path)


def test_a_sound_package_passes(tmp_path: Path) -> None:
    """The made-up package itself is fine, so that what the next test finds is what it broke."""
    files = {
        "llms/base.py": "from langfx_web.messages.parts import Text\n",
        "llms/store_cache.py": "import langfx_web.stores\n",
    }
    assert _made_up(tmp_path, files) == []


def test_each_rule_is_enforced(tmp_path: Path) -> None:
    """One violation of each rule is found and named."""
    found = _made_up(
        tmp_path,
        {
            "cellar.py": "",
            "messages/up.py": "from langfx_web.llms.base import Model\n",
            "stores/sideways.py": "import langfx_web.transport\n",
            "tools/door.py": "import langfx_web\n",
            "llms/one.py": "from langfx_web.llms.two import x\n",
            "llms/two.py": "from langfx_web.llms.one import y\n",
            "llms/late.py": "def f():\n    import json\n",
            "llms/relative.py": "from . import one\n",
            "llms/star.py": "from json import *\n",
            "llms/script.py": "import js\n",
            "llms/typed.py": "from pydantic import BaseModel\n",
            "llms/dynamic.py": "import importlib\n",
            "llms/runs.py": "eval('1')\n",
            "llms/keeps.py": "from langfx_web.stores import MemoryStore\n",
            "llms/waits.py": "import time\ntime.sleep(1)\nloop.run_until_complete(x)\n",
        },
    )
    expected = {
        "cellar: stands in no layer [rooms are placed]",
        "messages/up.py:1: messages imports llms [imports point down]",
        "stores/sideways.py:1: stores imports transport [imports point down]",
        "tools/door.py:1: imports the front door [imports point down]",
        "langfx_web.llms.one: imports itself in a circle [no cycles in a room]",
        "langfx_web.llms.two: imports itself in a circle [no cycles in a room]",
        "llms/late.py:2: imports json inside a function [imports stand at the top]",
        "llms/relative.py:1: a relative import [imports are absolute]",
        "llms/star.py:1: imports * from json [no star imports]",
        "llms/script.py:1: imports js [JavaScript stays in three modules]",
        "llms/typed.py:1: imports pydantic [outside things have a home]",
        "llms/dynamic.py:1: imports importlib [outside things have a home]",
        "llms/runs.py:1: calls eval [text is never run]",
        "llms/keeps.py:1: llms imports stores [some rooms have one door]",
        "llms/waits.py:2: calls time.sleep [works on a browser's loop]",
        "llms/waits.py:3: calls loop.run_until_complete [works on a browser's loop]",
    }
    assert set(found) == expected


def test_a_room_that_is_gone_is_named(tmp_path: Path) -> None:
    """The table may not name a room that no longer exists."""
    (tmp_path / "errors.py").write_text("")
    assert "agent: is in the table, but gone [rooms are placed]" in check(tmp_path)


def test_every_test_says_what_a_user_may_rely_on() -> None:
    """Each test function of the project has a sentence."""
    silent = [
        f"{path.relative_to(PACKAGE.parent)}: {node.name}"
        for path in (PACKAGE.parent / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []
