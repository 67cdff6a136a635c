"""What the build has Node do: compile Python inside Pyodide, minify scripts, compress with brotli.

Each piece of work is done once: its result lies in a folder under the hash of all that it was made of, with those of
the last builds.
"""

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from worker.bundle.outcome import CheckFailed
from worker.bundle.zips import read_zip, zip_bytes

_HERE = Path(__file__).parent
_SECONDS = 600
_KEPT = 128


class Toolchain(Protocol):
    """What the build cannot do itself."""

    def compiled(self, modules: Mapping[str, bytes], *, optimize: int, prefix: str) -> dict[str, bytes]:
        """Bytecode by `.pyc` name of Python modules by `.py` name; tracebacks show `prefix` and the name."""

    def methods(self, package: Mapping[str, bytes]) -> bytes:
        """A marshalled table of the code that `dataclasses` makes when our package is imported, by its text."""

    def minified(self, scripts: Mapping[str, bytes]) -> dict[str, bytes]:
        """The same modules, with the same imports and exports, in fewer bytes."""

    def brotli(self, content: bytes) -> bytes:
        """`content` after the strongest brotli."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeToolchain:
    """The real one: `pyodide` and `terser` are folders of unpacked npm packages, `work` keeps the results."""

    node: str
    pyodide: Path
    terser: Path
    work: Path

    def compiled(self, modules: Mapping[str, bytes], *, optimize: int, prefix: str) -> dict[str, bytes]:
        sources = zip_bytes(modules, stored=True)
        recipe = [_script("compile.mjs"), (self.pyodide / "pyodide.asm.wasm").read_bytes()]
        options = [str(optimize), prefix]

        def make(folder: Path) -> bytes:
            (folder / "sources").write_bytes(sources)
            self._run("compile.mjs", self.pyodide, folder / "sources", folder / "compiled", *options)
            return (folder / "compiled").read_bytes()

        key = [*recipe, sources, *(option.encode() for option in options)]
        return read_zip(self._once("compiled", key, make))

    def methods(self, package: Mapping[str, bytes]) -> bytes:
        sources = zip_bytes(package, stored=True)

        def make(folder: Path) -> bytes:
            (folder / "sources").write_bytes(sources)
            self._run("methods.mjs", self.pyodide, folder / "sources", folder / "methods")
            return (folder / "methods").read_bytes()

        wasm = (self.pyodide / "pyodide.asm.wasm").read_bytes()
        return self._once("methods", [_script("methods.mjs"), wasm, sources], make)

    def minified(self, scripts: Mapping[str, bytes]) -> dict[str, bytes]:
        texts = json.dumps({name: content.decode() for name, content in scripts.items()}).encode()
        key = [_script("minify.mjs"), (self.terser / "package.json").read_bytes(), texts]
        made = self._once("minified", key, lambda folder: self._run("minify.mjs", self.terser, given=texts))
        return {name: text.encode() for name, text in json.loads(made).items()}

    def brotli(self, content: bytes) -> bytes:
        def make(folder: Path) -> bytes:
            (folder / "content").write_bytes(content)
            return self._run("squeeze.mjs", folder / "content")

        return self._once("brotli", [_script("squeeze.mjs"), content], make)

    def _once(self, kind: str, key: Sequence[bytes], make: Callable[[Path], bytes]) -> bytes:
        """What `make` returns, given an empty folder, unless it was made of the same `key` before."""
        name = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in key)).hexdigest()
        path = self.work / kind / name[:32]
        if path.exists():
            path.touch()
            return path.read_bytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            made = make(Path(folder))
            unfinished = Path(folder) / "made"
            unfinished.write_bytes(made)
            unfinished.replace(path)
        _forget_unused(path.parent)
        return made

    def _run(self, script: str, *arguments: Path | str, given: bytes = b"") -> bytes:
        command = [self.node, _HERE / script, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, timeout=_SECONDS)
        if done.returncode != 0:
            raise CheckFailed(f"{script} failed: {done.stderr.decode(errors='replace').strip()[-2000:]}")
        return done.stdout


def _forget_unused(folder: Path) -> None:
    for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)[:-_KEPT]:
        path.unlink()


def _script(name: str) -> bytes:
    return (_HERE / name).read_bytes()
