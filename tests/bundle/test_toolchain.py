"""What Node does for the build, on the real packages where they are unpacked already."""

import shutil
import subprocess
from pathlib import Path

import pytest

from worker.bundle.outcome import CheckFailed
from worker.bundle.toolchain import NodeToolchain

TERSER = Path(__file__).parents[2] / ".build" / "work" / "terser"
MODULES = {
    "hello.js": b"""
        // @ts-check
        import { Box } from "./box.js";
        /** Says hello. */
        export const hello = (nameOfSomebody) => `// ${nameOfSomebody} /* kept */ ${new Box().someProperty}`;
        """,
    "box.js": b"""
        const unused = /[/*]+\\/\\//g;
        export class Box { #private = "in the box"; get someProperty() { return this.#private; } }
        """,
}


@pytest.fixture
def node() -> str:
    """The Node of this machine."""
    found = shutil.which("node")
    if found is None or not TERSER.exists():
        pytest.skip("needs Node and the minifier, which a build unpacks")
    return found


@pytest.fixture
def toolchain(tmp_path: Path, node: str) -> NodeToolchain:
    """The real one, with an empty folder for its results."""
    return NodeToolchain(node=node, pyodide=tmp_path, terser=TERSER, work=tmp_path / "made")


def test_minified_modules_do_the_same(toolchain: NodeToolchain, tmp_path: Path) -> None:
    """Each stays a module of its own that imports and exports what it did, by the names it had."""
    for name, content in toolchain.minified(MODULES).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    script = 'import { hello } from "./hello.js"; process.stdout.write(hello("you"));'
    command = [toolchain.node, "--input-type=module", "--eval", script]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).stdout == b"// you /* kept */ in the box"


def test_minified_modules_have_only_what_they_need(toolchain: NodeToolchain) -> None:
    """Comments, long local names and what nothing uses are gone; names of properties stay."""
    minified = toolchain.minified(MODULES)
    assert all(word not in minified["hello.js"] for word in (b"ts-check", b"Says", b"nameOfSomebody"))
    assert b"someProperty" in minified["hello.js"]
    assert b"unused" not in minified["box.js"]


def test_a_script_that_is_none_fails_the_build(toolchain: NodeToolchain) -> None:
    """The message names the file."""
    with pytest.raises(CheckFailed, match=r"broken\.js"):
        toolchain.minified({"broken.js": b"const = 1;"})


def test_a_failure_says_why(tmp_path: Path) -> None:
    """The message names the script."""
    toolchain = NodeToolchain(node="false", pyodide=tmp_path, terser=tmp_path, work=tmp_path / "made")
    with pytest.raises(CheckFailed, match="squeeze"):
        toolchain.brotli(b"a")


def test_brotli_is_made_once(toolchain: NodeToolchain) -> None:
    """The strongest, kept for the next build."""
    squeezed = toolchain.brotli(b"again and " * 1000)
    assert 0 < len(squeezed) < 100
    broken = NodeToolchain(node="no-such-node", pyodide=toolchain.pyodide, terser=TERSER, work=toolchain.work)
    assert broken.brotli(b"again and " * 1000) == squeezed


def test_results_that_nobody_used_lately_are_forgotten(toolchain: NodeToolchain, tmp_path: Path) -> None:
    """The folder does not grow with every build, and what each build uses stays."""
    folder = tmp_path / "made" / "brotli"
    toolchain.brotli(b"used")
    (used,) = folder.iterdir()
    for number in range(150):
        (folder / str(number)).write_bytes(b"[1]")
    toolchain.brotli(b"used")
    toolchain.brotli(b"new")
    assert len(list(folder.iterdir())) == 128
    assert used.exists()
