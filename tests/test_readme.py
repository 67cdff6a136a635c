"""The README's Python examples run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def block(language: str, part: str) -> str:
    """The code block of a language that has this part."""
    found = re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    return next(code for code in found if part in code)


@pytest.mark.parametrize(
    ("module", "first", "script"),
    [
        ("shop_agent", "@lf.tool", "import agent"),
        ("till", "class Receipt", "from till"),
        ("orders", "class Item", "from orders"),
        ("compare", "class Compare", "from compare"),
        ("tracing", "OTLPExporter(", "OTLPExporter("),
        ("alone", "lf.Template(", "lf.Template("),
        ("tools", "lf.ToolContext", "lf.ToolContext"),
        ("models", "lf.llms.OpenAIChat(", "lf.llms.OpenAIChat("),
    ],
)
def test_the_python_examples_run(tmp_path: Path, module: str, first: str, script: str) -> None:
    """Each module is imported by the script that follows it, in a fresh interpreter; what a script says is true."""
    (tmp_path / f"{module}.py").write_text(block("python", first))
    (tmp_path / "script.py").write_text(block("python", script))
    result = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_every_file_that_it_names_is_there() -> None:
    """Links and pictures lead somewhere; so do the modules in the text."""
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
    rooms = "bridge|durable|agentic|llms|queries|schemas|transport|stores"
    for name in re.findall(rf"`((?:{rooms})/\w+)(?:\.py)?`", README):
        path = ROOT / "langfx_web" / name
        assert path.with_suffix(".py").exists() or path.is_dir(), name


def test_it_is_in_one_piece() -> None:
    """Two versions of a paragraph are one too many."""
    assert not re.findall(r"^(?:<{7}|={7}|>{7})", README, re.MULTILINE)
