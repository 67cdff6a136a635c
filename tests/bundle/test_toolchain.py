"""What Node does for the build, on the real packages where they are unpacked already."""

import shutil
from pathlib import Path

import pytest

from worker.bundle.outcome import CheckFailed
from worker.bundle.toolchain import NodeToolchain

TYPESCRIPT = Path(__file__).parents[2] / ".build" / "work" / "typescript"
SCRIPT = """\
// @ts-check
/** Says hello. */
export const hello = (name) => {
  // Not a comment: the next two.
  const url = "http://host//path"; /* gone */
  const pattern = /[/*]+\\/\\//g, template = `
    // kept ${name /* gone */}
  `;
  return a + +b - -c
    ? typeof name
    : 1 .toFixed() / pattern.length; // gone
}
class Box { #value = 1; /** Gone. */ get value() { return this.#value }
  static of() {}
}
"""


@pytest.fixture
def toolchain(tmp_path: Path) -> NodeToolchain:
    """The real one, with an empty folder for its results."""
    node = shutil.which("node")
    if node is None or not TYPESCRIPT.exists():
        pytest.skip("needs Node and the TypeScript compiler, which a build unpacks")
    return NodeToolchain(node=node, pyodide=tmp_path, typescript=TYPESCRIPT, work=tmp_path / "made")


def test_comments_go_and_nothing_else(toolchain: NodeToolchain) -> None:
    """Strings, templates and regular expressions are left alone, and no two tokens become one."""
    stripped = toolchain.stripped({"a.js": SCRIPT.encode()})["a.js"].decode()
    assert stripped == (
        'export const hello=(name)=>{const url="http://host//path";\n'
        "const pattern=/[/*]+\\/\\//g,template=`\n    // kept ${name}\n  `;\n"
        "return a+ +b- -c\n?typeof name\n:1 .toFixed()/pattern.length;\n}\n"
        "class Box{#value=1;get value(){return this.#value}\nstatic of(){}\n}\n"
    )


def test_a_failure_says_why(tmp_path: Path) -> None:
    """The message names the script."""
    toolchain = NodeToolchain(node="false", pyodide=tmp_path, typescript=tmp_path, work=tmp_path / "made")
    with pytest.raises(CheckFailed, match="squeeze"):
        toolchain.brotli_size(b"a")


def test_brotli_is_measured(toolchain: NodeToolchain) -> None:
    """Bytes after the strongest brotli, kept for the next build."""
    size = toolchain.brotli_size(b"again and " * 1000)
    assert 0 < size < 100
    broken = NodeToolchain(node="no-such-node", pyodide=toolchain.pyodide, typescript=TYPESCRIPT, work=toolchain.work)
    assert broken.brotli_size(b"again and " * 1000) == size


def test_results_that_nobody_used_lately_are_forgotten(toolchain: NodeToolchain, tmp_path: Path) -> None:
    """The folder does not grow with every build, and what each build uses stays."""
    folder = tmp_path / "made" / "brotli"
    toolchain.brotli_size(b"used")
    (used,) = folder.iterdir()
    for number in range(40):
        (folder / str(number)).write_bytes(b"[1]")
    toolchain.brotli_size(b"used")
    toolchain.brotli_size(b"new")
    assert len(list(folder.iterdir())) == 32
    assert used.exists()
