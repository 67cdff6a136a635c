"""The README's Python examples run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_python_examples_run(tmp_path: Path) -> None:
    """The agent module is imported by the script that follows it, in a fresh interpreter."""
    agent, script, *_ = blocks("python")
    (tmp_path / "shop_agent.py").write_text(agent)
    (tmp_path / "script.py").write_text(script)
    result = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_the_example_of_a_template_runs() -> None:
    """What it says of the message is true."""
    (example,) = [block for block in blocks("python") if "lf.Template(" in block]
    result = subprocess.run(
        [sys.executable, "-c", example],
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
    for name in re.findall(r"`((?:bridge|durable|agentic|llms|transport|stores)/\w+)(?:\.py)?`", README):
        path = ROOT / "langfx_web" / name
        assert path.with_suffix(".py").exists() or path.is_dir(), name
